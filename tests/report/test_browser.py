"""The page in a real browser: nothing is loaded, nothing
overflows, everything can be reached.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.extras import need
from tests.report.records import document, everything, holds
from tests.report.test_page import HOSTILE, said
from tests.report.test_view import three
from tests.support.report_html import render, render_view

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
pytestmark = pytest.mark.skipif(
    CHROMIUM is None,
    reason="needs Chromium; install it with: apt-get install chromium",
)
NUMBER = len(everything()["results"])

Open = Callable[..., "Page"]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    need("playwright")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        quiet = ("--no-sandbox", "--disable-gpu", "--disable-background-networking")
        yield playwright.chromium.launch(executable_path=CHROMIUM, args=list(quiet))


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("report") / "report.html"
    path.write_text(render(everything()), encoding="utf-8")
    return path


@pytest.fixture
def opened(browser: Browser, file: Path) -> Iterator[Open]:
    """Opens a page from disk; whatever it says to the
    console or asks of a network is a failure.
    """
    contexts: list[BrowserContext] = []
    heard: list[str] = []

    def open_page(
        path: Path = file,
        width: int = 1280,
        hash: str = "",
        **options: Any,
    ) -> Page:
        context = browser.new_context(
            viewport={"width": width, "height": 900},
            **options,
        )
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: heard.append(message.text))
        page.on("pageerror", lambda error: heard.append(str(error)))
        page.on("dialog", lambda dialog: heard.append(dialog.message))
        page.on(
            "request",
            lambda asked: heard.append(asked.url) if outside(asked.url) else None,
        )
        page.goto(f"file://{path}{hash}")
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert heard == []


def outside(url: str) -> bool:
    return not url.startswith(("file:", "data:"))


def unfold(page: Page) -> None:
    """Open all that is folded."""
    page.eval_on_selector_all("details", "all => all.forEach(each => each.open = true)")


def shown(page: Page) -> set[str]:
    """The rows that no filter hides."""
    found: list[str] = page.eval_on_selector_all(
        "article, .names li",
        "rows => rows.filter(each => !each.closest('[hidden]')).map(each => each.id)",
    )
    return set(found)


def test_the_page_of_a_green_run_fits_two_screens(opened: Open, tmp_path: Path) -> None:
    rows = [holds(number, suite=f"suite {number % 5}") for number in range(60)]
    absent: dict[str, Any] = {
        "status": "not-applicable",
        "interval": None,
        "estimate": None,
        "examples": [],
    }
    rows += [
        holds(number, **absent, reason=f"needs {number % 9}")
        for number in range(60, 210)
    ]
    path = tmp_path / "green.html"
    path.write_text(render(document(*rows)), encoding="utf-8")
    page = opened(path, width=1400)
    assert page.evaluate("document.documentElement.scrollHeight") <= 1800
    assert (
        page.locator(".gate")
        .inner_text()
        .startswith("✓ May be released: all 60 promises")
    )


def test_filters_and_search_show_what_they_say(opened: Open) -> None:
    page = opened()
    assert len(shown(page)) == NUMBER
    found = page.locator("output[name=found]")
    page.select_option("[name=state]", "violated")
    violated = shown(page)
    assert len(violated) == 4
    assert found.inner_text() == f"4 of {NUMBER} shown"
    assert page.locator("#holds").is_hidden(), "a heading without cards is none"
    page.select_option("[name=model]", "n")
    assert len(shown(page)) == 1
    assert shown(page) < violated
    page.click("text=Show all")
    # Not wait_for_function, which the page's own policy refuses once it has to wait.
    page.locator("article:not([hidden])").nth(NUMBER - 2).wait_for(state="attached")
    assert page.locator("#holds:not([open])").count() == 1, "all is as it was"
    page.select_option("[name=suite]", "multidimensional")
    assert len(shown(page)) == 4
    assert page.locator("#holds .line").filter(has_text="relevance").is_visible(), (
        "unfolded"
    )
    page.select_option("[name=suite]", "")
    page.fill("[name=text]", "  LOST réel  offered ")
    searched = shown(page)
    assert 0 < len(searched) < NUMBER
    texts = [page.locator(f"#{key}").text_content() for key in searched]
    assert all("Lost Reel" in (text or "") for text in texts)
    page.fill("[name=text]", "no such thing")
    assert not shown(page)


@pytest.mark.parametrize("scripts", [True, False])
def test_a_link_to_what_is_folded_opens_it(opened: Open, scripts: bool) -> None:
    page = opened(java_script_enabled=scripts)
    assert page.locator("#r13").is_hidden()
    page.locator("#effects").evaluate(
        "each => each.open = true",
    ) if scripts else page.click("#effects summary")
    page.click("#effects a[href='#r13']")
    page.locator("#r13").wait_for(state="visible")
    page.click(".legend .term >> nth=0")
    page.locator("#glossary .terms").wait_for(state="visible")


def test_a_term_is_explained_by_hover_and_the_way_back_is_the_browsers(
    opened: Open,
) -> None:
    page = opened()
    page.locator("#r3 details summary").last.click()
    term = page.locator("#r3 .term", has_text="hit").first
    assert "if a held-out item is in the list" in (term.get_attribute("title") or "")
    term.focus()
    page.keyboard.press("Enter")
    page.locator("#term-hit:focus").wait_for(state="visible")
    page.go_back()
    assert page.evaluate("location.hash") == ""


def test_a_link_to_a_filtered_card_shows_it(opened: Open) -> None:
    page = opened()
    page.fill("[name=text]", "diversity")
    page.evaluate("location.hash = '#r1'")
    page.locator("#r1:focus").wait_for(state="attached")
    assert "r1" in shown(page)


def test_every_relation_is_reached_by_keyboard(opened: Open) -> None:
    page = opened()
    unfold(page)
    reached = set()
    for _ in range(900):
        page.keyboard.press("Tab")
        where = page.evaluate(
            "document.activeElement.hash || document.activeElement.tagName",
        )
        if where == "BODY":
            break
        reached.add(where)
    else:
        pytest.fail("the focus never left the page")
    assert {f"#r{number}" for number in range(1, NUMBER)} <= reached
    assert {"INPUT", "SELECT", "BUTTON", "SUMMARY"} <= reached


def test_the_first_stop_of_the_keyboard_leads_to_the_scorecard(opened: Open) -> None:
    page = opened()
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.keyboard.press("Enter")
    page.locator("#scorecard:focus").wait_for(state="attached")


def test_what_is_as_it_should_be_is_folded_and_opens_at_a_click(opened: Open) -> None:
    page = opened()
    assert page.locator("#r1 .smallest[open]").count() == 1, "what broke is open"
    for fold in (
        "holds",
        "known",
        "inapplicable",
        "effects",
        "cost",
        "provenance",
        "glossary",
    ):
        assert page.locator(f"#{fold}:not([open])").count() == 1, fold
    page.click("text=Open all")
    assert page.locator("#rest details:not([open])").count() == 0
    page.click("text=Close all")
    assert page.locator("#rest details[open]").count() == 0


def test_a_suite_of_the_scorecard_opens_to_its_parts(opened: Open) -> None:
    page = opened(java_script_enabled=False)
    part = page.locator(".scores .part").first
    assert part.is_hidden()
    page.locator(".scores summary").first.click()
    assert part.is_visible()


def test_without_scripts_everything_can_be_opened(opened: Open) -> None:
    page = opened(java_script_enabled=False)
    assert page.locator("form").is_hidden()
    assert page.locator("#r1").is_visible()
    page.click("#holds > summary")
    page.locator("#holds .line > summary").first.click()
    assert page.locator("#holds article").first.is_visible()


@pytest.mark.parametrize(
    "width",
    [320, pytest.param(400, marks=pytest.mark.slow), 800],  # between the two others
)
@pytest.mark.parametrize("folded", [True, False])
def test_narrow_windows_need_no_sideways_scrolling(
    opened: Open,
    width: int,
    folded: bool,
) -> None:
    page = opened(width=width)
    if not folded:
        unfold(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    wide = page.evaluate(
        "[...document.querySelectorAll('body *')].filter(each => !each.closest('.scroll, .unseen,"
        " .skip') && each.getBoundingClientRect().right > innerWidth + 1).length",
    )
    assert wide == 0


@pytest.mark.parametrize(
    ("scheme", "media", "width"),
    [
        ("light", "screen", 1280),
        pytest.param("dark", "screen", 1280, marks=pytest.mark.slow),
        ("dark", "screen", 400),
        pytest.param("light", "print", 1000, marks=pytest.mark.slow),
        pytest.param("dark", "print", 1000, marks=pytest.mark.slow),
    ],
)
def test_axe_finds_nothing(opened: Open, scheme: Any, media: Any, width: int) -> None:
    """Contrast, landmarks, names, headings, tables: every rule of axe-core."""
    need("axe_playwright_python")
    from axe_playwright_python.sync_playwright import Axe

    page = opened(width=width, color_scheme=scheme)
    unfold(page)
    page.emulate_media(media=media, color_scheme=scheme)
    violations = Axe().run(page).response["violations"]
    told = [
        f"{each['id']}: {node['html'][:160]}: {node['failureSummary'][:200]}"
        for each in violations
        for node in each["nodes"][:3]
    ]
    assert told == []


@pytest.mark.parametrize(
    ("scheme", "width"),
    [
        pytest.param(
            "light",
            1280,
            marks=pytest.mark.slow,
        ),  # of the page it is seen by default
        ("dark", 400),
    ],
)
def test_axe_finds_nothing_in_a_view_and_it_needs_no_sideways_scrolling(
    opened: Open,
    tmp_path: Path,
    scheme: Any,
    width: int,
) -> None:
    need("axe_playwright_python")
    from axe_playwright_python.sync_playwright import Axe

    path = tmp_path / "view.html"
    path.write_text(render_view(three(seed=1)), encoding="utf-8")
    page = opened(path, width=width, color_scheme=scheme)
    assert page.locator("#changed .track").first.is_visible()
    unfold(page)
    violations = Axe().run(page).response["violations"]
    assert [(each["id"], each["nodes"][0]["html"][:200]) for each in violations] == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_drawings_follow_the_colour_scheme(opened: Open) -> None:
    colours = set()
    for scheme in ("light", "dark"):
        page = opened(color_scheme=scheme)
        unfold(page)
        colours.add(
            page.eval_on_selector(".axis text", "each => getComputedStyle(each).fill"),
        )
    assert len(colours) == 2
    assert "rgb(0, 0, 0)" not in colours, "a variable that no style knows"


def test_print_leaves_out_what_paper_cannot_do(opened: Open) -> None:
    page = opened()
    page.emulate_media(media="print")
    assert page.locator("#filters").is_hidden()
    unread = page.locator("#holds .line > summary").first
    assert unread.is_visible(), "sections are printed open"
    assert page.locator("#r1 .example").first.is_visible()
    assert page.locator("#r1 .transcript").first.is_visible()
    assert page.locator(".on-paper").is_visible(), "what stays folded is said"
    assert page.pdf(format="A4").startswith(b"%PDF")


def test_hostile_texts_do_nothing(opened: Open, tmp_path: Path) -> None:
    path = tmp_path / "hostile.html"
    path.write_text(render(said(" ".join(HOSTILE))), encoding="utf-8")
    page = opened(path, width=400)
    assert page.locator("article").count() == NUMBER - 1
    unfold(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= 400
    assert "<script>alert(1)</script>" in page.locator("#r1").inner_text()
    page.fill("[name=text]", "onerror=alert")
    assert len(shown(page)) == NUMBER


def test_the_policy_is_in_force(browser: Browser, file: Path) -> None:
    page = browser.new_page()
    page.goto(f"file://{file}")
    page.evaluate(
        """() => {
            const script = document.createElement("script");
            script.textContent = "window.done = 1";
            document.body.append(script);
            document.body.setAttribute("style", "color: red");
        }""",
    )
    assert page.evaluate("window.done") is None
    assert page.evaluate("getComputedStyle(document.body).color") != "rgb(255, 0, 0)"
    page.close()
