"""The tail of popularity, and what one item decides."""

import math
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import kstest, lognorm, pareto

from pytest_recsys_mt import OracleError
from pytest_recsys_mt.datasets import load
from pytest_recsys_mt.oracles import popularity_fit
from tests.support.oracles import Floats

MOVIELENS = (
    Path(__file__).resolve().parents[2].parent / "shared" / "data" / "ml-latest-small"
)


def movielens() -> str:
    if not MOVIELENS.is_dir():
        pytest.skip(f"no MovieLens data in {MOVIELENS}")
    return str(MOVIELENS)


def counts(name: str) -> Floats:
    return np.array(
        [count for count in load(name).popularity.values() if count],
        np.float64,
    )


def test_a_pareto_tail_is_known_with_its_shape() -> None:
    values = np.random.default_rng(0).pareto(0.68, 20_000) + 1
    fit = popularity_fit(values)
    assert fit.pareto_shape == pytest.approx(0.68, abs=0.02)
    assert np.log(values).mean() == pytest.approx(1 / 0.68, abs=0.04)
    assert fit.z > 10
    assert fit.p_value < 1e-9
    shape, _, scale = pareto.fit(values, floc=0)
    assert fit.pareto_shape == pytest.approx(shape, rel=1e-6)
    assert fit.pareto_distance == pytest.approx(
        kstest(values, pareto(shape, scale=scale).cdf).statistic,
        abs=1e-6,
    )


def test_a_lognormal_tail_is_known_too() -> None:
    values = np.exp(np.random.default_rng(1).normal(3, 0.8, 20_000))
    fit = popularity_fit(values)
    assert (fit.lognormal_mean, fit.lognormal_deviation) == pytest.approx(
        (3, 0.8),
        abs=0.03,
    )
    assert fit.z < -10
    assert fit.p_value < 1e-9
    frozen = lognorm(fit.lognormal_deviation, scale=np.exp(fit.lognormal_mean))
    assert fit.lognormal_distance == pytest.approx(
        kstest(frozen.cdf(values), "uniform").statistic,
    )


def test_counts_of_a_pareto_are_not_taken_for_lognormal_and_the_reverse() -> None:
    rng = np.random.default_rng(4)
    for _ in range(5):
        heavy = np.round(0.5 * (rng.pareto(0.9, 5_000) + 1) + 1e-9)
        assert popularity_fit(heavy[heavy > 0]).z > -2
        light = np.round(np.exp(rng.normal(1.5, 1.0, 5_000)))
        assert popularity_fit(light[light > 0]).z < -10


def test_the_films_of_movielens_have_a_lighter_tail_than_a_pareto() -> None:
    fit = popularity_fit(counts(movielens()))
    # The paper prints 0.68 for the ten million ratings, and a Pareto as the best fit.
    assert fit.items == 9724
    assert fit.pareto_shape == pytest.approx(0.778, abs=0.001)
    assert fit.z < -10
    assert fit.lognormal_distance < fit.pareto_distance


def shift_without_the_top(values: Floats) -> float:
    """How far the mean moves without the largest value, in
    standard errors of the others' mean.
    """
    rest = np.delete(values, values.argmax())
    return float((values.mean() - rest.mean()) / (rest.std() / np.sqrt(len(rest))))


@pytest.mark.parametrize("data", ["mini", "movielens", "simulated"])
def test_one_blockbuster_moves_the_mean_and_hardly_the_mean_logarithm(
    data: str,
) -> None:
    if data == "simulated":
        values = np.random.default_rng(3).pareto(0.68, 7_500) + 1
    else:
        values = counts("mini" if data == "mini" else movielens())
    raw, logs = shift_without_the_top(values), shift_without_the_top(np.log(values))
    assert raw > 2 * logs
    assert logs < 0.15
    if data == "simulated":
        assert raw > 0.5
        numbers = np.arange(1, len(values) + 1)
        means = np.cumsum(values) / numbers
        place = int(values.argmax())
        assert means[place] > 1.3 * means[place - 1]
        steady = np.cumsum(np.log(values)) / numbers
        assert steady[place] < 1.01 * steady[place - 1]


@pytest.mark.parametrize("wrong", [[], [3, 3, 3], [1, 0], [1, np.nan]], ids=str)
def test_what_has_no_distribution_is_refused(wrong: list[float]) -> None:
    with pytest.raises(OracleError, match="popularity_fit"):
        popularity_fit(wrong)


def test_counts_whose_lognormal_underflows_are_fitted_too() -> None:
    generator = np.random.default_rng(177)
    for counts in (
        generator.zipf(1.7, 80),
        np.maximum(1, generator.lognormal(1, 1, 80).round()),
    ):
        fit = popularity_fit(counts)
        assert math.isfinite(fit.z)
        assert 0 <= fit.p_value <= 1
