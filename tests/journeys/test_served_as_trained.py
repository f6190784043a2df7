"""A model and its service side by side: a stale index, a
service that explores, and a test that is kept.
"""

import pytest

from tests.extras import need
from tests.journeys.pages import Journey, rows_of


@pytest.mark.slow
def test_served_as_trained(journey: Journey) -> None:
    need("xdist")
    journey.follow("served-as-trained")
    served = rows_of(journey.record("served.json"))
    assert {(row["status"], row["relation"]) for row in served} == {
        ("holds", "against shop.py:Exploring"),
        ("holds", "truncate_history(5) against shop.py:Exploring"),
    }
    stale = rows_of(journey.record("stale.json"), outcome="failed")
    assert [row["details"]["against"] for row in stale] == ["shop.py:Served"] * 2
