"""Verdicts on simulated runs whose true effect is known are wrong as rarely as they say."""

import math

import numpy as np
import pytest
from scipy.stats import norm

from benchmarks.simulation import ALPHA, POWER, REACTIONS, World, rows, simulate, users_needed
from benchmarks.tables import interval

WORLDS = [(0.0, "some users wholly", 300)] + [(0.3, reaction, 1_000) for reaction in REACTIONS]


@pytest.mark.parametrize(("temperature", "reaction", "runs"), WORLDS)
def test_verdicts_are_right_and_errors_are_rare(
    temperature: float, reaction: str, runs: int
) -> None:
    none, margin, twice = rows(temperature, reaction, runs, seed=2)
    allowed = ALPHA + 3 * math.sqrt(ALPHA * (1 - ALPHA) / runs)
    assert margin.wrong_way <= allowed
    for row in (none, twice):
        assert row.right is not None
        assert row.right >= POWER
        assert row.wrong_way <= ALPHA / 10


def test_the_margin_is_the_mean_of_the_pool() -> None:
    world = World(0.3, 1)
    for reaction in REACTIONS.values():
        assert reaction(world, 0.05).mean() == pytest.approx(0.05, abs=0.001)
        assert reaction(world, 0.0).mean() == pytest.approx(0.0, abs=0.002)


def test_without_a_noise_floor_every_stochastic_recommender_would_be_flagged() -> None:
    world, rng = World(0.3, 1), np.random.default_rng(0)
    ours = simulate(world.effects(0), 100, 0.05, 100, rng, exact=False)
    naive = simulate(world.disagreement(0), 100, 0.05, 100, rng, exact=False)
    assert (ours.share("holds"), naive.share("violated")) == (1, 1)


def test_users_needed_are_those_of_the_textbook_and_more_where_it_is_looked_five_times() -> None:
    once = (2 * norm.ppf(0.95) * 0.26 / 0.05) ** 2
    assert users_needed(0.26, 0.05, exact=True) == math.ceil(once)
    assert 1.1 < users_needed(0.26, 0.05, exact=False) / once < 1.4


def test_intervals_are_those_of_clopper_and_pearson() -> None:
    assert interval(0, 50) == "0.0 [0.0, 7.1]"
    assert interval(5, 5) == "100.0 [47.8, 100.0]"
    assert interval(0, 0) == "–"
