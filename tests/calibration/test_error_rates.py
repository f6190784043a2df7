"""Claims on simulated runs whose true mean is known are wrong as rarely as they say."""

import math
from itertools import product

import numpy as np
import pytest

from benchmarks.calibration import (
    ALPHAS,
    CLAIMS,
    FAMILY,
    MOST,
    USERS,
    beyond,
    bound,
    everything,
    simulate,
)
from benchmarks.shapes import HIGH, LOW, MARGIN, SHAPES, in_groups
from benchmarks.simulation import World, some_wholly
from benchmarks.tables import interval
from tests.laws import over
from tests.support.oracles_statistics import Bets

RUNS = 600


@pytest.mark.parametrize("name", SHAPES)
def test_either_claim_is_as_rarely_wrong_as_declared(name: str) -> None:
    of = simulate(SHAPES[name], MARGIN, RUNS, seed=7)
    rates = len(SHAPES) * len(USERS) * len(CLAIMS)
    for alpha in ALPHAS:
        limit = bound(RUNS, alpha, rates)
        assert (
            max(of.share(claim, users, alpha) for claim in CLAIMS for users in USERS)
            <= limit
        )


def test_what_is_not_independent_is_caught_by_the_same_bound() -> None:
    of = simulate(in_groups, MARGIN, RUNS, seed=7)
    limit = bound(RUNS, 0.05, len(SHAPES) * len(USERS) * len(CLAIMS))
    assert limit < 0.1
    assert min(of.share(claim, MOST, 0.05) for claim in CLAIMS) > 2 * limit


@over("name, times", product(SHAPES, [0, 0.5, 1, 2]))
def test_the_mean_of_a_shape_is_exact_and_its_effects_are_in_range(
    name: str,
    times: float,
) -> None:
    effects = SHAPES[name](np.random.default_rng(3), (200_000,), times * MARGIN)
    assert LOW <= effects.min() <= effects.max() <= HIGH
    error = max(effects.std(), 1e-12) / math.sqrt(len(effects))
    assert effects.mean() == pytest.approx(times * MARGIN, abs=4.5 * error)


@pytest.mark.parametrize("name", SHAPES)
def test_the_numbers_are_those_of_verdicts(name: str) -> None:
    of = simulate(SHAPES[name], MARGIN, 3, seed=11, users=80)
    either = beyond(SHAPES[name], MARGIN, 3, seed=11, users=80).won["either"]
    effects = SHAPES[name](np.random.default_rng(11), (3, 80), MARGIN)
    for run in range(3):
        bets = Bets(effects[run], LOW, HIGH)
        wide = Bets(effects[run], -1, 1)
        for won, p_value in (
            (of.won["violated"], bets.p_at_most(MARGIN)),
            (of.won["holds"], bets.p_at_least(MARGIN)),
            (either, wide.p_within(MARGIN)),
        ):
            assert math.exp(-max(0.0, won[run, -1])) == pytest.approx(p_value, rel=1e-9)


def test_calm_effects_are_judged_rightly_by_the_users_asked_by_default() -> None:
    calm = SHAPES["normal, sd .12"]
    good, bad = (simulate(calm, times * MARGIN, RUNS, 5, MOST) for times in (0, 2))
    assert good.share("holds", MOST, 0.05) >= 0.95
    assert bad.share("violated", MOST, 0.05) >= 0.95
    assert bad.share("violated", MOST, 0.05 / FAMILY) >= 0.95
    assert good.asked(MOST, 0.05).mean() < 80 > bad.asked(MOST, 0.05).mean()


def test_the_report_says_whether_a_rate_is_above_its_bound() -> None:
    few = {"normal, sd .2": SHAPES["normal, sd .2"]}
    assert "THERE IS A RATE" not in "\n".join(everything(300, few))
    assert "THERE IS A RATE above it" in "\n".join(
        everything(300, {"groups": in_groups}),
    )


def test_without_a_noise_floor_every_stochastic_recommender_would_be_flagged() -> None:
    world, rng = World(0.3, 1), np.random.default_rng(0)
    ours, naive = (
        rng.choice(pool, 200) for pool in (world.effects(0), world.disagreement(0))
    )
    assert Bets(ours, LOW, HIGH).p_at_least(MARGIN) < 0.01
    assert Bets(naive, LOW, HIGH).p_at_most(MARGIN) < 1e-6


def test_the_mean_of_effects_of_lists_is_exact() -> None:
    effects = some_wholly(World(0.3, 1))(np.random.default_rng(3), (200_000,), MARGIN)
    assert LOW <= effects.min() <= effects.max() <= HIGH
    assert effects.mean() == pytest.approx(
        MARGIN,
        abs=4.5 * effects.std() / math.sqrt(200_000),
    )


def test_intervals_are_those_of_clopper_and_pearson() -> None:
    assert interval(0, 50) == "0.0 [0.0, 7.1]"
    assert interval(5, 5) == "100.0 [47.8, 100.0]"
    assert interval(0, 0) == "–"
