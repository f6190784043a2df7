"""Two logs of answers, compared without asking: a lost feature, late answers, and
recommenders that explore.
"""

import pytest

from tests.journeys.pages import Journey


@pytest.mark.slow
def test_shadow_logs(journey: Journey) -> None:
    journey.follow("shadow-logs")
