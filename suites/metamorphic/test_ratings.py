"""The unit in which films were rated says nothing about the films; the ratings do."""

import pytest

from pytest_recsys_mt import metamorphic, thresholds
from pytest_recsys_mt.oracles import different_ranking, low_churn, same_ranking
from pytest_recsys_mt.relations import invert_ratings, scale_ratings, shift_ratings

MARGIN = thresholds(__file__, "margin")
HIT = thresholds(__file__, "hit")


@pytest.mark.recsys_quick("scale_ratings(2)")
@metamorphic(scale_ratings(2), shift_ratings(1))
def test_rating_scale_is_irrelevant(source, followup):
    whole = same_ranking(source, followup, similarity="rbo", margin=MARGIN["ratings"])
    if source.context.deterministic and whole.status in ("holds", "inconclusive"):
        # No noise hides then that ratings are read a little, and wrongly.
        assert low_churn(source, followup, "rbo", beyond=HIT["any_change"], margin=HIT["unit"])
    assert whole


@metamorphic(invert_ratings)
def test_opposite_ratings_change_the_answer(source, followup):
    assert different_ranking(source, followup, similarity="rbo", margin=MARGIN["opposite_ratings"])
