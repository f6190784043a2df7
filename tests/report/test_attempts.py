"""Which attempt of a test counts, and what is said of tests that gave no row."""

from types import SimpleNamespace

from tests.support.report import CRASHED, lost, results_of


def said(*reports: tuple[str, str]) -> list[str]:
    """What is said of a test with these reports: phase and outcome of each."""
    taken = [
        SimpleNamespace(
            nodeid="t", when=when, outcome=outcome, failed=outcome == "failed",
            skipped=outcome == "skipped",
        )
        for when, outcome in reports
    ]  # fmt: skip
    return lost(["t"], results_of(taken))


def test_an_attempt_whose_repetition_never_came_does_not_count() -> None:
    begun = ("setup", "passed"), ("call", "rerun"), ("teardown", "passed")
    assert said(*begun) == ["1 test gave no result: t"]
    assert (
        said(*begun, ("setup", "passed"), ("call", "passed"), ("teardown", "passed"))
        == []
    )


def test_a_test_that_its_worker_took_with_it_is_told_so() -> None:
    assert said((CRASHED, "failed")) == [
        "1 test ended with the worker that ran them: t",
    ]
    assert said(("setup", "failed")) == ["1 test failed without a verdict: t"]
