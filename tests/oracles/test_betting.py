"""Bets: whom they believe, and that what is shown agrees with what decides."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_recsys_mt import OracleError
from tests.support.oracles import Floats
from tests.support.oracles_judging import (
    Claim,
    judge_family,
    p_value,
    p_value_of_opposite,
)
from tests.support.oracles_statistics import (
    Bets,
    log_capital,
    log_capital_of_any,
    p_of_any,
    p_of_some,
)

ALPHA = 0.05
LOW, HIGH = -0.5, 1.0
RANGE = HIGH - LOW


def drawn(mean: float, deviation: float, users: int = 200, seed: int = 0) -> Floats:
    return np.clip(
        np.random.default_rng(seed).normal(mean, deviation, users),
        LOW,
        HIGH,
    )


def test_the_capital_is_what_a_loop_over_users_makes_of_it() -> None:
    """The formulas of the papers, one user at a time."""
    gains = (drawn(0.1, 0.2, 450) - 0.05) / RANGE
    worst = (0.05 - LOW) / RANGE
    capital = 1.0
    seen: list[float] = []
    total, squares = 5 / 30, 5 * (1 / 30**2 + 0.08**2)
    cubes = 5 * (1 / 30**3 + 3 / 30 * 0.08**2)
    for users, gain in enumerate(gains, 5):
        mean, square = total / users, squares / users
        cube = min(cubes / users, 0.0)
        root = math.sqrt(square**2 - 4 * cube * max(mean, 0.0))
        horizon = 200 if len(seen) < 200 else 400 if len(seen) < 400 else 800
        least = math.sqrt(2 * math.log(20) / (horizon * square))
        stake = min(max(2 * mean / (square + root), least), 0.95 / worst)
        capital *= 1 + stake * gain
        seen.append(capital)
        total, squares, cubes = total + gain, squares + gain**2, cubes + gain**3
    assert np.exp(log_capital(gains, worst)) == pytest.approx(seen)


def test_no_user_is_bet_on_with_what_that_user_or_a_later_one_says() -> None:
    gains = (drawn(0.1, 0.3, 50) - 0.05) / RANGE
    other = gains.copy()
    other[20:] = 0.3
    one, two = log_capital(gains, 0.4), log_capital(other, 0.4)
    assert one[:20] == pytest.approx(two[:20])
    # The stake on user 20 is the same, so that the two steps differ as the gains do.
    step = np.expm1(one[20] - one[19]) / gains[20]
    assert step == pytest.approx(np.expm1(two[20] - two[19]) / 0.3)


@pytest.mark.parametrize("users", [1, 199, 200, 201, 400])
@pytest.mark.parametrize("wide", [False, True])
def test_going_on_with_more_users_keeps_all_earlier_capitals(
    users: int,
    wide: bool,
) -> None:
    """To the last bit, whoever the later users are."""
    gains = (np.stack([drawn(0.1, 0.3, 500, seed) for seed in range(2)]) - 0.05) / RANGE
    later = gains.copy()
    later[:, users:] = -0.3
    worst = np.full((2, 1), 0.4)
    for capital in (log_capital, log_capital_of_any):
        first = capital(gains[:, :users], worst, wide=wide)
        for longer in (gains, later):
            assert (capital(longer, worst, wide=wide)[..., :users] == first).all()


def test_a_mean_near_the_limit_is_shown_by_more_runs_than_by_what_users_said_alone() -> (
    None
):
    """Half of a margin of .05 below it, deviation .2: 28 % without the least stake."""
    gains = (0.05 - np.random.default_rng(4).normal(0.025, 0.2, (2000, 200))) / RANGE
    shown = log_capital(gains, 0.95 / RANGE).max(axis=1) >= -math.log(ALPHA)
    assert shown.mean() > 0.33


@pytest.mark.parametrize("margin", [0.02, 0.05, 0.3])
def test_where_nothing_moves_little_more_users_are_needed_than_by_any_test(
    margin: float,
) -> None:
    least = math.log(ALPHA) / math.log1p(-margin)
    users = next(
        n for n in range(1, 500) if Bets(np.zeros(n), 0, 1).p_at_least(margin) <= ALPHA
    )
    assert least <= users <= 1.1 * least + 1


@given(
    st.lists(
        st.sampled_from([-0.5, 0.0, 0.0, 0.1, 1.0]) | st.floats(-0.5, 1),
        min_size=1,
        max_size=90,
    ),
    st.sampled_from([0.01, 0.05, 0.3]),
)
@settings(max_examples=60)
def test_bounds_are_ends_of_what_is_not_refuted(
    effects: list[float],
    alpha: float,
) -> None:
    bets = Bets(np.array(effects), LOW, HIGH)
    low, high = bets.lower(alpha), bets.upper(alpha)
    assert LOW <= low <= high <= HIGH
    for outside in np.linspace(LOW, low, 7)[:-1] if low > LOW else []:
        assert bets.p_at_most(float(outside)) <= alpha + 1e-9
    for outside in np.linspace(high, HIGH, 7)[1:] if high < HIGH else []:
        assert bets.p_at_least(float(outside)) <= alpha + 1e-9


def test_a_value_that_cannot_be_is_refuted_and_one_at_the_end_by_a_single_user() -> (
    None
):
    assert Bets(np.zeros(5), 0, 1).p_at_most(-0.1) == 0
    assert Bets(np.zeros(5), 0, 1).p_at_most(0.0) == 1
    assert Bets(np.array([0, 0, 0.1]), 0, 1).p_at_most(0.0) == 0
    assert Bets(np.ones(5), 0, 1).p_at_least(1.0) == 1


@pytest.mark.parametrize("unknown", [(0,), (3, 3), (0, 9, 20)])
def test_users_who_are_not_known_count_against_either_claim(
    unknown: tuple[int, ...],
) -> None:
    effects = drawn(0.1, 0.15, 20)
    bets = Bets(effects, LOW, HIGH, unknown)
    assert bets.estimate == effects.mean()
    least, most = (np.insert(effects, list(unknown), end) for end in (LOW, HIGH))
    for value in (-0.2, 0.05, 0.3):
        assert bets.p_at_most(value) == Bets(least, LOW, HIGH).p_at_most(value)
        assert bets.p_at_least(value) == Bets(most, LOW, HIGH).p_at_least(value)
        for filled in product((LOW, 0.1, HIGH), repeat=len(unknown)):
            other = Bets(np.insert(effects, list(unknown), filled), LOW, HIGH)
            assert other.p_at_most(value) <= bets.p_at_most(value) + 1e-12


def test_either_side_of_a_two_sided_promise_costs_hardly_more_than_alone() -> None:
    cost = []
    for sign, seed in product((1, -1), range(40)):
        effects = np.clip(
            sign * np.random.default_rng(seed).normal(0.12, 0.2, 200),
            -1,
            1,
        )
        bets = Bets(effects, -1, 1)
        alone = bets.p_at_most(0.05) if sign > 0 else bets.p_at_least(-0.05)
        cost.append(bets.p_within(0.05) / alone)
    assert np.median(cost) < 1.5  # by two tests it would be 2


def test_one_of_several_ways_is_found_though_the_others_lose() -> None:
    rng = np.random.default_rng(2)
    ways = [rng.normal(mean, 0.1, 200) / RANGE for mean in (-0.05, -0.2, 0.05, -0.1)]
    gains, worst = np.array(ways), np.full((4, 1), 0.4)
    assert log_capital_of_any(gains, worst)[-1] > 0.8 * log_capital(gains[2], 0.4)[-1]
    assert p_of_any(gains, worst) < ALPHA
    assert p_of_any(gains[:2], worst[:2]) > ALPHA


def test_a_shared_capital_is_never_worse_than_a_test_for_each_way() -> None:
    rng = np.random.default_rng(5)
    worst = np.full((4, 1), 0.4)
    for lost in (0.0, 0.05, 0.1):
        means = np.array([lost, lost, -0.1, -0.05])[:, None]
        gains = rng.normal(means, 0.12, (4, 200)) / RANGE
        gains[0, 60:] = 0  # asked no further
        alone = [math.exp(-max(0.0, log_capital(one, 0.4).max())) for one in gains]
        assert (
            min(alone) / 4
            <= p_of_some(gains, worst)
            <= min(1.0, 4 * min(alone)) + 1e-12
        )
    fair = rng.normal(0, 0.12, (2000, 4, 200)) / RANGE
    assert np.mean([p_of_some(gains, worst) <= ALPHA for gains in fair]) <= ALPHA


def test_the_stronger_of_two_claims_is_made_where_users_say_both() -> None:
    effects = np.concatenate([np.full(20, 0.6), np.full(700, -0.1)])
    mean, claim = Bets(effects, LOW, HIGH), Claim("", "at most", 0.05)
    both = p_value(mean, claim), p_value_of_opposite(mean, claim)
    assert max(both) <= ALPHA
    stronger = "violated" if both[0] < both[1] else "holds"
    assert judge_family(claim, [mean], ALPHA).statuses == [stronger]


@pytest.mark.parametrize(
    ("promise", "mean", "status"),
    [
        ("at most", 0.0, "holds"), ("at most", 0.15, "violated"),
        ("at least", 0.15, "holds"), ("at least", -0.1, "violated"),
        ("within", 0.0, "holds"), ("within", 0.15, "violated"), ("within", -0.15, "violated"),
    ],
)  # fmt: skip
def test_each_promise_is_decided_on_its_side(
    promise: str,
    mean: float,
    status: str,
) -> None:
    claim = Claim("", promise, 0.06)  # type: ignore[arg-type]
    bets = Bets(drawn(mean, 0.12), LOW, HIGH)
    assert judge_family(claim, [bets], ALPHA).statuses == [status]


@pytest.mark.parametrize("margin", [0.0, 0.01, 0.02, 0.05, 0.1, 0.3, 0.9])
def test_no_bet_knows_the_user_whom_it_is_on(margin: float) -> None:
    """What the first user says wins as often as it loses, to the last bit."""

    def first(effect: float) -> float:
        effects = np.array([[effect]])
        gains = np.stack([effects - margin, -margin - effects])[:, 0] / 2
        worst = np.array([[margin + 1], [1 + margin]]) / 2
        return float(np.exp(log_capital_of_any(gains, worst)[0]))

    mean_of_a_fair_user = (1 + margin) / 2 * first(1.0) + (1 - margin) / 2 * first(-1.0)
    assert mean_of_a_fair_user <= 1 + 1e-12


@pytest.mark.parametrize(
    ("share", "users"),
    [(1.0, 10), (1.0, 20), (1.0, 50), (0.8, 200)],
)
def test_effects_at_both_ends_are_called_far_from_0_at_most_as_often_as_declared(
    share: float,
    users: int,
) -> None:
    rng = np.random.default_rng(3)
    sign = np.where(rng.random((4000, users)) < (1 + 0.05 / share) / 2, 1.0, -1.0)
    effects = np.where(rng.random(sign.shape) < share, sign, 0.0)
    called = np.mean([Bets(one, -1, 1).p_within(0.05) <= ALPHA for one in effects])
    assert called <= ALPHA + 3 * math.sqrt(ALPHA * (1 - ALPHA) / len(effects))


@pytest.mark.parametrize("share", [0.02, 0.3, 0.5, 0.9])
def test_asking_more_users_because_it_was_unclear_makes_no_false_claim_more_likely(
    share: float,
) -> None:
    """Hits whose true share is the threshold, watched after every user, up to 400."""
    hits = (np.random.default_rng(9).random((4000, 400)) < share).astype(np.float64)
    most = ALPHA + 3 * math.sqrt(ALPHA * (1 - ALPHA) / len(hits))
    for gains, worst in ((hits - share, share), (share - hits, 1 - share)):
        ever = log_capital(gains, worst, wide=True).max(axis=1) >= -math.log(ALPHA)
        assert ever.mean() <= most


def test_who_expects_users_at_both_ends_finds_hits_beyond_a_threshold() -> None:
    """3.5 standard errors from it; who expects them near the middle bets too boldly."""
    hits = (np.random.default_rng(9).random((500, 200)) < 0.62).astype(np.float64)
    found = [
        (log_capital(hits - 0.5, 0.5, wide=wide).max(axis=1) >= -math.log(ALPHA)).mean()
        for wide in (False, True)
    ]
    assert found[0] < 0.65
    assert found[1] > 0.8


@pytest.mark.parametrize("effect", [1.5, -0.6, math.nan, math.inf])
def test_an_effect_beyond_its_range_is_an_error(effect: float) -> None:
    with pytest.raises(OracleError, match=r"outside the range from -0\.5 to 1"):
        Bets(np.array([0.0, effect]), LOW, HIGH)


def test_a_range_without_ends_is_an_error() -> None:
    with pytest.raises(OracleError, match="a bet needs a finite range"):
        Bets(np.array([0.0]), -math.inf, math.inf)
