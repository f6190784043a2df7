"""Bounds of a quantile, of any law, by the order of independent values (Clopper and
Pearson 1934, Biometrika 26, for the share of values below it).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import bdtr, bdtrc

__all__: list[str] = []


@dataclass(frozen=True)
class Quantile:
    """A quantile of the law of which some values were observed.

    Attributes:
        share: The share of the law that lies at or below the quantile, in (0, 1).
        values: The observed values.
        unknown: Further values that are not known: above every limit for the upper
            bound, and below every limit for the lower one.
    """

    share: float
    values: Sequence[float]
    unknown: int = 0

    @property
    def estimate(self) -> float:
        """The smallest observed value with at least `share` of them at or below it."""
        rank = math.ceil(self.share * len(self.values) - 1e-9)
        return float(np.sort(self.values)[max(0, rank - 1)])

    def p_at_least(self, limit: float) -> float:
        """P-value of the hypothesis that the quantile is above `limit`: small if too
        many values are at or below it.
        """
        within = sum(value <= limit for value in self.values)
        return self._p_many_within(within)

    def p_at_most(self, limit: float) -> float:
        """P-value of the hypothesis that the quantile is at most `limit`: small if too
        many values are above it.
        """
        above = sum(value > limit for value in self.values)
        return self._p_many_above(above)

    def upper(self, alpha: float) -> float:
        """At or above the quantile with probability 1 - alpha at least; infinity if the
        values are too few.
        """
        ordered = np.sort(self.values)
        for rank, value in enumerate(ordered, start=1):
            if self._p_many_within(rank) <= alpha:
                return float(value)
        return math.inf

    def lower(self, alpha: float) -> float:
        """At or below the quantile with probability 1 - alpha at least; 0 if the values
        are too few.
        """
        descending = np.sort(self.values)[::-1]
        for above, value in enumerate(descending, start=1):
            if self._p_many_above(above) <= alpha:
                return float(value)
        return 0.0

    @property
    def _number(self) -> int:
        return len(self.values) + self.unknown

    def _p_many_within(self, within: int) -> float:
        """The chance of so many values within a limit that the quantile is above."""
        if within == 0:
            return 1.0
        return float(bdtrc(within - 1, self._number, self.share))

    def _p_many_above(self, above: int) -> float:
        """The chance of so many values above a limit that the quantile is within."""
        if above == 0:
            return 1.0
        # At most number - above values lie within, each with `share` or more.
        return float(bdtr(self._number - above, self._number, self.share))


def fewest(share: float, alpha: float) -> int:
    """How many values an upper bound of a quantile needs, if none is above it."""
    return math.ceil(math.log(alpha) / math.log(share) - 1e-9)
