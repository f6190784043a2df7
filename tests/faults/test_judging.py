"""From records to the matrix and the score: what counts as killed, unclear, equivalent."""

import os
from pathlib import Path
from typing import Any

import pytest

from pytest_recsys_mt.faults import dose
from tests.support.faults_adequacy import (
    DRIFT,
    PARTLY,
    Run,
    adequacy,
    clopper_pearson,
    lines,
    render,
    running,
)


def row(test: str, status: str) -> dict[str, Any]:
    return {
        "nodeid": test,
        "status": status,
        "model": "shop",
        "reason": "",
        "oracle": "",
        "relation": "",
        "margin": 0.1,
        "allowed": "at most",
    }


def run(
    *rows: tuple[str, str, str],
    drifted: bool = False,
    failed: int = 0,
    fault: str = "stale:1",
    **compared: Any,
) -> Run:
    planted = {
        "fault": "stale:1", "model": "shop", "exact": True, "answers": 40, "differing": 10, "lost": 4.0,
        "users": ["a", "b"], "hit": ["a"], "beyond_noise": [],
    }  # fmt: skip
    record = {
        "results": [row(test, status) for test, status, _ in rows if status],
        "models": ["shop"],
        "data": "mini",
        "seed": 0,
        "settings": {"users": 200, "fault": fault},
        "drift": [{"model": "shop", "drifted": drifted}],
        "calls": {"made": 3, "failed": failed},
        "planted": [{**planted, **compared}],
    }
    return Run(record, {test: outcome for test, _, outcome in rows}, 1.0, "")


SOUND = run(
    ("a", "holds", "passed"),
    ("b", "holds", "passed"),
    ("c", "violated", "failed"),
)


def fate_of(faulty: Run, baseline: Run = SOUND) -> tuple[str, dict[str, str]]:
    (trial,) = adequacy([], baseline, [(dose("stale"), faulty)], 1.0)["trials"]
    return trial["fate"], dict(trial["cells"])


def test_a_run_that_was_not_told_of_its_fault_kills_nothing() -> None:
    faulty = run(("a", "violated", "failed"), ("b", "holds", "passed"), fault="")
    (trial,) = adequacy([], SOUND, [(dose("stale"), faulty)], 1.0)["trials"]
    assert trial["fate"] == "not planted"
    assert trial["reason"] == "the option -o recsys_fault did not reach its run"


def test_a_test_that_fails_by_a_violation_kills() -> None:
    fate, cells = fate_of(run(("a", "violated", "failed"), ("b", "holds", "passed")))
    assert (fate, cells) == (
        "killed",
        {"a": "killed", "b": "survived", DRIFT: "survived"},
    )


def test_a_test_without_a_verdict_kills_by_failing() -> None:
    assert fate_of(run(("a", "", "failed"), ("b", "holds", "passed")))[0] == "killed"


@pytest.mark.parametrize(
    ("status", "outcome"),
    [("inconclusive", "failed"), ("inconclusive", "skipped"), ("", "skipped")],
)
def test_what_is_not_clear_kills_nothing(status: str, outcome: str) -> None:
    fate, cells = fate_of(run(("a", status, outcome), ("b", "holds", "passed")))
    assert (fate, cells["a"]) == ("unclear", "unclear")


@pytest.mark.parametrize(("failed", "fate"), [(0, "killed"), (2, "unclear")])
def test_answers_that_cannot_be_judged_are_found_and_calls_that_failed_say_nothing(
    failed: int,
    fate: str,
) -> None:
    faulty = run(("a", "error", "failed"), ("b", "holds", "passed"), failed=failed)
    assert fate_of(faulty)[0] == fate


def test_what_shows_where_no_test_looks_survived() -> None:
    elsewhere = {
        "exact": True, "answers": 20, "differing": 5, "lost": 1.0, "users": ["a"], "hit": ["a"],
        "beyond_noise": [],
    }  # fmt: skip
    rows = ("a", "holds", "passed"), ("b", "holds", "passed")
    assert fate_of(run(*rows, differing=0, elsewhere=elsewhere))[0] == "survived"
    assert fate_of(run(*rows, differing=0, elsewhere={**elsewhere, "differing": 0}))[
        0
    ] == ("equivalent")


def test_a_test_that_fails_without_a_fault_kills_nothing() -> None:
    faulty = run(
        ("a", "holds", "passed"),
        ("b", "holds", "passed"),
        ("c", "violated", "failed"),
    )
    fate, cells = fate_of(faulty)
    assert fate == "survived"
    assert "c" not in cells


@pytest.mark.parametrize(
    ("ends", "fate"),
    [
        (["violated"], "killed"),
        (["holds", "inconclusive"], "survived"),
        (["holds", "violated"], "survived"),
        (["inconclusive", "holds"], "unclear"),
    ],
)
def test_a_test_that_is_inconclusive_in_part_finds_what_breaks_the_other_part(
    ends: list[str],
    fate: str,
) -> None:
    rows = ("a", "holds", "passed"), ("b", "holds", "passed")
    sound = run(*rows, ("c", "holds", PARTLY), ("c", "inconclusive", PARTLY))
    faulty = run(*rows, *(("c", status, "failed") for status in ends))
    assert fate_of(faulty, sound)[0] == fate


def test_the_check_at_the_end_of_the_run_counts_as_a_test() -> None:
    faulty = run(("a", "holds", "passed"), ("b", "holds", "passed"), drifted=True)
    assert fate_of(faulty)[0] == "killed"
    drifting = run(("a", "holds", "passed"), ("b", "holds", "passed"), drifted=True)
    assert fate_of(faulty, drifting)[0] == "survived"


def test_equivalence_is_decided_by_answers_alone() -> None:
    rows = (("a", "violated", "failed"), ("b", "holds", "passed"))
    (trial,) = (
        found := adequacy([], SOUND, [(dose("stale"), run(*rows, differing=0))], 1.0)
    )["trials"]
    assert trial["fate"] == "equivalent"
    (score,) = found["scores"]
    assert (score["faults"], score["equivalent"], score["equivalent_killed"]) == (
        0,
        1,
        1,
    )
    assert score["share"] is None


@pytest.mark.parametrize(
    ("beyond", "fate"),
    [
        ([0.3] * 20, "survived"),
        ([0.3, -0.3] * 10, "equivalent"),
        ([-0.3] * 20, "equivalent"),
        ([0.0] * 20, "equivalent"),
        ([], "equivalent"),
    ],
)
def test_a_noisy_recommender_is_compared_with_its_noise(
    beyond: list[float],
    fate: str,
) -> None:
    rows = (("a", "holds", "passed"), ("b", "holds", "passed"))
    assert fate_of(run(*rows, exact=False, beyond_noise=beyond))[0] == fate


def test_a_fault_that_no_answer_passed_through_is_not_planted() -> None:
    rows = (("a", "holds", "passed"), ("b", "holds", "passed"))
    assert fate_of(run(*rows, answers=0, differing=0))[0] == "not planted"
    assert fate_of(Run(None, {}, 1.0, "no space left"))[0] == "not planted"


def test_the_bounds_are_those_of_clopper_and_pearson() -> None:
    assert clopper_pearson(9, 10) == pytest.approx([0.5550, 0.9975], abs=1e-4)
    assert clopper_pearson(10, 10) == pytest.approx([0.025 ** (1 / 10), 1.0])


def test_the_report_fits_a_terminal_and_the_page_shows_no_markup_of_users() -> None:
    name = "tests/test_shop.py::test_<b>bold</b>[\x1b[31m" + 90 * "x" + "]"
    baseline = run((name, "holds", "passed"), ("b", "holds", "passed"))
    others: list[tuple[str, list[tuple[str, str, str]], dict[str, Any]]] = [
        ("first_place:1", [("b", "holds", "passed")], {}),
        ("first_place:3", [("b", "inconclusive", "failed")], {}),
        ("ignores_ratings:1", [], {"differing": 0}),
    ]
    trials = [
        (dose("stale"), run((name, "violated", "failed"), ("b", "holds", "passed"))),
        *(
            (
                dose(fault),
                run((name, "holds", "passed"), *more, fault=fault, **compared),
            )
            for fault, more, compared in others
        ),
        (dose("memory"), Run(None, {}, 1.0, "gone <i>")),
    ]
    found = adequacy(["tests", "-k", "<script>"], baseline, trials, 1.0)
    text = list(lines(found))
    assert max(map(len, text)) <= 80
    assert "\x1b" not in "".join(text)
    assert any("SURVIVED" in line for line in text)
    assert any("@metamorphic(shuffle_candidates)" in line for line in text), (
        "ready to paste"
    )
    page = render(found)
    assert "<b>bold" not in page
    assert "<script" not in page
    assert "\x1b" not in page
    assert "http" not in page.replace("http-equiv", ""), "it loads nothing"
    assert render(found) == page


def test_sources_are_files_of_a_size_and_nothing_that_is_waited_for(
    tmp_path: Path,
) -> None:
    (tmp_path / "shop.py").write_text("x = 1\n", encoding="utf-8")
    alone = running._sources(tmp_path)
    os.mkfifo(tmp_path / "pipe.py")
    (tmp_path / "endless.toml").symlink_to("/dev/zero")
    assert running._sources(tmp_path) == alone
    (tmp_path / "shop.py").write_text("x = 2\n", encoding="utf-8")
    assert running._sources(tmp_path) != alone
