"""How new, how varied and how evenly distributed the recommendations are."""

import pytest

from pytest_recsys_mt import dimension, thresholds
from pytest_recsys_mt.oracles import at_least, at_most

LEAST = thresholds(__file__, "novelty")
MOST = thresholds(__file__, "fairness")
DIMENSIONS = {
    "aplt@5": "novelty",
    "intra_list_diversity@5": "diversity",
    "dpd@5": "fairness",
}

pytestmark = pytest.mark.recsys_design(prompt="rank")


@pytest.mark.parametrize("score", LEAST)
def test_at_least(recsys, score):
    verdict = at_least(recsys.run(), score, LEAST[score])
    assert dimension(verdict, DIMENSIONS[score]) if score in DIMENSIONS else verdict


@pytest.mark.parametrize("score", MOST)
def test_at_most(recsys, score):
    verdict = at_most(recsys.run(), score, MOST[score])
    assert (
        dimension(verdict, DIMENSIONS[score], best="low")
        if score in DIMENSIONS
        else verdict
    )
