"""Two logs of answers, compared without asking: a lost feature, late answers, and
recommenders that explore.
"""

from tests.journeys.pages import Journey


def test_shadow_logs(journey: Journey) -> None:
    journey.follow("shadow-logs")
