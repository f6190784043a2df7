"""A statement on an item moves its neighbours: a rating, a dislike, a choice that is
taken back, the latest choice.

Neighbours of an item are items of the same users. No statement may turn against them:
that is a promise of every recommender. That ratings count at all, and the latest
choices most, is a promise of those alone that say so: `promises = ("ratings",
"recency")`.
"""

import pytest

from pytest_recsys_mt import NotApplicable, metamorphic, thresholds
from pytest_recsys_mt.oracles import (
    different_ranking,
    exclusion_kept,
    neighbours_lowered,
    neighbours_not_lowered,
    neighbours_not_raised,
    neighbours_raised,
)
from pytest_recsys_mt.relations import (
    choose_again,
    dislike_item,
    drop_dislikes,
    exclude_genre,
    forget_item,
    raise_a_step,
    raise_rating,
    rate_lowest,
)

MARGIN = thresholds(__file__, "margin")


@pytest.fixture
def at_leisure(recsys):
    if recsys.saves_calls:
        raise NotApplicable(
            "an endpoint is asked this with --recsys-effort=thorough only",
        )


@metamorphic(dislike_item)
def test_a_dislike_raises_nothing_like_it(source, followup, recsys):
    assert neighbours_not_raised(source, followup, margin=MARGIN["turned"])
    if "ratings" in recsys.promises:
        assert neighbours_lowered(source, followup, margin=MARGIN["moved"])


@metamorphic(raise_rating)
def test_a_higher_rating_lowers_nothing_like_it(source, followup, at_leisure):
    assert neighbours_not_lowered(source, followup, margin=MARGIN["turned"])


@metamorphic(forget_item)
def test_what_is_taken_back_has_no_effect(source, followup, at_leisure):
    assert neighbours_lowered(source, followup, margin=MARGIN["moved"])


@metamorphic(choose_again)
def test_the_latest_choice_counts_most(source, followup):
    assert neighbours_raised(source, followup, margin=MARGIN["moved"])


@metamorphic(drop_dislikes)
def test_dislikes_count(source, followup):
    if not source.context.deterministic:
        raise NotApplicable("a few dislikes change less than the answers vary")
    assert different_ranking(
        source,
        followup,
        similarity="rbo",
        margin=MARGIN["dislikes"],
    )


@metamorphic(exclude_genre)
def test_an_exclusion_is_kept(source, followup):
    assert exclusion_kept(source, followup, margin=MARGIN["excluded"])


def test_a_step_up_from_the_lowest_lowers_nothing_like_it(recsys, at_leisure):
    # All candidates are ranked: what is like a badly rated item stands below the first
    # ten.
    everything = recsys.using(k=recsys.design.candidates or 20)
    source, followup = (
        everything.run(rate_lowest),
        everything.run(rate_lowest, raise_a_step),
    )
    assert neighbours_not_lowered(source, followup, margin=MARGIN["a_step"])
