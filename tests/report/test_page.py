"""The page: whole in itself, the same for the same
record, and nobody's text does it harm.
"""

import base64
import builtins
import hashlib
import json
import re
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from pytest_recsys_mt import DataError, MissingExtraError
from tests.report.records import (
    CURVE,
    FILMS,
    SHRUNK,
    document,
    everything,
    example,
    holds,
    row,
    task,
)
from tests.support.cli import main
from tests.support.report_html import cards_of, read_record, render

VOID = {"meta", "link", "input", "br", "use", "rect", "path"}


class Page(HTMLParser):
    """The elements of a page, its texts and its attributes."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: Counter[str] = Counter()
        self.attributes: list[tuple[str, str, str]] = []
        self.texts: list[str] = []
        self.of: dict[str, list[str]] = {"style": [], "script": []}
        self._inside = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags[tag] += 1
        self.attributes += [(tag, name, value or "") for name, value in attrs]
        self._inside = tag

    def handle_endtag(self, tag: str) -> None:
        self._inside = ""

    def handle_data(self, data: str) -> None:
        self.of.get(self._inside, self.texts).append(data)

    def values(self, name: str) -> list[str]:
        return [value for _, attribute, value in self.attributes if attribute == name]

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.texts).split())


@pytest.fixture(scope="module")
def page() -> Page:
    return Page(render(everything()))


def test_the_page_needs_nothing_but_itself(page: Page) -> None:
    assert page.tags["script"] == page.tags["style"] == 1
    assert (
        page.tags["iframe"]
        == page.tags["object"]
        == page.tags["img"]
        == page.tags["base"]
        == 0
    )
    assert all(
        value.startswith("#") or value == "data:," for value in page.values("href")
    )
    assert not page.values("src")
    assert not page.values("style"), "the policy would drop them"
    assert not [name for _, name, _ in page.attributes if name.startswith("on")]
    assert "url(" not in page.of["style"][0]


def test_the_policy_admits_this_style_and_this_script_alone(page: Page) -> None:
    (policy,) = [value for value in page.values("content") if "default-src" in value]
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy
    for kind, texts in page.of.items():
        digest = hashlib.sha256("".join(texts).encode()).digest()
        assert f"{kind}-src 'sha256-{base64.b64encode(digest).decode()}'" in policy


def test_every_link_leads_somewhere_and_no_id_stands_twice(page: Page) -> None:
    ids = page.values("id")
    assert len(ids) == len(set(ids))
    links = {value[1:] for value in page.values("href") if value.startswith("#")}
    assert links <= set(ids)
    rows = {f"r{number}" for number in range(1, len(everything()["results"]) + 1)}
    assert rows <= set(ids)
    assert rows - links == {"r19"}, "only what is not applicable stands in a list alone"


def test_the_same_record_gives_the_same_page() -> None:
    assert render(everything()) == render(json.loads(json.dumps(everything())))


@pytest.mark.parametrize(
    "words",
    [
        (
            "✗ May not be released: 2 promises are broken, 1 expected violation is gone, 1 verdict could not be made, "
            "1 promise is inconclusive (shuffle(5)) and 1 more reason below. 16 of 19 tests could be judged: 1 inconclusive, 1 in error, 1 not applicable. "
            "gate: failed; 4 violated (scale_ratings(2); 3 more); "
            "the run is partial: 2 of 20"
        ),
        "the run is partial: 2 of 20 tests were not selected",
        "Compared: m against m of old.json 1 regressed, 1 improved, 9 unchanged.",
        "lower bounds at error rate 0.025.",
        "✗ regressed 0.120 [0.080, 0.160] 0.05 58",
        "Refused: the data differ: ab12 then, cd34 now",
        "Promise: The ranking stays.",
        "What would settle it: about 140 more users like these would settle it.",
        "⚠ hallucinated: no known item",
        "⚠ already in the history",
        "furthest from the promise of all 60 users; breaks the promise; agreement 0.81",
        "keeps the promise",
        "The smallest example that shows it",
        "(nothing more can be left out; 31 calls)",
        "− Film M (1972): 4 + Film M (1972): 8",
        "Published: Table 2 of the paper",
        "m (this run) 0.060 [0.040, 0.080] 0.200 [0.180, 0.220]",
        "rank correlation 0.310",
        "calls planned 1,200",
        "cost of this run $0.42",
        "answers cut off 3",
        "Note: http://here/v1 takes no seed, so answers cannot be reproduced",
        "of answers cut off $0.03",
        "of failed attempts at most $0.05",
        "popularity m follow-up 1,990 7 1 0 1,995 8,900 at most $0.5",
        "took 12.5 s",
        "ab" * 32,
        "3.11.7",
    ],
)
def test_the_page_tells_of(page: Page, words: str) -> None:
    assert words in page.text


def test_broken_promises_come_first_and_the_surest_of_them_before_the_others() -> None:
    text = Page(
        render(document(holds(1), row(2, p_value=0.02), row(3, p_value=0.001))),
    ).text
    cards = re.findall(r"shuffle\((\d)\) m , suite", text)
    assert cards == ["3", "2", "1"]


def test_an_empty_run_is_said_to_be_one() -> None:
    text = Page(
        render(document(gate={"status": "failed", "violated": [], "inconclusive": []})),
    ).text
    assert "Nothing was tested: a run without verdicts never passes." in text


@pytest.mark.parametrize(
    ("changes", "captions"),
    [
        ({}, ["furthest from the promise of all 60 users; breaks the promise; agreement 0.81",
              "keeps the promise; agreement 0.81"]),
        ({"joint": True, "measures": "change of coverage"},
         ["pulls the number of all 60 users furthest from the promise", ""]),
        ({"metric": "exposure_gini", "value": 0.6, "threshold": 0.5, "joint": True},
         ["pulls the number of all 60 users furthest from the promise", ""]),
        ({"metric": "ndcg@10", "value": 0.05, "threshold": 0.1, "per_user": {"u1": 0.0}},
         ["furthest from the promise of all 60 users; this user's value is 0.000; agreement 0.81", "agreement 0.81"]),
    ],
)  # fmt: skip
def test_one_user_breaks_only_a_promise_that_is_made_to_each(
    changes: dict[str, Any],
    captions: list[str],
) -> None:
    (card,) = cards_of(document(row(per_user={"u1": 12.5}) | changes))
    assert [shown.caption for shown in card.examples] == captions


HOSTILE = [
    "</script><script>alert(1)</script>",
    "</style><style>*{display:none}</style>",
    '"><img src=x onerror=alert(1)>',
    "<svg onload=alert(1)><a href='javascript:alert(1)'>x</a>",
    "]]>{{ 7 * 7 }}{% raw %}${7*7}",
    "$\\frac{$ \\n %s",
    "a\u202etxt.exe\u2066b\u200bc",
    "nul\x00 esc\x1b[31m bell\x07 lone\ud800 del\x7f",
    "data-x' autofocus onfocus=alert(1) '",
]


def poisoned(value: Any, text: str) -> Any:
    """`value` with `text` at the end of every text in it, keys apart."""
    if isinstance(value, str):
        return value + text
    if isinstance(value, dict):
        return {key: poisoned(each, text) for key, each in value.items()}
    return (
        [poisoned(each, text) for each in value] if isinstance(value, list) else value
    )


def said(text: str) -> dict[str, Any]:
    """A record in which every text of others ends with `text`."""
    clean = everything()
    dirty: dict[str, Any] = poisoned(clean, text)
    for before, after in zip(clean["results"], dirty["results"], strict=True):
        after.update({key: before[key] for key in KEPT})
        for one, other in zip(before["examples"], after["examples"], strict=True):
            other.update({key: one[key] for key in ("source_kinds", "followup_kinds")})
    for before, after in zip(
        clean["gate"]["comparisons"],
        dirty["gate"]["comparisons"],
        strict=True,
    ):
        for one, other in zip(before["results"], after["results"], strict=True):
            other["change"] = one["change"]
    return {**dirty, "gate": {**dirty["gate"], "status": "failed"}}


@pytest.fixture(scope="module")
def harmless() -> Page:
    return Page(render(said("harmless")))


KEPT = {"status", "expected", "allowed", "outcome"}
"""Words of ours among the values of a row."""


@pytest.mark.parametrize("text", HOSTILE)
def test_texts_of_models_and_data_stay_texts(text: str, harmless: Page) -> None:
    before, after = harmless, Page(rendered := render(said(text)))
    assert after.tags == before.tags, "no text became an element"
    assert Counter(name for _, name, _ in after.attributes) == Counter(
        name for _, name, _ in before.attributes
    ), "no text became an attribute"
    assert after.of == before.of
    rendered.encode()
    assert not re.search(
        "[\x00-\x08\x0b-\x1f\x7f\u200b\u202a-\u202e\u2066-\u2069\ud800-\udfff]",
        rendered,
    )


def test_a_hundred_relations_take_less_than_three_megabytes() -> None:
    long = [
        f"{film} and a title of some length, as they are (2001)" for film in FILMS[:10]
    ]
    examples = [
        example(
            f"u{number}",
            source=long,
            followup=long[::-1],
            followup_kinds=["unknown"] * 10,
        )
        for number in range(5)
    ]
    rows = [row(number, examples=examples, shrunk=SHRUNK) for number in range(100)]
    assert len(render(document(*rows)).encode()) < 3_000_000


def test_the_page_of_a_default_run_takes_less_than_one_megabyte(
    default_record: Path,
) -> None:
    assert len(render(read_record(default_record)).encode()) < 1_000_000


def test_a_drawing_that_cannot_be_made_costs_no_more_than_itself() -> None:
    rows = [
        holds(0, details={"curve": {"points": [["a"], [None, "b"]]}}),
        holds(1, details={"curve": CURVE}),
        task("novelty", 0.5, details={"dimension": {"name": "novelty"}}),
    ]
    text = Page(render(document(*rows))).text
    assert text.count("This cannot be drawn") == 2
    assert "place of the held-out item" in text


def test_records_without_what_came_later_have_a_page_too() -> None:
    old = document(row(), holds(1))
    for key in ("settings", "environment", "time", "data_digest"):
        del old[key]
    for each in old["results"]:
        for key in ("promise", "allowed", "details", "shrunk", "expected"):
            del each[key]
        for shown in each["examples"]:
            for key in ("source_kinds", "followup_kinds", "keeps"):
                del shown[key]
    assert "May not be released: 1 promise is broken." in Page(render(old)).text


def test_what_is_no_record_is_refused_with_what_it_is(tmp_path: Path) -> None:
    path = tmp_path / "record.json"
    with pytest.raises(DataError, match="cannot be read: No such file"):
        read_record(path)
    for text, says in (
        ("{", "it is not a record"),
        ("[]", "it is not a record"),
        ("[" * 100_000, "it is not a record"),
        ('{"schema": "recsys-mt/9"}', "recsys-mt/9"),
    ):
        path.write_text(text)
        with pytest.raises(DataError, match=says):
            read_record(path)
    with pytest.raises(DataError, match="not a record as --recsys-json writes it"):
        render({"schema": "recsys-mt/1", "results": [{"status": "violated"}]})


def test_the_command_makes_the_page_of_a_record(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    record = tmp_path / "record.json"
    record.write_text(json.dumps(document(row(shrunk=SHRUNK))))
    assert main(["report", str(record)]) == 0
    assert str(tmp_path / "record.html") in capsys.readouterr().out
    assert main(["report", str(record), "-o", str(tmp_path / "there" / "it.html")]) == 0
    made = [(tmp_path / name).read_text() for name in ("record.html", "there/it.html")]
    assert made[0] == made[1] == render(document(row(shrunk=SHRUNK)))
    assert main(["report", str(tmp_path / "none.json")]) == 2
    assert (
        main(["report", str(record), "-o", str(tmp_path / "record.json" / "x.html")])
        == 2
    )
    assert "cannot be" in capsys.readouterr().err
    for name in ("shop.py", "keep.json", "mine.html"):
        (tmp_path / name).write_text("precious")
        assert main(["report", str(record), "-o", str(tmp_path / name)]) == 2
        assert (tmp_path / name).read_text() == "precious"


def test_without_the_extra_the_error_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def without(name: str, *arguments: Any, **keywords: Any) -> Any:
        if name == "jinja2":
            raise ImportError("No module named 'jinja2'")
        return real(name, *arguments, **keywords)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(
        MissingExtraError,
        match=r"pip install 'pytest-recsys-mt\[html\]'",
    ):
        render(document())
