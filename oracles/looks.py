"""Looks: the users at which a verdict may be reached, declared before any answer is seen.

A verdict that is clear from a fifth of the users need not ask the others. Looking several times
gives chance several tries, so each look is held to a smaller error rate, chosen such that all looks
together keep the declared one (Jennison and Turnbull 2000, Group Sequential Methods with
Applications to Clinical Trials). The levels of "violated" do not count on a stop for "holds" nor the
reverse, so each claim keeps its error rate for itself.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from pytest_recsys_mt.oracles.bounds import Mean
from pytest_recsys_mt.oracles.kernel import Floats

MOST_LOOKS = 5
FIRST_LOOK = 20
"""Users of the first look at least: with fewer a t distribution is not fair to skewed effects."""

BETWEEN_LOOKS = 10
"""Users from one look to the next at least."""

_EARLY_SHARE = 0.01
_NODES = 200
_REACH = 8.5  # Standard deviations beyond which a normal distribution holds nothing.


class Looks:
    """The looks of one verdict.

    Args:
        users: That can be asked.
        exact: Keep the error rate for certain, whatever the effects (see `level`).
        single: Look once, at all users.

    Attributes:
        sizes: Users asked by each look, rising, the last is all of them: a fifth more each time, as
            far as `FIRST_LOOK` and `BETWEEN_LOOKS` allow, so that fewer than 30 get one look.
    """

    def __init__(self, users: int, *, exact: bool = False, single: bool = False) -> None:
        self.sizes: tuple[int, ...] = (users,) if single else _sizes(users)
        self._exact = exact

    def __iter__(self) -> Iterator[Look]:
        return (Look(self, index) for index in range(len(self.sizes)))

    def level(self, index: int, alpha: float) -> float:
        """The nominal error rate of one look.

        For mean effects it is the same at each look (Pocock 1977, Biometrika 64, 191-199, whose
        significance level approach serves t statistics too), from the joint normal distribution of
        the statistics.

        For claims about shares it is a hundredth of `alpha` before the last look, and what is left
        at the last (after Haybittle 1971 and Peto et al. 1976). The levels add up to `alpha`, so the
        error rate is kept for certain; gross violations are seen at once, and little is lost at the
        end.

        Args:
            index: Of the look, from 0.
            alpha: Error rate of all looks together.
        """
        last = len(self.sizes) - 1
        if self._exact:
            early = _EARLY_SHARE * alpha
            return early if index < last else alpha - last * early
        return _pocock_level(alpha, self.sizes)

    def p_value(self, p: float, index: int, alpha: float) -> float:
        """P-value of what a look found, whatever came before it.

        Outcomes are ordered by stage: crossing at an earlier look is more extreme than anything
        later (Fairbanks and Madsen 1982, Biometrika 69, 69-74; Jennison and Turnbull, section 8.4).
        So it is the chance to have crossed before, or now with as small a `p`.

        Args:
            p: Nominal p-value of the users seen so far.
            index: Of the look, from 0.
            alpha: Error rate of all looks together; the levels of the earlier looks follow from it.
        """
        if index == 0:
            return p
        if self._exact:
            return min(1.0, index * self.level(0, alpha) + p)
        limit = _upper_quantile(self.level(0, alpha))
        limits = (*[limit] * index, _upper_quantile(p))
        return min(1.0, crossing(limits, self.sizes[: index + 1]))


@dataclass(frozen=True)
class Look:
    """One of the looks of a verdict.

    Attributes:
        looks: All of them.
        index: Of this one, from 0.
    """

    looks: Looks
    index: int

    @property
    def users(self) -> int:
        """How many users are asked by then."""
        return self.looks.sizes[self.index]

    @property
    def last(self) -> bool:
        """Whether there is no further one."""
        return self.index + 1 == len(self.looks.sizes)

    def level(self, alpha: float) -> float:
        """See `Looks.level`."""
        return self.looks.level(self.index, alpha)

    def p_value(self, p: float, alpha: float) -> float:
        """See `Looks.p_value`."""
        return self.looks.p_value(p, self.index, alpha)


class Repeated:
    """What is known of a mean at one look of several; a `bounds.Mean` for all looks together.

    Its bounds are repeated confidence bounds (Jennison and Turnbull 1989, J. R. Stat. Soc. B 51,
    305-361): those of all looks are right together with probability 1 - alpha, however it is decided
    when to stop. Its p-values are stage-wise. The estimate is the plain mean, which after an early
    stop lies a little too far from the margin; the bounds allow for that.

    Args:
        mean: Of the users seen so far.
        look: At which they were seen.
        alpha: Error rate of the claim that the p-values are about.
    """

    def __init__(self, mean: Mean, look: Look, alpha: float) -> None:
        self._mean, self._look, self._alpha = mean, look, alpha

    @property
    def estimate(self) -> float:
        """The mean of the users seen so far."""
        return self._mean.estimate

    def lower(self, alpha: float) -> float:
        """See `bounds.Mean`."""
        return self._mean.lower(self._look.level(alpha))

    def upper(self, alpha: float) -> float:
        """See `bounds.Mean`."""
        return self._mean.upper(self._look.level(alpha))

    def p_at_most(self, value: float) -> float:
        """See `bounds.Mean`."""
        return self._look.p_value(self._mean.p_at_most(value), self._alpha)

    def p_at_least(self, value: float) -> float:
        """See `bounds.Mean`."""
        return self._look.p_value(self._mean.p_at_least(value), self._alpha)


def enough_to_show(limit: float, reach: float, alpha: float) -> int:
    """How many users would have shown one of those few that move a mean up to `limit`.

    Where a share ``limit / reach`` of users react as far as can be and the others not at all, a
    small sample without any of them is common, and a t distribution takes it for certainty: of 30
    users, 21 in 100 samples show none of 5 %. So no claim that a mean is *below* a limit is made
    from fewer users than a deterministic recommender needs for it: 59 for 0.05 of 1.

    Args:
        limit: The margin.
        reach: The largest effect there can be.
        alpha: Chance to have seen none of them.
    """
    if not 0 < limit < reach:
        return 2
    return max(2, math.ceil(math.log(alpha) / math.log1p(-limit / reach)))


def crossing(limits: tuple[float, ...], sizes: tuple[int, ...]) -> float:
    """Chance that any of several standardised sums of the same normal observations is above its limit.

    By the recursion of Armitage, McPherson and Rowe 1969, J. R. Stat. Soc. A 132, 235-244: the
    density of the sum, of those that have not crossed yet, is carried from look to look.

    Args:
        limits: Of the sum of each look, in its standard deviations.
        sizes: Observations in each sum, rising.

    Returns:
        The probability where the observations have mean 0.
    """
    from scipy.special import ndtr

    crossed = float(ndtr(-limits[0]))
    points, density = np.zeros(1), np.ones(1)
    before = 0
    for look in range(1, len(sizes)):
        # Of the sum at the look before, below its limit: points and density times weight.
        points, density = _carried(points, density, before, sizes[look - 1], limits[look - 1])
        before = sizes[look - 1]
        limit = limits[look] * math.sqrt(sizes[look])
        crossed += float(density @ ndtr((points - limit) / math.sqrt(sizes[look] - before)))
    return crossed


def _carried(
    points: Floats, density: Floats, before: int, size: int, limit: float
) -> tuple[Floats, Floats]:
    """The distribution of a sum of `size` observations, of those that stay below `limit`."""
    deviation = math.sqrt(size)
    nodes, weights = _nodes()
    low, high = -_REACH * deviation, min(limit, _REACH) * deviation
    half = (high - low) / 2
    if half <= 0:
        return np.zeros(1), np.zeros(1)
    sums = low + half * (nodes + 1)
    step = math.sqrt(size - before)
    kernel = np.exp(-0.5 * ((sums[:, None] - points[None, :]) / step) ** 2)
    kernel /= step * math.sqrt(2 * math.pi)
    return sums, half * weights * (kernel @ density)


@lru_cache(maxsize=1)
def _nodes() -> tuple[Floats, Floats]:
    nodes, weights = np.polynomial.legendre.leggauss(_NODES)
    return nodes, weights


@lru_cache(maxsize=256)
def _pocock_level(alpha: float, sizes: tuple[int, ...]) -> float:
    if len(sizes) == 1:
        return alpha
    from scipy.optimize import brentq
    from scipy.special import ndtr

    def excess(limit: float) -> float:
        return crossing((limit,) * len(sizes), sizes) - alpha

    # Between one look's limit and the one that shares alpha out evenly (Bonferroni).
    few, many = _upper_quantile(alpha), _upper_quantile(alpha / len(sizes))
    return float(ndtr(-brentq(excess, few, many, xtol=1e-10)))


def _upper_quantile(p: float) -> float:
    from scipy.special import ndtri

    return float(np.clip(-ndtri(p), -_REACH, 38.0))


def _sizes(users: int) -> tuple[int, ...]:
    looks = max(1, min(MOST_LOOKS, 1 + (users - FIRST_LOOK) // BETWEEN_LOOKS))
    first = max(FIRST_LOOK, math.ceil(users / looks))
    if looks == 1:
        return (users,)
    later = [first + round((users - first) * step / (looks - 1)) for step in range(1, looks)]
    return (first, *later)
