"""A little more in the training data, or something that concerns nobody, changes
little.

Each test fits the recommender again, twice a side. They run with
--recsys-effort=thorough, or if this file is named.
"""

import pytest

from pytest_recsys_mt import metamorphic, thresholds
from pytest_recsys_mt.oracles import same_ranking
from pytest_recsys_mt.relations import (
    add_unconnected_item,
    add_unconnected_user,
    duplicate_user,
    invalid_ratings,
    split_user,
)

MARGIN = thresholds(__file__, "margin")
CHANGED = int(thresholds(__file__, "users")["changed"])

pytestmark = pytest.mark.recsys_thorough


@metamorphic(
    duplicate_user(CHANGED),
    split_user(CHANGED),
    add_unconnected_user(CHANGED),
    add_unconnected_item(CHANGED),
)
def test_a_few_users_and_items_change_little(source, followup):
    assert same_ranking(source, followup, similarity="rbo", margin=MARGIN["little"])


@metamorphic(
    invalid_ratings("nan"),
    invalid_ratings("infinite"),
    invalid_ratings("zero"),
    invalid_ratings("negative"),
)
def test_invalid_ratings_are_refused_or_ignored(source, followup):
    assert same_ranking(source, followup, similarity="rbo", margin=MARGIN["little"])
