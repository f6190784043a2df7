"""The unit in which films were rated says nothing about the films."""

import pytest

from pytest_recsys_mt import metamorphic, thresholds
from pytest_recsys_mt.oracles import low_churn, same_ranking
from pytest_recsys_mt.relations import scale_ratings, shift_ratings

MARGIN = thresholds(__file__, "margin")
HIT = thresholds(__file__, "hit")


@pytest.mark.recsys_quick("scale_ratings(2)")
@metamorphic(scale_ratings(2), shift_ratings(1))
def test_rating_scale_is_irrelevant(source, followup):
    assert same_ranking(source, followup, similarity="rbo", margin=MARGIN["ratings"])
    if (
        source.context.deterministic
    ):  # then no noise hides that ratings are read a little, and wrongly
        assert low_churn(source, followup, "rbo", beyond=HIT["any_change"], margin=HIT["unit"])
