from __future__ import annotations

import pytest
from scipy.stats import binomtest

from tests.support.oracles_statistics import Certain, Rate

ALPHA = 0.05


@pytest.mark.parametrize("count", [0, 1, 4, 20, 79, 80])
def test_shares_are_those_of_clopper_and_pearson(count: int) -> None:
    rate = Rate(count, 80)
    theirs = binomtest(count, 80).proportion_ci(1 - 2 * ALPHA, method="exact")
    assert rate.estimate == count / 80
    assert rate.lower(ALPHA) == pytest.approx(theirs.low)
    assert rate.upper(ALPHA) == pytest.approx(theirs.high)
    greater = binomtest(count, 80, 0.05, alternative="greater").pvalue
    less = binomtest(count, 80, 0.05, alternative="less").pvalue
    assert rate.p_at_most(0.05) == pytest.approx(greater)
    assert rate.p_at_least(0.05) == pytest.approx(less)


@pytest.mark.parametrize("unknown", [1, 2, 5])
def test_questions_that_are_not_known_count_either_way(unknown: int) -> None:
    rate = Rate(4, 80, unknown)
    ends = [Rate(4 + more, 80 + unknown) for more in range(unknown + 1)]
    assert rate.estimate == 4 / 80
    assert rate.lower(ALPHA) == min(each.lower(ALPHA) for each in ends)
    assert rate.upper(ALPHA) == max(each.upper(ALPHA) for each in ends)
    assert rate.p_at_most(0.02) == max(each.p_at_most(0.02) for each in ends)
    assert rate.p_at_least(0.2) == max(each.p_at_least(0.2) for each in ends)


def test_nothing_is_outside_of_what_a_share_can_be() -> None:
    assert Rate(3, 9).p_at_most(-0.1) == 0
    assert Rate(3, 9).p_at_least(1.1) == 0
    assert Rate(3, 9).p_within(0.1) == min(1, 2 * Rate(3, 9).p_at_most(0.1))


def test_what_is_known_has_no_error() -> None:
    mean = Certain(1.0)
    assert (mean.lower(ALPHA), mean.upper(ALPHA)) == (1, 1)
    assert (mean.p_at_most(0.8), mean.p_at_least(0.8)) == (0, 1)
