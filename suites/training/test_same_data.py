"""The same training data in another order, form or unit, or with other names, teach the
same.

Each test fits the recommender again, twice a side. They run with
--recsys-effort=thorough, or if this file is named.
"""

import pytest

from pytest_recsys_mt import metamorphic, thresholds
from pytest_recsys_mt.oracles import same_answer, same_ranking
from pytest_recsys_mt.relations import (
    fit_again,
    jitter_ratings,
    other_form,
    renumber_items,
    rescale_training,
    shift_times,
)

MARGIN = thresholds(__file__, "margin")

pytestmark = pytest.mark.recsys_thorough


@metamorphic(fit_again)
def test_the_same_seed_trains_the_same(source, followup):
    assert same_answer(source, followup, margin=MARGIN["same_data"])


@metamorphic(other_form, renumber_items)
def test_how_the_data_are_written_is_irrelevant(source, followup):
    assert same_ranking(source, followup, similarity="rbo", margin=MARGIN["same_data"])


@metamorphic(rescale_training(2), jitter_ratings(1e-9), shift_times(520))
def test_in_which_unit_the_data_are_is_irrelevant(source, followup):
    assert same_ranking(source, followup, similarity="rbo", margin=MARGIN["same_data"])
