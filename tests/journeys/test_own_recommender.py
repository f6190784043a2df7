"""A recommender of one's own: it raises, returns something else, hangs, and works."""

import pytest

from tests.journeys.pages import Journey


@pytest.mark.slow
def test_own_recommender(journey: Journey) -> None:
    journey.follow("own-recommender")
    raised = journey.printed[0]
    assert raised.count("liked = {request.history[-1].item.attributes") == 1, (
        "once in a run"
    )

    wrong, hangs, green = (
        journey.record(f"{name}.json") for name in ("wrong", "hangs", "green")
    )
    for record in (wrong, hangs):
        assert {row["status"] for row in record["results"]} == {"error"}
    assert not any(row["traceback"] for row in wrong["results"]), (
        "no line of the shop raised"
    )
    first, second = (row["traceback"] for row in hangs["results"])
    assert "NoAnswerError" in first
    assert "its traceback stands below" in second
    assert "no further calls are sent" in hangs["results"][0]["reason"]
    assert {row["status"] for row in green["results"]} <= {"holds", "not-applicable"}
