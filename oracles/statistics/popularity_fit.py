"""Which heavy-tailed distribution fits the popularity of a catalogue."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import erfc, log_ndtr, ndtr

from pytest_recsys_mt.oracles.arrays import Floats
from pytest_recsys_mt.oracles.scores.popularity import scores
from pytest_recsys_mt.safety.errors import OracleError

__all__ = ["PopularityFit", "popularity_fit"]


@dataclass(frozen=True)
class PopularityFit:
    """A Pareto and a log-normal distribution of popularity, fitted and compared.

    Example:
        >>> fit = popularity_fit([1, 1, 1, 2, 2, 3, 5, 9, 40])
        >>> round(fit.lognormal_mean, 2)
        1.11

    Attributes:
        items: Number of items.
        pareto_shape: b of the density ``b m**b / x**(b + 1)``, which starts at the
            smallest popularity m. The mean is infinite if b is at most 1, the variance
            if b is at most 2.
        pareto_distance: Largest difference of the distribution functions of data and
            fit (Kolmogorov and Smirnov), in [0, 1].
        lognormal_mean: Mean of ln popularity.
        lognormal_deviation: Standard deviation of ln popularity.
        lognormal_distance: As `pareto_distance`.
        z: Statistic of Vuong's test of the two; above 0, the Pareto is nearer to the
            data. If all values are whole, both distributions are fitted again as values
            rounded to whole numbers. If the values were taken as exact, the many items
            with only one rating would favour a Pareto. A log-normal that starts at the
            smallest value can be near any Pareto, so z is never far above 0 then; z
            near 0 means that a Pareto may be true.
        p_value: Two-sided p-value of the hypothesis that both are equally near.
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
    """Fit both distributions by maximum likelihood, and test which is nearer to the
    data.

    In the popularity paper a Pareto fits MovieLens 10M best, "alpha = 0.68". This alpha
    is the shape here, because a density with exponent 0.68 could not be normalised
    (section 4.1 of https://arxiv.org/abs/2406.01285, its Figure 1).

    Source:
        Clauset, Shalizi and Newman 2009, SIAM Review 51(4), section 3 and appendix C,
        with the smallest popularity as the start of the tail; Vuong 1989, Econometrica
        57(2).

    Example:
        >>> fit = popularity_fit([1, 1, 1, 2, 2, 3, 5, 9, 40])
        >>> round(fit.pareto_shape, 2), fit.items
        (0.9, 9)

    Args:
        popularity: Number of interactions of each item, above 0, ``(n,)``; at least two
            different values.
    """
    values = np.sort(scores("popularity_fit", "popularity", popularity))
    if values[0] == values[-1]:
        raise OracleError(
            f"popularity_fit: all {len(values)} items are equally popular ({values[0]:g}), so no "
            f"distribution can be fitted; give different values",
        )
    logs = np.log(values)
    beyond = logs - logs[0]
    shape = float(1 / beyond.mean())
    mean = float(logs.mean())
    deviation = float(logs.std())
    standard = (logs - mean) / deviation
    if (values == np.round(values)).all():
        ratios = _rounded_ratios(values)
    else:  # log-likelihood ratios, Pareto against log-normal
        lognormal = -(standard**2) / 2 - math.log(deviation * math.sqrt(2 * math.pi))
        ratios = math.log(shape) - shape * beyond - lognormal
    z = float(ratios.sum() / (ratios.std() * math.sqrt(len(ratios))))
    return PopularityFit(
        items=len(values),
        pareto_shape=shape,
        pareto_distance=_distance(-np.expm1(-shape * beyond), values),
        lognormal_mean=mean,
        lognormal_deviation=deviation,
        lognormal_distance=_distance(ndtr(standard), values),
        z=z,
        p_value=float(erfc(abs(z) / math.sqrt(2))),
    )


def _distance(fitted: Floats, values: Floats) -> float:
    """The largest difference between a distribution function
    and that of sorted data, with ties.
    """
    n = len(values)
    below = np.searchsorted(values, values, side="left") / n
    upto = np.searchsorted(values, values, side="right") / n
    return float(max(np.abs(fitted - upto).max(), np.abs(fitted - below).max()))


def _rounded_ratios(values: Floats) -> Floats:
    """Log-likelihood ratios, Pareto against log-normal, of rounded values; both start
    at the least value - 0.5.
    """
    start = values[0] - 0.5
    low = np.log(values - 0.5)
    high = np.log(values + 0.5)

    def pareto(shape: float) -> Floats:
        """The log-likelihoods of a Pareto."""
        fallen: Floats = -shape * (low - math.log(start))
        return fallen + np.log(-np.expm1(-shape * (high - low)))

    def lognormal(mean: float, deviation: float) -> Floats:
        """The log-likelihoods of a log-normal."""
        # The upper tails are small but exact, even where the distribution functions
        # round to 1.
        left = (mean - low) / deviation
        right = (mean - high) / deviation
        inside: Floats = log_ndtr(left) + np.log1p(
            -np.exp(log_ndtr(right) - log_ndtr(left)),
        )
        of_all: float = log_ndtr((mean - math.log(start)) / deviation)
        return inside - of_all

    # Shapes and deviations are above 0, so their logarithms are searched. The start is
    # the fit of exact values.
    logs = np.log(values)
    log_shape_of_exact = -math.log((logs - math.log(start)).mean())
    log_deviation_of_exact = math.log(logs.std())
    (log_shape,) = _least(lambda x: -pareto(math.exp(x[0])), [log_shape_of_exact])
    mean, log_deviation = _least(
        lambda x: -lognormal(x[0], math.exp(x[1])),
        [logs.mean(), log_deviation_of_exact],
    )
    return pareto(math.exp(log_shape)) - lognormal(mean, math.exp(log_deviation))


def _least(
    terms: Callable[[Floats], Floats],
    start: Sequence[float],
) -> tuple[float, ...]:
    """The numbers at which the sum of terms is least, searched from `start`."""
    from scipy.optimize import minimize

    def total(at: Floats) -> float:
        return float(terms(at).sum())

    found = minimize(total, np.array(start, np.float64), method="Nelder-Mead")
    return tuple(float(x) for x in found.x)
