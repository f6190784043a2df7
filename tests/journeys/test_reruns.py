"""Tests that are tried again: one row each, of the last attempt."""

from collections import Counter

import pytest

from tests.journeys.pages import Journey, rows_of


def test_reruns(journey: Journey) -> None:
    pytest.importorskip("pytest_rerunfailures", reason="pip install pytest-rerunfailures")
    journey.follow("reruns")
    reruns, once, suites = (journey.record(f"{name}.json") for name in ("reruns", "once", "suites"))
    for record in (reruns, once, suites):
        rows = Counter((row["nodeid"], row["oracle"]) for row in record["results"])
        assert set(rows.values()) == {1}

    (violated,) = rows_of(reruns, status="violated")
    (flaky,) = rows_of(reruns, status="holds")
    assert (violated["outcome"], violated["attempts"]) == ("failed", 3)
    assert (flaky["outcome"], flaky["attempts"]) == ("passed", 2)
    assert "2 attempts" in journey.printed[0]
    for name in ("p_value", "p_holm"):
        assert [row[name] for row in reruns["results"]] == [row[name] for row in once["results"]]
    assert {row["attempts"] for row in once["results"]} == {1}
    assert once["gate"]["violated"] == reruns["gate"]["violated"] == [violated["nodeid"]]

    assert {row["relation"]: row["attempts"] for row in rows_of(suites, outcome="failed")} == {
        "scale_ratings(2)": 3, "shift_ratings(1)": 3,
    }  # fmt: skip
    assert {row["attempts"] for row in rows_of(suites, outcome="passed")} == {1}
