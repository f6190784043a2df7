"""`--recsys-html`: the report of a run, as a person gets it who was not there."""

import importlib
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from tests.plugin.conftest import Run, record_of
from tests.report import models
from tests.support.cli import main
from tests.support.plugin import changed, settings_of

# As in conftest: what runs inside this process import must be imported before them.
for _name in (
    "benchmarks",
    "cards",
    "effects",
    "figures",
    "page",
    "plots",
    "svg",
    "words",
):
    importlib.import_module(f"pytest_recsys_mt.report.html.{_name}")
importlib.import_module("jinja2")

TEST = """
from pytest_recsys_mt import metamorphic
from pytest_recsys_mt.oracles import only_candidates, same_ranking
from pytest_recsys_mt.relations import shift_ratings, shuffle_candidates

@metamorphic(shuffle_candidates, shift_ratings(1))
def test_ranking(source, followup):
    assert same_ranking(source, followup, margin=0.1)

def test_only_what_was_offered(recsys):
    assert only_candidates(recsys.run(), margin=0.1)
"""


class Texts(HTMLParser):
    """All texts of an element with an id, or of the page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.text = ""
        self.feed(page)

    def handle_data(self, data: str) -> None:
        self.text += data


def text_of(page: str) -> str:
    return " ".join(Texts(page).text.split())


def card(page: str, title: str) -> str:
    """The text of the card with a title."""
    (found,) = [
        text
        for each in re.findall(r"<article.*?</article>", page, re.DOTALL)
        if title in (text := text_of(each))
    ]
    return found


def test_a_reader_of_the_report_alone_knows_what_broke(
    run: Run,
    project: pytest.Pytester,
) -> None:
    project.makepyfile(**{"suites/metamorphic/test_it": TEST})
    path, record = project.path / "out" / "report.html", project.path / "record.json"
    result = run(
        f"--recsys-model={models.__name__}:PrefersTheFirst", f"--recsys-html={path}",
        f"--recsys-json={record}", "--recsys-shrink=20", "--recsys-users=60",
    )  # fmt: skip
    result.assert_outcomes(passed=1, failed=2)
    page = path.read_text(encoding="utf-8")
    broken = card(page, "Ranking: shuffle_candidates")
    for said in (
        "✗ violated",
        "Promise: The ranking stays the same when the candidates are offered in another order.",
        "the promise allows at most 0.1.",
        "With 95% confidence, the mean over all users like these is at least 0.",
        "the violation stands.",
        "The smallest example that shows it",
        "breaks the promise; agreement 0.",
        "✚ new",
        "✕ lost",
    ):
        assert said in broken
    assert re.search(r"▲ was \d+", broken)
    stray = card(page, "Only what was offered")
    assert "Promise: No answer may name an item that was not offered." in stray
    assert "The Lost Sequel (2031) ⚠ hallucinated: no known item" in stray
    kept = card(page, "Ranking: shift_ratings(1)")
    assert "✓ holds" in kept
    assert "keeps the promise" in kept
    assert main(["report", str(record), "-o", str(project.path / "later.html")]) == 0
    assert (project.path / "later.html").read_text(encoding="utf-8") == page
    found = record_of(record)
    assert found["settings"]["users"] == 60
    assert found["environment"]["python"]
    assert len(found["data_digest"]) == 64


def test_items_that_a_classical_recommender_must_not_name_are_marked_too(
    run: Run,
    project: pytest.Pytester,
) -> None:
    project.makepyfile(
        strays="""
        from pytest_recsys_mt import Recommendation

        class Strays:
            deterministic = True

            def recommend(self, requests):
                return [
                    Recommendation(
                        (
                            request.candidates[0].id, request.candidates[0].id,
                            request.history[0].item.id, "elsewhere",
                        )
                    )
                    for request in requests
                ]
        """,
        test_it="""
        from pytest_recsys_mt.oracles import only_candidates

        def test_mine(recsys):
            \"\"\"My own words for it.\"\"\"
            assert only_candidates(recsys.run())
        """,
    )
    record = project.path / "record.json"
    run("--recsys-model=strays:Strays", f"--recsys-json={record}").assert_outcomes(
        failed=1,
    )
    (row,) = record_of(record)["results"]
    assert row["promise"] == "My own words for it."
    assert row["allowed"] == "at most"
    example = row["examples"][0]
    assert example["source_kinds"] == ["candidate", "duplicate", "history", "unknown"]
    assert example["keeps"] is False


def test_a_run_that_tests_nothing_has_a_report_that_says_so(
    project: pytest.Pytester,
) -> None:
    path = project.path / "report.html"
    project.makepyfile("def test_plain(): pass")
    project.runpytest_inprocess(f"--recsys-html={path}").assert_outcomes(passed=1)
    assert "Nothing was tested" in path.read_text(encoding="utf-8")


def test_what_cannot_be_had_is_said_before_the_run(
    project: pytest.Pytester,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    project.makepyfile("def test_plain(): pass")
    result = project.runpytest_inprocess("--recsys-html=.")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*--recsys-html='.'*it is a folder*name a file*"])
    project.makeconftest("import sys; sys.modules['jinja2'] = None")
    result = project.runpytest_subprocess("--recsys-html=report.html")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(
        ["*--recsys-html='report.html'*pip install 'pytest-recsys-mt?html?'*"],
    )


def test_the_path_is_no_setting_of_the_run(
    project: pytest.Pytester,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    config = project.parseconfig("--recsys-html=report.html")
    settings = settings_of(config)
    assert settings.html == Path("report.html")
    assert changed(config) == {}
