"""Bounds for a ratio of two means, such as a chance-corrected agreement, by betting.

``E[over] / E[under]`` is at most v exactly if the mean of ``over - v under`` is at most
0, as long as `under` is never negative. That is a claim about the mean of bounded
independent numbers, so the bets of `betting` apply to it as they are.
"""

import math
from collections.abc import Callable, Sequence

import numpy as np

from pytest_recsys_mt.oracles.arrays import Floats
from pytest_recsys_mt.oracles.statistics.betting import Bets
from pytest_recsys_mt.oracles.statistics.bounds import Mean

_GRID = 40
"""Values that are tried between two others."""

_ZOOMS = 2


class Ratio(Mean):
    """The estimate of a ratio between -1 and 1 from independent pairs of numbers.

    Args:
        over: The numbers above the line, ``(n,)``, n at least 1.
        under: Those below it, ``(n,)``, none below 0.
        reach: Returns the smallest and the largest possible ``over - v under`` for v.
        unknown: Before which number each stands that is not known; as in `Bets`.
        estimate: The ratio that is reported.
    """

    def __init__(
        self,
        over: Floats,
        under: Floats,
        reach: Callable[[float], tuple[float, float]],
        unknown: Sequence[int],
        estimate: float,
    ) -> None:
        self.estimate = estimate
        self._over = over
        self._under = under
        self._reach = reach
        self._unknown = unknown

    def lower(self, alpha: float) -> float:
        rejected = lambda value: self.p_at_most(value) <= alpha
        # A wider interval is as valid, and one without its own estimate misleads.
        return min(self.estimate, _end(rejected, -1.0, 1.0))

    def upper(self, alpha: float) -> float:
        rejected = lambda value: self.p_at_least(value) <= alpha
        return max(self.estimate, _end(rejected, 1.0, -1.0))

    def p_at_most(self, value: float) -> float:
        return self._at(value).p_at_most(0.0)

    def p_at_least(self, value: float) -> float:
        return self._at(value).p_at_least(0.0)

    def _at(self, value: float) -> Bets:
        numbers = self._over - value * self._under
        return Bets(numbers, *self._reach(value), self._unknown, wide=True)


def _end(rejected: Callable[[float], bool], start: float, stop: float) -> float:
    """The last value on the way from `start` up to which all that are tried are
    rejected; `start` if it is not.
    """
    if not rejected(start):
        return start
    for _ in range(_ZOOMS):
        values = np.linspace(start, stop, _GRID + 1)[1:]
        for value in map(float, values):
            if not rejected(value):
                stop = value
                break
            start = value
        if math.isclose(start, stop):
            break
    return start
