"""Tests that are tried again: one row each, of the last attempt."""

import pytest

from tests.extras import need
from tests.journeys.pages import Journey, rows_of


@pytest.mark.slow
def test_reruns(journey: Journey) -> None:
    need("pytest_rerunfailures")
    journey.follow("when-something-breaks#reruns")
    reruns, once, suites = (
        journey.record(f"{name}.json") for name in ("reruns", "once", "suites")
    )
    (violated,) = rows_of(reruns, status="violated")
    (flaky,) = rows_of(reruns, status="holds")
    assert (violated["outcome"], violated["attempts"]) == ("failed", 3)
    assert (flaky["outcome"], flaky["attempts"]) == ("passed", 2)
    assert "2 attempts" in journey.printed[0]
    for name in ("p_value", "p_holm"):
        assert [row[name] for row in reruns["results"]] == [
            row[name] for row in once["results"]
        ]
    assert {row["attempts"] for row in once["results"]} == {1}
    assert (
        once["gate"]["violated"] == reruns["gate"]["violated"] == [violated["nodeid"]]
    )

    failed = [
        (row["relation"], row["attempts"]) for row in rows_of(suites, outcome="failed")
    ]
    assert sorted(failed) == [("scale_ratings(2)", 3), ("shift_ratings(1)", 3)]
