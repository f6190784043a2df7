"""A worker that dies: its test is missed, and what was answered is kept."""

import pytest

from tests.journeys.pages import Journey, says

LOST = "multidimensional/test_history_length.py::test_longer_histories_are_not_worse[shop.py-Shop]"


@pytest.mark.slow
def test_dead_worker(journey: Journey) -> None:
    journey.follow("when-something-breaks#dead-worker")
    crashed, fixed = journey.record("crashed.json"), journey.record("fixed.json")

    assert crashed["gate"]["status"] == "failed"
    assert len(crashed["gate"]["incomplete"]) == 1
    assert LOST in crashed["gate"]["incomplete"][0]
    assert LOST in crashed["gate"]["sentence"]
    assert any(says(text, crashed["gate"]["sentence"]) for text in journey.printed)
    assert LOST not in {row["nodeid"] for row in crashed["results"]}

    assert (fixed["gate"]["status"], fixed["gate"]["incomplete"]) == ("passed", [])
    tests = {row["nodeid"] for row in fixed["results"]}
    assert tests == {row["nodeid"] for row in crashed["results"]} | {LOST}
    before, after = (
        int(text.split()[0])
        for text in journey.printed
        if text.endswith(" asked.txt\n")
    )
    calls = fixed["calls"]
    assert calls["planned"] >= calls["cached"] + calls["made"]
    # What died with the worker: at most the 200 questions of its test. A few are asked
    # again, to see whether answers change while we ask: no plan has these, and they are
    # asked in each run.
    assert calls["cached"] <= before
    assert before - calls["cached"] - crashed["calls"]["again"] <= 200
    # The lost test asks 200 users with five other lengths of their histories.
    assert 0 < after - before <= 5 * 200 + fixed["calls"]["again"]
