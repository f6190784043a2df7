"""A paid run is stopped by its limit and resumed: the bill is what the records say, and no answer is paid twice."""

import pytest

from tests.journeys.endpoint import Endpoint
from tests.journeys.pages import Journey


@pytest.mark.slow
def test_spending_limit(journey: Journey, endpoint: Endpoint) -> None:
    journey.follow("spending-limit")
    stopped, resumed, replayed = (
        journey.record(f"{name}.json") for name in ("stopped", "resumed", "replayed")
    )
    assert 0.59 < stopped["calls"]["usd"] < 0.61
    assert {row["status"] for row in stopped["results"]} == {"holds", "inconclusive"}
    assert resumed["calls"]["cached"] == stopped["calls"]["made"]
    asked = resumed["calls"]["cached"] + resumed["calls"]["made"]
    assert resumed["calls"]["made"] > 0
    assert replayed["calls"]["cached"] == asked
    assert endpoint.answered > asked, "empty answers are paid, and asked once more"
    paid = stopped["calls"]["usd"] + resumed["calls"]["usd"]
    assert paid == pytest.approx(endpoint.billed), "the records say what the provider bills"
    assert replayed["calls"]["usd"] == 0
    assert {row["status"] for row in replayed["results"]} == {"holds"}
