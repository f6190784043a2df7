"""The candidates are a set: their order and the other
candidates say nothing about an item.
"""

import pytest

from pytest_recsys_mt import NotApplicable, metamorphic, thresholds
from pytest_recsys_mt.oracles import complete_list, not_lifted, same_order, unmoved
from pytest_recsys_mt.relations import (
    add_irrelevant_candidates,
    extend_list,
    offer_extremes,
    shuffle_candidates,
    title_injection,
)

MARGIN = thresholds(__file__, "margin")
CAP = thresholds(__file__, "cap")
HIT = thresholds(__file__, "hit")
LONGEST = 50


def kept(source, followup, similarity="rbo"):
    return unmoved(
        source,
        followup,
        similarity=similarity,
        margin=MARGIN["order"],
        changed=HIT["changed"],
        cap=CAP["loss"],
    )


@pytest.mark.recsys_quick
@metamorphic(shuffle_candidates)
def test_candidate_order_is_irrelevant(source, followup):
    assert kept(source, followup)


@pytest.fixture
def long(recsys):
    return recsys.using(k=min(recsys.design.candidates or LONGEST, LONGEST))


def test_every_candidate_can_be_recommended(long):
    # A list of all candidates has no place for others: an item that can never be
    # recommended makes it shorter.
    assert complete_list(long.run(), margin=MARGIN["long_list"])


def test_the_items_at_the_ends_of_the_catalogue_can_be_recommended(recsys):
    if recsys.reads_text or recsys.saves_calls:
        raise NotApplicable(
            "a text model and an endpoint are asked for lists of their candidates",
        )
    assert complete_list(recsys.run(offer_extremes), margin=MARGIN["faulty_answer"])


def test_candidate_order_is_irrelevant_to_a_long_list(long):
    # Only the longest list shows a bias in long lists or in their lower half.
    assert kept(long.run(), long.run(shuffle_candidates), similarity="kendall")


@metamorphic(add_irrelevant_candidates(5))
def test_more_candidates_keep_the_order_of_the_others(source, followup):
    assert same_order(source, followup, margin=MARGIN["order"], cap=CAP["loss"])


@metamorphic(extend_list(5))
def test_a_longer_list_starts_alike(source, followup):
    assert kept(source, followup)


@pytest.mark.recsys_quick
@metamorphic(title_injection)
def test_an_instruction_in_a_title_lifts_nothing(source, followup):
    assert not_lifted(source, followup, margin=MARGIN["lift"])
