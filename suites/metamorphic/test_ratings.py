"""The unit in which films were rated says nothing about the films; the ratings do."""

import pytest

from pytest_recsys_mt import NotApplicable, metamorphic, thresholds
from pytest_recsys_mt.oracles import different_ranking, unmoved
from pytest_recsys_mt.relations import invert_ratings, scale_ratings, shift_ratings

MARGIN = thresholds(__file__, "margin")
CAP = thresholds(__file__, "cap")
HIT = thresholds(__file__, "hit")


def kept(source, followup):
    return unmoved(
        source,
        followup,
        similarity="rbo",
        margin=MARGIN["ratings"],
        changed=HIT["changed"],
        cap=CAP["loss"],
    )


@pytest.mark.recsys_quick("scale_ratings(2)")
@metamorphic(scale_ratings(2), shift_ratings(1))
def test_rating_scale_is_irrelevant(source, followup):
    assert kept(source, followup)


@metamorphic(scale_ratings(0.5))
def test_half_points_are_read(source, followup, recsys):
    if recsys.saves_calls:
        raise NotApplicable(
            "an endpoint is asked this with --recsys-effort=thorough only",
        )
    assert kept(source, followup)


@metamorphic(invert_ratings)
def test_opposite_ratings_change_the_answer(source, followup):
    if not source.context.deterministic:
        # D is a squared distance: a small difference shrinks with the square of the
        # noise, not in proportion.
        raise NotApplicable("opposite ratings change less than the answers vary")
    assert different_ranking(
        source,
        followup,
        similarity="rbo",
        margin=MARGIN["opposite_ratings"],
    )
