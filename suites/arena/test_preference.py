"""A judge compares the lists of the recommender under test and of another one, user by
user.

If the judge fails its own tests (test_judge.py), every verdict here is inconclusive.
"""

import pytest

from pytest_recsys_mt import thresholds
from pytest_recsys_mt.suites.arena import (
    ASPECTS,
    OVERALL,
    Trust,
    no_circle,
    not_less_preferred,
    not_scored_lower,
    preferred,
)

WORSE = thresholds(__file__, "preference")["worse"]
LOWER = thresholds(__file__, "score")["lower"]
TRUSTED = Trust(**thresholds(__file__, "judge"))

GIVEN = [OVERALL, *(aspect.name for aspect in ASPECTS)]


def test_the_recommender_is_better(recsys_arena):
    assert preferred(recsys_arena, trusted=TRUSTED)


@pytest.mark.parametrize("aspect", GIVEN)
def test_the_recommender_is_not_worse(recsys_arena, aspect):
    if aspect not in recsys_arena.judged:
        pytest.skip(f"the fixture recsys_aspects leaves {aspect!r} out")
    assert not_less_preferred(recsys_arena, aspect, margin=WORSE, trusted=TRUSTED)


def test_the_recommender_is_not_worse_in_aspects_of_your_own(recsys_arena):
    own = [aspect for aspect in recsys_arena.judged if aspect not in GIVEN]
    if not own:
        pytest.skip("the fixture recsys_aspects adds none")
    verdicts = [
        not_less_preferred(recsys_arena, aspect, margin=WORSE, trusted=TRUSTED)
        for aspect in own
    ]
    assert all(verdicts)


def test_the_recommender_scores_no_lower(recsys_arena):
    assert not_scored_lower(recsys_arena, margin=LOWER, trusted=TRUSTED)


def test_preferences_go_in_no_circle(recsys_league):
    assert no_circle(recsys_league, trusted=TRUSTED)
