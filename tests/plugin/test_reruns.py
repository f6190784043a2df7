"""A test that is run again: its last attempt counts, and says that it was one."""

from pathlib import Path
from typing import Any

import pytest

from tests.plugin.conftest import ON_WORKERS_TOO, Run, record_of

TEST = """
import pytest
from pytest_recsys_mt import metamorphic
from pytest_recsys_mt.oracles import same_ranking
from pytest_recsys_mt.relations import reorder_history, scale_ratings

@metamorphic(scale_ratings(2), reorder_history)
def test_ranking(source, followup):
    assert same_ranking(source, followup, margin=0.2)
"""
ONCE = """
import pathlib, os
import pytest
from pytest_recsys_mt import metamorphic
from pytest_recsys_mt.oracles import same_ranking
from pytest_recsys_mt.relations import reorder_history

def first_time(name):
    try:
        os.close(os.open(pathlib.Path(__file__).with_name(name), os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return False
    return True
"""


def ranking_rows(record: dict[str, Any]) -> dict[str, dict[str, Any]]:
    rows = {row["relation"]: row for row in record["results"]}
    assert len(rows) == len(record["results"]), "one row a test, however often it ran"
    return rows


def evidence_in(result: pytest.RunResult) -> list[str]:
    """The printed evidence of the one failure."""
    lines: list[str] = result.outlines
    begins = next(place for place, line in enumerate(lines) if "- recsys-mt: " in line)
    ends = next(place for place, line in enumerate(lines) if "--recsys-model=" in line)
    assert ends - begins > 3
    return lines[begins:ends]


@pytest.mark.parametrize("mark", ["option", "marker"])
def test_only_the_last_attempt_counts(
    run: Run,
    project: pytest.Pytester,
    mark: str,
) -> None:
    marked = TEST.replace("@metamorphic", "@pytest.mark.flaky(reruns=2)\n@metamorphic")
    project.makepyfile(test_it=TEST if mark == "option" else marked)
    path = project.path / "record.json"
    model = ["--recsys-model=toys:ScaleSensitive", f"--recsys-json={path}"]
    printed_once = evidence_in(
        run(
            *model,
            "-p",
            "no:rerunfailures",
            "-W",
            "ignore::pytest.PytestUnknownMarkWarning",
        ),
    )
    once = record_of(path)
    result = run(*model, *(["--reruns=2"] if mark == "option" else []))
    again = record_of(path)
    result.assert_outcomes(passed=1, failed=1)
    assert "2 rerun" in result.stdout.str()
    assert evidence_in(result) == printed_once, (
        "the attempt that is printed has its evidence"
    )
    rows = ranking_rows(again)
    assert rows["scale_ratings(2)"]["attempts"] == 3
    assert rows["reorder_history"]["attempts"] == 1
    for row in (*once["results"], *again["results"]):
        del row["attempts"]
    assert again["results"] == once["results"], (
        "p_holm too: no attempt is a hypothesis of its own"
    )
    assert again["calls"] == once["calls"]
    assert again["gate"] == once["gate"]
    result.stdout.fnmatch_lines(
        [
            "VIOLATED *ranking, same_ranking:rbo",
            "    promise: The ranking stays the same *",
            "*",
            "    scale_ratings(2) is violated: *",
            "*",
            "*of 3 attempts.",
        ],
    )


def test_a_rerun_throws_no_second_dice(run: Run, project: pytest.Pytester) -> None:
    """What a recommender answered first is not forgotten
    where it mends itself while it runs.
    """
    project.makepyfile(
        mending="""
        from toys import Faithful, ScaleSensitive

        class Mending:
            deterministic = True
            asked = 0

            def recommend(self, requests):
                if any(request.scale.high != 5 for request in requests):
                    self.asked += 1
                kind = ScaleSensitive if self.asked <= 1 else Faithful
                return kind().recommend(requests)
        """,
        test_it=TEST,
    )
    path = project.path / "record.json"
    options = ("--recsys-model=mending:Mending", f"--recsys-json={path}", "--reruns=2")
    for mode in ("auto", "refresh"):
        result = run(*options, f"--recsys-mode={mode}")
        result.assert_outcomes(passed=1, failed=1)
        row = ranking_rows(record_of(path))["scale_ratings(2)"]
        assert (row["status"], row["attempts"], row["users"]) == ("inconclusive", 3, 20)
        assert "got another answer to the same request" in row["reason"]


@ON_WORKERS_TOO
def test_the_attempt_that_passed_counts(run: Run, project: pytest.Pytester) -> None:
    """A fault of the test's own, not of the answers: what failed before leaves no trace
    but a number.
    """
    project.makepyfile(
        test_it=ONCE
        + """
@metamorphic(reorder_history)
def test_body(source, followup):
    verdict = same_ranking(source, followup, margin=0.2)
    assert not first_time("body")
    assert verdict

@pytest.fixture
def shop():
    if first_time("setup"):
        raise RuntimeError("the shop is closed")

@metamorphic(reorder_history)
def test_setup(shop, source, followup):
    assert same_ranking(source, followup, margin=0.2)

@pytest.fixture
def till():
    yield
    if first_time("teardown"):
        raise RuntimeError("the till is stuck")

@metamorphic(reorder_history)
def test_teardown(till, source, followup):
    assert same_ranking(source, followup, margin=0.2)
""",
    )
    path = project.path / "record.json"
    result = run("--recsys-model=toys:Faithful", f"--recsys-json={path}", "--reruns=2")
    assert result.ret == pytest.ExitCode.OK
    record = record_of(path)
    found = [
        (row["status"], row["outcome"], row["attempts"]) for row in record["results"]
    ]
    assert found == [("holds", "passed", 2)] * 3
    assert (record["gate"]["status"], record["gate"]["incomplete"]) == ("passed", [])


def test_the_parts_of_a_test_make_no_rows_of_their_own(
    run: Run,
    project: pytest.Pytester,
) -> None:
    project.makepyfile(
        test_it="""
        from pytest_recsys_mt import metamorphic
        from pytest_recsys_mt.oracles import same_ranking
        from pytest_recsys_mt.relations import reorder_history, scale_ratings

        @metamorphic(scale_ratings(2), reorder_history)
        def test_parts(source, followup, subtests):
            for similarity in ("rbo", "overlap"):
                with subtests.test(similarity):
                    assert same_ranking(source, followup, similarity=similarity, margin=0.2)

        def test_asks(recsys, subtests):
            for number in range(2):
                with subtests.test(number=number):
                    assert number == 0
        """,
    )
    path = project.path / "record.json"
    result = run("--recsys-model=toys:ScaleSensitive", f"--recsys-json={path}")
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    record = record_of(path)
    assert len(record["results"]) == 4, "two tests, two verdicts each"
    outcomes = {row["relation"]: row["outcome"] for row in record["results"]}
    assert outcomes == {"scale_ratings(2)": "failed", "reorder_history": "passed"}
    (told,) = record["gate"]["incomplete"]
    assert told.startswith("1 test failed without a verdict: ")
    assert told.endswith("test_it.py::test_asks[toys-ScaleSensitive]")


@pytest.mark.slow  # starts workers twice over
def test_a_test_named_twice_that_fails_once_has_failed(
    project: pytest.Pytester,
    tmp_path: Path,
) -> None:
    """No rerun: both runs of it stand, and pytest fails for the first."""
    project.makepyfile(
        test_it=ONCE
        + """
@metamorphic(reorder_history)
def test_body(source, followup):
    verdict = same_ranking(source, followup, margin=0.2)
    assert not first_time("body")
    assert verdict
""",
    )
    path = project.path / "record.json"
    result = project.runpytest_inprocess(
        "-n2",
        "--dist=each",
        "--recsys-model=toys:Faithful",
        f"--recsys-json={path}",
    )
    result.assert_outcomes(passed=1, failed=1)
    record = record_of(path)
    (row,) = record["results"]
    assert (row["outcome"], row["attempts"]) == ("failed", 1)
    assert record["gate"]["status"] == "failed"
