"""`recsys-mt paper arena`: the page of a pairwise comparison, from its record."""

import json
import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from tests.arena.test_suite import record
from tests.support.cli import main

MODELS = [f"--recsys-model={name}" for name in ("random", "itemknn", "mostpop")]


@pytest.fixture
def league(pytester: pytest.Pytester) -> Path:
    options = (*MODELS, "--recsys-users=40", "-k", "circle or better or sees")
    record(pytester, "ByPopularity", *options)
    return pytester.path / "record.json"


def test_the_page_has_the_figures_of_the_paper(
    league: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert (
        main(["paper", "arena", str(league), "-o", str(league.with_suffix(".html"))])
        == 0
    )
    text = league.with_suffix(".html").read_text(encoding="utf-8")
    for title in (
        "Figure 3",
        "Figure 4",
        "Figure 6",
        "Figure 6, published: AUC and Q",
        "The judge under test",
    ):
        assert re.search(rf"<h2[^>]*><bdi>{title}", text)
    drawings = re.findall(r"<svg.*?</svg>", text, re.DOTALL)
    assert len(drawings) == 4
    figure_3 = next(each for each in drawings if 'aria-label="Figure 3' in each)
    stacked = ElementTree.fromstring(figure_3)
    bars = [
        each.attrib["points"]
        for each in stacked.iter()
        if "fill-opacity" in each.attrib
    ]
    ends = [[float(point.split(",")[0]) for point in each.split()] for each in bars]
    widths = [max(each) - min(each) for each in ends]
    assert [round(sum(widths[at : at + 3])) for at in (0, 3, 6)] == [430] * 3
    assert "style=" not in text
    assert main(["paper", "arena", str(league)]) == 0
    told = capsys.readouterr().out
    assert "| mostpop |" in told
    assert "## Figure 3: won, tied and lost" in told


def test_a_run_without_a_league_has_its_pair(
    pytester: pytest.Pytester,
    capsys: pytest.CaptureFixture[str],
) -> None:
    record(
        pytester,
        "ByPopularity",
        "--recsys-model=random",
        "--recsys-users=20",
        "-k",
        "better",
    )
    assert main(["paper", "arena", str(pytester.path / "record.json")]) == 0
    told = capsys.readouterr().out
    assert "random against mostpop | 0.000 | 0.000 | 100 |" in told
    assert (
        main(["paper", "arena", "--table", "2", str(pytester.path / "record.json")])
        == 0
    )
    told = capsys.readouterr().out
    assert "| random | 0.0 | 0.0 | 100.0 | 0.0000 |" in told
    assert "| NRMS by GPT-4o, MIND † | 71.9 | 11.0 | 17.1 | 2.9501 |" in told
    assert "Figure" not in told


def test_what_a_judge_says_that_fails_its_tests_is_no_result_in_any_table(
    pytester: pytest.Pytester,
    capsys: pytest.CaptureFixture[str],
) -> None:
    for judge, faults in (("TakesTheFirst", 1), ("ByPopularity", 0)):
        record(
            pytester,
            judge,
            "--recsys-model=random",
            "--recsys-users=20",
            "-k",
            "better or first",
        )
        for part in (("--table=2",), ("--figure=3",), ("--figure=4",)):
            assert (
                main(["paper", "arena", *part, str(pytester.path / "record.json")]) == 0
            )
            told = capsys.readouterr().out
            assert (
                told.count("The judge fails its own tests (first_place), so these")
                == faults
            )
            assert f":{judge} on mini, seed 0" in told


def test_hostile_names_are_text(league: Path) -> None:
    text = league.read_text(encoding="utf-8")
    league.write_text(
        text.replace("mostpop", "<img src=x>|`a`\\u001b[31m"),
        encoding="utf-8",
    )
    page, table = league.with_suffix(".html"), league.with_suffix(".md")
    for output in (page, table):
        assert main(["paper", "arena", str(league), "-o", str(output)]) == 0
        written = output.read_text(encoding="utf-8")
        assert "<img" not in written
        assert "\x1b" not in written
    assert "&lt;img src=x&gt;" in page.read_text(encoding="utf-8")
    rows = [
        line
        for line in table.read_text(encoding="utf-8").splitlines()
        if line.startswith("| ")
    ]
    assert all(line.count(" | ") == rows[0].count(" | ") for line in rows[:3])


@pytest.mark.parametrize(
    ("arguments", "said"),
    [(["-o", "page.pdf"], "no known ending"), (["-o", "record.html"], "is a record")],
)
def test_what_cannot_be_written_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
    arguments: list[str], said: str,
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    given: dict[str, Any] = {}
    Path("record.html").write_text(json.dumps(given), encoding="utf-8")
    assert main(["paper", "arena", "record.html", *arguments]) == 2
    assert said in capsys.readouterr().err


def test_a_record_without_an_arena_says_how_to_make_one(
    pytester: pytest.Pytester,
    capsys: pytest.CaptureFixture[str],
) -> None:
    path = pytester.path / "record.json"
    pytester.makepyfile("def test_nothing(recsys): recsys.run()")
    pytester.runpytest_inprocess(f"--recsys-json={path}", "-p", "no:cacheprovider")
    assert main(["paper", "arena", str(path)]) == 2
    assert "these records have no verdict of an arena" in capsys.readouterr().err
