"""Open recommendation over the whole catalogue: bias, accuracy, validity.

The paper's Table 2, as promises; thresholds.toml has the limits.
"""

import pytest

from pytest_recsys_mt import thresholds
from pytest_recsys_mt.oracles import at_least, at_most, within

BIAS = thresholds(__file__, "bias")
ACCURACY = thresholds(__file__, "accuracy")
VALIDITY = thresholds(__file__, "validity")

pytestmark = pytest.mark.recsys_design(candidates=0, k=10, prompt="wok")


def test_recommendations_are_as_popular_as_what_the_user_watches(recsys):
    limit = BIAS["log_popularity_difference"]
    assert within(recsys.run(), "log_popularity_difference", limit)


@pytest.mark.parametrize("metric", ["hit@5", "hit@10"])
def test_hit_rate(recsys, metric):
    assert at_least(recsys.run(), metric, ACCURACY[metric])


def test_recommendations_are_valid(recsys):
    assert at_most(recsys.run(), "invalid", VALIDITY["invalid"])
