"""The model under test compared with another one: paired
by user, means of five initialisations.
"""

import pytest

from pytest_recsys_mt import thresholds
from pytest_recsys_mt.oracles import not_behind

LIMIT = thresholds(__file__, "comparison")
INITIALISATIONS = 5

pytestmark = pytest.mark.recsys_design(prompt="rank")


def test_it_is_not_behind(recsys, recsys_against):
    ours, other = (
        [each.using(initialisation=number).run() for number in range(INITIALISATIONS)]
        for each in (recsys, recsys_against)
    )
    assert not_behind(ours, other, "ndcg@5", alpha=LIMIT["alpha"])
