from __future__ import annotations

import math
from collections.abc import Callable
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest, ttest_1samp

from pytest_recsys_mt.oracles.bounds import (
    Mean,
    Rate,
    Student,
    mean_difference_of,
    mean_of,
)
from pytest_recsys_mt.oracles.drawn import Gaffke, SignFlips
from pytest_recsys_mt.oracles.judge import Claim, Promise, decide
from pytest_recsys_mt.oracles.kernel import Floats

ALPHA = 0.05


def shares(
    draw: Callable[[], np.ndarray], bound: Callable[[np.ndarray], Mean], claim: Claim, runs: int
) -> dict[str, float]:
    statuses = [decide(bound(draw()), claim, ALPHA) for _ in range(runs)]
    return {status: statuses.count(status) / runs for status in ("holds", "violated")}


def allowed(runs: int) -> float:
    """Alpha, and three standard errors of a simulation of so many runs."""
    return ALPHA + 3 * math.sqrt(ALPHA * (1 - ALPHA) / runs)


def quick_gaffke(effects: np.ndarray) -> Mean:
    return Gaffke(effects, 0.0, 1.0, draws=999)


@pytest.mark.parametrize(
    ("name", "margin", "users"),
    [("all or nothing", 0.05, 100), ("all or nothing", 0.02, 300), ("continuous", 0.05, 60)],
)
def test_deterministic_effects_at_the_margin_err_at_most_at_alpha(
    name: str, margin: float, users: int
) -> None:
    rng, runs = np.random.default_rng(3), 600
    draws = {
        "all or nothing": lambda: (rng.random(users) < margin).astype(float),
        "continuous": lambda: rng.beta(0.5, 0.5 / margin - 0.5, users),
    }
    claim = Claim("", "at most", margin)
    assert max(shares(draws[name], quick_gaffke, claim, runs).values()) <= allowed(runs)


@pytest.mark.parametrize("promise", ["at most", "at least", "within"])
@pytest.mark.parametrize("name", ["normal", "skewed", "some users react"])
def test_stochastic_effects_at_the_margin_err_at_most_at_alpha(name: str, promise: Promise) -> None:
    rng, runs, users = np.random.default_rng(4), 2_000, 60
    draws = {
        "normal": lambda: rng.normal(0.05, 0.13, users),
        "skewed": lambda: rng.beta(0.5, 4.5, users) - 0.05,
        "some users react": lambda: rng.normal(0, 0.06, users) + 0.5 * (rng.random(users) < 0.1),
    }
    found = shares(draws[name], lambda x: mean_of(x, -1, 1, False), Claim("", promise, 0.05), runs)
    assert max(found.values()) <= allowed(runs)


def test_sign_flips_of_few_users_err_at_most_at_alpha() -> None:
    rng, runs = np.random.default_rng(5), 600
    found = shares(
        lambda: rng.normal(1.0, 0.7, 12),
        lambda x: SignFlips(x, -9, 9, draws=999),
        Claim("", "at least", 1.0),
        runs,
    )
    assert max(found.values()) <= allowed(runs)


def test_no_effect_and_twice_the_margin_are_told_apart_with_100_users() -> None:
    rng, claim = np.random.default_rng(6), Claim("", "at most", 0.05)

    def bound(x: np.ndarray) -> Mean:
        return mean_of(x, -1, 1, False)

    assert shares(lambda: rng.normal(0, 0.13, 100), bound, claim, 400)["holds"] > 0.95
    assert shares(lambda: rng.normal(0.1, 0.13, 100), bound, claim, 400)["violated"] > 0.95


@pytest.mark.parametrize(("users", "margin"), [(59, 0.05), (149, 0.02)])
def test_users_that_settle_a_margin_when_nothing_moves(users: int, margin: float) -> None:
    assert Gaffke(np.zeros(users), 0, 1).upper(ALPHA) < margin
    assert Gaffke(np.zeros(users - 1), 0, 1).upper(ALPHA) > margin
    assert Gaffke(np.zeros(users), 0, 1).upper(ALPHA) == pytest.approx(1 - 0.05 ** (1 / users))


@pytest.mark.parametrize("count", [1, 3, 40])
def test_gaffke_is_clopper_pearson_for_all_or_nothing(count: int) -> None:
    effects = np.zeros(80)
    effects[:count] = 1
    interval = binomtest(count, 80).proportion_ci(0.9, method="exact")
    gaffke, rate = Gaffke(effects, 0, 1), Rate(count, 80)
    assert (rate.lower(ALPHA), rate.upper(ALPHA)) == pytest.approx((interval.low, interval.high))
    assert gaffke.lower(ALPHA) == pytest.approx(interval.low, abs=0.003)
    assert gaffke.upper(ALPHA) == pytest.approx(interval.high, abs=0.003)


def test_rates_have_binomial_p_values() -> None:
    for count in (0, 4, 80):
        greater = binomtest(count, 80, 0.05, alternative="greater").pvalue
        less = binomtest(count, 80, 0.05, alternative="less").pvalue
        assert Rate(count, 80).p_at_most(0.05) == pytest.approx(greater)
        assert Rate(count, 80).p_at_least(0.05) == pytest.approx(less)


def test_symmetric_effects_are_judged_by_the_plain_t_test() -> None:
    effects = np.concatenate([np.linspace(-0.1, 0.3, 40)])
    test = ttest_1samp(effects, 0.05, alternative="greater")
    student = Student(effects)
    assert student.p_at_most(0.05) == pytest.approx(test[1])
    assert student.lower(ALPHA) == pytest.approx(test.confidence_interval(0.95).low)


def test_sign_flips_agree_with_all_patterns() -> None:
    differences = np.array([0.3, -0.1, 0.8, 0.5, 0.2, 0.9, 0.4])
    flips = np.array(list(product([-1, 1], repeat=7)))
    exact = np.mean(flips @ (differences - 0.1) >= (differences - 0.1).sum() - 1e-12)
    assert SignFlips(differences, -9, 9).p_at_most(0.1) == pytest.approx(exact, abs=0.005)


def test_four_users_are_too_few_for_sign_flips() -> None:
    few = SignFlips(np.array([1.0, 1.1, 1.2, 1.3]), -9, 9)  # one of 16 patterns is the observed
    assert few.lower(ALPHA) == -9
    assert few.upper(ALPHA) == 9


def test_which_bound_serves_which_effects() -> None:
    rng = np.random.default_rng(0)
    lone, varied = np.zeros(100), rng.normal(size=100)
    lone[0] = 1
    assert isinstance(mean_of(varied, -1, 1, exact=False), Student)
    assert isinstance(mean_of(varied, -1, 1, exact=True), Gaffke)
    assert isinstance(mean_of(lone, -1, 1, exact=False), Gaffke)
    assert isinstance(mean_difference_of(varied[:12], -1, 1), SignFlips)
    assert isinstance(mean_difference_of(varied, -1, 1), Student)
    assert isinstance(mean_difference_of(np.zeros(12), -1, 1), Gaffke)


def test_the_same_effects_give_the_same_bounds() -> None:
    effects = np.random.default_rng(0).beta(1, 9, 50)
    assert Gaffke(effects, 0, 1).upper(ALPHA) == Gaffke(effects, 0, 1).upper(ALPHA)


effects = st.lists(st.floats(-1, 1, width=16), min_size=2, max_size=30).map(np.array)


@settings(max_examples=60)
@given(effects, st.floats(-0.99, 0.99), st.sampled_from([0.01, 0.05, 0.2]))
def test_bounds_and_p_values_tell_the_same(values: Floats, value: float, alpha: float) -> None:
    means: list[Mean] = [Gaffke(values, -1, 1, draws=499), SignFlips(values, -1, 1, draws=499)]
    if values.std() > 1e-3 and len(values) > 2:
        means.append(Student(values))
    for mean in means:
        lower, upper = mean.lower(alpha), mean.upper(alpha)
        assert lower <= upper
        for bound, p in ((lower - value, mean.p_at_most), (value - upper, mean.p_at_least)):
            assert 0 <= p(value) <= 1
            if abs(bound) > 1e-9:
                assert (bound > 0) == (p(value) <= alpha)


@settings(max_examples=60)
@given(effects)
def test_distribution_free_bounds_stay_in_range_and_hold_the_mean(values: Floats) -> None:
    mean = Gaffke(values, -1, 1, draws=499)
    assert -1 <= mean.lower(ALPHA) <= values.mean() + 1e-9
    assert values.mean() - 1e-9 <= mean.upper(ALPHA) <= 1
