"""Tests written for a recommender on a log of orders: two processes, a gate, a stop,
and a change that breaks one.
"""

import pytest

from tests.journeys.pages import Journey


@pytest.mark.slow
def test_written_tests(journey: Journey) -> None:
    journey.follow("written-tests")
