"""recsys_repeats: what a run makes of sales that repeat, and that it says so once."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.plugin.conftest import Run, record_of
from tests.support.cli import cli

TEST = """
from pytest_recsys_mt import metamorphic
from pytest_recsys_mt.oracles import same_ranking
from pytest_recsys_mt.relations import reorder_history

@metamorphic(reorder_history)
def test_one(source, followup):
    assert same_ranking(source, followup, margin=0.2)

@metamorphic(reorder_history)
def test_two(source, followup):
    assert same_ranking(source, followup, margin=0.2)
"""
NOTE = "of 151 interactions 1 repeats a user and an item; {} (recsys_repeats)"


def write_sales(path: Path) -> None:
    """Thirty users with five items each, the first of whom buys one twice."""
    rows = [f"u{user},i{(user + step) % 25}" for user in range(30) for step in range(5)]
    text = "\n".join(["user,item", *rows, rows[0]])
    path.write_text(text, encoding="utf-8")


@pytest.fixture
def sales(project: pytest.Pytester) -> None:
    """A shop's table and its tests."""
    write_sales(project.path / "sales.csv")
    project.makepyfile(test_sales=TEST)


@pytest.mark.usefixtures("sales")
def test_a_run_says_once_what_became_of_repeats_and_records_it(
    project: pytest.Pytester,
    run: Run,
) -> None:
    path = project.path / "r.json"
    common = (
        "--recsys-model=toys:Faithful",
        "--recsys-data=sales.csv",
        f"--recsys-json={path}",
    )
    for options, rule, how in (
        ((), "latest", "the latest of each is kept"),
        (("-o", "recsys_repeats=count"), "count", "their number is the rating"),
    ):
        result = run(*common, *options)
        said = " ".join(" ".join(result.outlines).split())
        assert said.count(f"note: {NOTE.format(how)}") == 1
        record = record_of(path)
        assert record["notes"].count(NOTE.format(how)) == 1
        assert record["settings"]["repeats"] == rule
    refused = run(*common, "-orecsys_repeats=refuse")
    assert "-o recsys_repeats=latest or count allows this" in str(refused.stderr) + str(
        refused.stdout,
    )


def test_the_command_that_makes_questions_says_so_too(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    table, questions = str(tmp_path / "sales.csv"), str(tmp_path / "q.jsonl")
    write_sales(Path(table))
    for rule, told in (
        ("latest", NOTE.format("the latest of each is kept")),
        ("refuse", "line 152: user 'u0' has item 'i0' again (first at line 2)"),
    ):
        cli.main(["questions", questions, "--data", table, "--repeats", rule])
        assert told in "".join(capsys.readouterr())
