"""A change of one item's training data moves that item as it should.

The whole catalogue is asked for, so that the item can appear in every list. Each test
fits the recommender again, twice a side. They run with --recsys-effort=thorough, or if
this file is named.
"""

import pytest

from pytest_recsys_mt import thresholds
from pytest_recsys_mt.oracles import not_promoted
from pytest_recsys_mt.relations import chosen_together, shilling

MARGIN = thresholds(__file__, "margin")
USERS = thresholds(__file__, "users")

pytestmark = [
    pytest.mark.recsys_thorough,
    # Long histories, because only those who are known to have an item can show what is
    # drawn to it.
    pytest.mark.recsys_design(candidates=0, history=100, refits=True),
]


def test_invented_users_hardly_promote_an_item(recsys):
    ranked = by_popularity(recsys)
    item = ranked[len(ranked) // 2]
    attacked = recsys.run(shilling(item, int(USERS["invented"])))
    assert not_promoted(recsys.run(), attacked, item, margin=MARGIN["promoted"])


def test_an_item_does_not_fall_when_more_users_choose_it(recsys):
    # What falls must have been in the lists, however large the catalogue is.
    ranked = by_popularity(recsys)
    item, other = ranked[min(7, len(ranked) - 1)], ranked[0]
    more = recsys.run(chosen_together(item, other, int(USERS["together"])))
    assert not_promoted(more, recsys.run(), item, margin=MARGIN["fallen"])


def by_popularity(recsys):
    """All items, the most popular first."""
    counts = recsys.dataset.known.popularity
    return sorted(counts, key=lambda item: (-counts[item], item))
