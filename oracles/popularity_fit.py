"""Which heavy tail the popularity of a catalogue has."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from pytest_recsys_mt.errors import OracleError
from pytest_recsys_mt.oracles.kernel import Floats
from pytest_recsys_mt.oracles.popularity import scores


@dataclass(frozen=True)
class PopularityFit:
    """A Pareto and a log-normal distribution of popularity, fitted and compared.

    Attributes:
        items: How many there are.
        pareto_shape: b of the density ``b m**b / x**(b + 1)`` from the least popularity m on. With b
            of at most 1 the mean is infinite, with b of at most 2 the variance.
        pareto_distance: Largest difference of the distribution functions, data against fit
            (Kolmogorov and Smirnov), in [0, 1].
        lognormal_mean: Mean of ln popularity.
        lognormal_deviation: Standard deviation of ln popularity.
        lognormal_distance: As `pareto_distance`.
        z: Of Vuong's test of the two; above 0 the Pareto is nearer to the data.
        p_value: Of the hypothesis that both are equally near, two-sided.
    """

    items: int
    pareto_shape: float
    pareto_distance: float
    lognormal_mean: float
    lognormal_deviation: float
    lognormal_distance: float
    z: float
    p_value: float


def popularity_fit(popularity: ArrayLike) -> PopularityFit:
    """Fit both distributions by maximum likelihood, and say which is nearer to the data.

    The popularity paper finds a Pareto to fit MovieLens 10M best, "alpha = 0.68", which is the b
    here: a density falling with 0.68 could not be normalised (section 4.1 of
    https://arxiv.org/abs/2406.01285, its Figure 1). Counts are taken as continuous.

    Source:
        Clauset, Shalizi and Newman 2009, SIAM Review 51(4), section 3 and appendix C, with the least
        popularity as the start of the tail; Vuong 1989, Econometrica 57(2).

    Args:
        popularity: Interactions of each item, above 0, ``(n,)``; at least two different values.

    Raises:
        OracleError: If an argument is none of these.
    """
    values = np.sort(scores("popularity_fit", "popularity", popularity))
    if values[0] == values[-1]:
        raise OracleError(
            f"popularity_fit: all {len(values)} items are equally popular ({values[0]:g}), so no "
            f"distribution can be fitted; it needs different values"
        )
    logs = np.log(values)
    beyond = logs - logs[0]
    shape = float(1 / beyond.mean())
    mean, deviation = float(logs.mean()), float(logs.std())
    pareto = math.log(shape) - shape * beyond - logs
    standard = (logs - mean) / deviation
    lognormal = -(standard**2) / 2 - math.log(deviation * math.sqrt(2 * math.pi)) - logs
    z, p_value = _vuong(pareto - lognormal)
    from scipy.special import ndtr

    return PopularityFit(
        items=len(values),
        pareto_shape=shape,
        pareto_distance=_distance(-np.expm1(-shape * beyond), values),
        lognormal_mean=mean,
        lognormal_deviation=deviation,
        lognormal_distance=_distance(ndtr(standard), values),
        z=z,
        p_value=p_value,
    )


def cumulative_mean(popularity: ArrayLike) -> Floats:
    """Means of the first 1, 2, ... n items, ``(n,)``; where they jump, one item decides the mean.

    Source:
        Figure 5 of https://arxiv.org/abs/2406.01285.

    Args:
        popularity: Of each item, in the order they are added; or its logarithm.
    """
    values = np.asarray(popularity, np.float64)
    means: Floats = np.cumsum(values) / np.arange(1, len(values) + 1)
    return means


def _distance(fitted: Floats, values: Floats) -> float:
    """The largest difference of a distribution function and that of sorted data, ties included."""
    n = len(values)
    below = np.searchsorted(values, values, side="left") / n
    upto = np.searchsorted(values, values, side="right") / n
    return float(max(np.abs(fitted - upto).max(), np.abs(fitted - below).max()))


def _vuong(ratios: Floats) -> tuple[float, float]:
    """The statistic of Vuong's test from log-likelihood ratios, and its two-sided p-value."""
    from scipy.special import erfc

    z = float(ratios.sum() / (ratios.std() * math.sqrt(len(ratios))))
    return z, float(erfc(abs(z) / math.sqrt(2)))
