"""Bounds for how far the means of several sides are apart: their range, or their
standard deviation.

The largest and the smallest of several means are chosen by looking at them, so bounds
for two sides do not hold for these two. All pairs of sides are judged instead. Let d be
the difference of the means of a pair, and k the number of sides.

* The range is *above* a limit if some d is. Each of the k (k - 1) ordered pairs is bet
  on at alpha over their number (Bonferroni), so no false claim about any pair is made
  with probability 1 - alpha.
* The range is *below* a limit if every d is. If it is not, there is one pair, fixed by
  the true means, whose d is at least the limit, and the claim is made only if the bet
  on that pair wins too. That has probability alpha: nothing is divided
  (intersection-union test, Berger 1982, Technometrics 24).
* The standard deviation S over the sides follows from all differences: ``S^2`` is the
  sum of d^2 over the unordered pairs, divided by k^2. So bounds for all |d| at once are
  bounds for S. Lower bounds of |d| are of ordered pairs, as for the range. An upper
  bound of |d| is wrong only in the direction in which d points, so alpha is divided by
  the k (k - 1) / 2 unordered pairs. A largest |d| of R bounds S too: S is at most R / 2
  (Popoviciu 1935), and at least R divided by the root of 2 k, where all others lie
  halfway between the two.
"""

import math
from collections.abc import Callable, Mapping
from functools import lru_cache
from itertools import combinations
from typing import Literal

import numpy as np
from scipy.special import gammaln, ndtr

from pytest_recsys_mt.oracles.arrays import Floats
from pytest_recsys_mt.oracles.statistics.betting import Bets
from pytest_recsys_mt.oracles.statistics.bounds import Mean, first_of

Kind = Literal["range", "deviation"]
"""The largest mean minus the smallest, or the standard deviation of all of them."""

_HALVINGS = 16


class Difference:
    """What is known of the difference of the means of two sides.

    Args:
        least: The smallest that each unit's difference can be, ``(n,)``, n at least 1.
        most: The largest, ``(n,)``; both are equal where the difference is known.
        width: The largest possible absolute difference.
    """

    def __init__(self, least: Floats, most: Floats, width: float) -> None:
        self._least = Bets(least, -width, width)
        self._most = Bets(most, -width, width)

    @lru_cache(maxsize=64)  # noqa: B019 - it lives as long as its verdict
    def bounds(self, alpha: float) -> tuple[float, float]:
        """Below and above the true difference with probability 1 - alpha each."""
        return self._least.lower(alpha), self._most.upper(alpha)

    def p_at_most(self, value: float) -> float:
        """P-value of the hypothesis that the difference is at most `value`."""
        return self._least.p_at_most(value)

    def p_at_least(self, value: float) -> float:
        """P-value of the hypothesis that it is at least `value`."""
        return self._most.p_at_least(value)


Pairs = Mapping[tuple[int, int], Difference]
"""The difference of the first side's mean minus that of the second, for each unordered
pair of sides.
"""


def range_of(means: Floats) -> float:
    """The largest minus the smallest."""
    return float(np.ptp(means))


def deviation_of(means: Floats) -> float:
    """The standard deviation over the sides, with their number below the line."""
    return float(means.std())


class Range(Mean):
    """The range of the means of several sides; see the module.

    Args:
        pairs: The difference of each unordered pair.
        estimate: The range of the observed means.
    """

    def __init__(self, pairs: Pairs, estimate: float) -> None:
        self.estimate = estimate
        self._pairs = list(pairs.values())

    def lower(self, alpha: float) -> float:
        low = 0.0
        for pair in self._pairs:
            least, most = pair.bounds(alpha / (2 * len(self._pairs)))
            low = max(low, least, -most)
        return min(self.estimate, low)

    def upper(self, alpha: float) -> float:
        high = 0.0
        for pair in self._pairs:
            least, most = pair.bounds(alpha)
            high = max(high, most, -least)
        return max(self.estimate, high)

    def p_at_most(self, value: float) -> float:
        if value < 0:
            return 0.0
        smallest = min(
            min(pair.p_at_most(value), pair.p_at_least(-value)) for pair in self._pairs
        )
        return min(1.0, 2 * len(self._pairs) * smallest)

    def p_at_least(self, value: float) -> float:
        if value <= 0:
            return 1.0
        return max(
            max(pair.p_at_least(value), pair.p_at_most(-value)) for pair in self._pairs
        )


class Deviation(Mean):
    """The standard deviation of the means of several sides; see the module.

    Args:
        pairs: The difference of each unordered pair.
        sides: How many sides there are.
        estimate: The deviation of the observed means.
    """

    def __init__(self, pairs: Pairs, sides: int, estimate: float) -> None:
        self.estimate = estimate
        self._pairs = list(pairs.values())
        self._sides = sides

    def lower(self, alpha: float) -> float:
        return min(self.estimate, self._low(alpha))

    def upper(self, alpha: float) -> float:
        return max(self.estimate, self._high(alpha))

    def p_at_most(self, value: float) -> float:
        return _smallest(lambda alpha: self._low(alpha) > value)

    def p_at_least(self, value: float) -> float:
        return _smallest(lambda alpha: self._high(alpha) < value)

    def _low(self, alpha: float) -> float:
        least = []
        for pair in self._pairs:
            low, high = pair.bounds(alpha / (2 * len(self._pairs)))
            least.append(max(0.0, low, -high))
        of_all = math.sqrt(sum(each**2 for each in least)) / self._sides
        return max(of_all, max(least) / math.sqrt(2 * self._sides))

    def _high(self, alpha: float) -> float:
        most = []
        for pair in self._pairs:
            low, high = pair.bounds(alpha / len(self._pairs))
            most.append(max(0.0, high, -low))
        of_all = math.sqrt(sum(each**2 for each in most)) / self._sides
        return min(of_all, max(most) / 2)


def _smallest(shown: Callable[[float], bool]) -> float:
    """The smallest error rate at which something is shown; 1 if it is at none."""
    return first_of(shown, _HALVINGS) if shown(0.5) else 1.0


def pairs_of(sides: int) -> list[tuple[int, int]]:
    """The unordered pairs of so many sides."""
    return list(combinations(range(sides), 2))


def expected_by_noise(kind: Kind, sides: int) -> float:
    """The mean spread of so many independent normal numbers of standard deviation 1."""
    if kind == "deviation":
        ratio = math.exp(gammaln(sides / 2) - gammaln((sides - 1) / 2))
        return math.sqrt(2 / sides) * ratio
    # The mean range is the integral of the probability that a point lies between the
    # smallest and the largest (Tippett 1925, Biometrika 17).
    points = np.linspace(-9.0, 9.0, 3601)
    below = ndtr(points)
    between = 1 - below**sides - (1 - below) ** sides
    return float(between.sum() * (points[1] - points[0]))
