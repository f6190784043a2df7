"""Bounds for a mean by drawing: distribution-free ones, and those of the sign-flip test.

Both see a bound as a quantile of means drawn once, so that all bounds and p-values of one object
come from the same draws and agree (see `bounds.Mean`).
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from pytest_recsys_mt.oracles.kernel import Floats

DRAWS = 19_999
"""Monte Carlo draws of a bound; with it p-values are multiples of 1/20000, and alpha of 0.05 is
met exactly."""

_SEED = 20_051  # Of the Monte Carlo draws alone: a verdict is a function of the answers.
_CELLS = 2_000_000


def unseen_share(users: int, alpha: float) -> float:
    """The largest share of users that could still differ where none of `users` did."""
    return float(1 - alpha ** (1 / users))


class _Drawn:
    """Bounds that are quantiles of drawn means: one set of draws a side."""

    def __init__(
        self, estimate: float, below: Floats, above: Floats, low: float, high: float
    ) -> None:
        self.estimate = estimate
        self._low, self._high = low, high
        self._below = np.sort(below)
        self._above = np.sort(above)

    def lower(self, alpha: float) -> float:
        """See `Mean`."""
        rank = _rank(alpha, len(self._below))
        return float(self._below[rank]) if rank >= 0 else self._low

    def upper(self, alpha: float) -> float:
        """See `Mean`."""
        rank = _rank(alpha, len(self._above))
        return float(self._above[-1 - rank]) if rank >= 0 else self._high

    def p_at_most(self, value: float) -> float:
        """See `Mean`."""
        reached = int(np.searchsorted(self._below, value, side="right"))
        return (reached + 1) / (len(self._below) + 1)

    def p_at_least(self, value: float) -> float:
        """See `Mean`."""
        reached = len(self._above) - int(np.searchsorted(self._above, value, side="left"))
        return (reached + 1) / (len(self._above) + 1)


class Gaffke(_Drawn):
    """Distribution-free bounds for effects in ``[low, high]``.

    The upper bound is the (1 - alpha) quantile of ``sum_i w_i x_i + w_0 high`` over w drawn from
    the flat Dirichlet distribution on n + 1 weights; the lower bound mirrors it. For effects of 0
    and 1 it is the bound of Clopper and Pearson. Gaffke 2005, Mathematical Methods of Statistics
    14(1); Learned-Miller and Thomas 2019, arXiv:1905.06208, who find it nowhere short of its level
    but leave the general proof open.
    """

    def __init__(self, effects: Floats, low: float, high: float, draws: int = DRAWS) -> None:
        values, counts = np.unique(np.round(effects, 12), return_counts=True)
        self._users = len(effects)
        self._only = float(values[0]) if len(values) == 1 else None
        if self._only is not None:
            super().__init__(self._only, np.empty(0), np.empty(0), low, high)
            return
        # Weights of equal effects add up to a gamma variate: a few columns instead of n.
        shape = np.concatenate([counts, [1]])
        value = np.concatenate([values, [0.0]])
        rng = np.random.default_rng(_SEED)
        below, above = np.empty(draws), np.empty(draws)
        step = max(1, _CELLS // len(shape))
        for start in range(0, draws, step):
            rows = slice(start, min(start + step, draws))
            weights = rng.standard_gamma(shape, size=(rows.stop - rows.start, len(shape)))
            total = weights.sum(axis=1)
            part = weights @ value
            below[rows] = (part + weights[:, -1] * low) / total
            above[rows] = (part + weights[:, -1] * high) / total
        super().__init__(float(effects.mean()), below, above, low, high)

    def lower(self, alpha: float) -> float:
        """See `Mean`; exact, ``x - (x - low) (1 - alpha**(1/n))``, where all effects are x."""
        if self._only is None:
            return super().lower(alpha)
        return self._only - (self._only - self._low) * unseen_share(self._users, alpha)

    def upper(self, alpha: float) -> float:
        """See `Mean`; exact, ``x + (high - x) (1 - alpha**(1/n))``, where all effects are x."""
        if self._only is None:
            return super().upper(alpha)
        return self._only + (self._high - self._only) * unseen_share(self._users, alpha)

    def p_at_most(self, value: float) -> float:
        """See `Mean`."""
        if self._only is None:
            return super().p_at_most(value)
        return _p_of_unseen(self._only - value, self._only - self._low, self._users)

    def p_at_least(self, value: float) -> float:
        """See `Mean`."""
        if self._only is None:
            return super().p_at_least(value)
        return _p_of_unseen(value - self._only, self._high - self._only, self._users)


class SignFlips(_Drawn):
    """Bounds of the sign-flip permutation test, for differences that are symmetric about the mean.

    A flip pattern makes the flipped mean at least as extreme as the observed one exactly if the
    mean of the flipped users lies on the other side of the value tested. So means of random subsets
    of the users, drawn once, give p-values ``(c + 1) / (draws + 1)`` and bounds for every value
    (the typical values of Hartigan 1969, JASA 64).
    """

    def __init__(self, differences: Floats, low: float, high: float, draws: int = DRAWS) -> None:
        flipped = _flips(draws, len(differences))
        sizes = flipped.sum(axis=1)
        sums = flipped @ differences
        # The pattern without any flip is the observed one: as extreme as itself for every value.
        below, above = np.full(draws, float(low)), np.full(draws, float(high))
        np.divide(sums, sizes, out=below, where=sizes > 0)
        np.divide(sums, sizes, out=above, where=sizes > 0)
        super().__init__(float(differences.mean()), below, above, low, high)


@lru_cache(maxsize=4)
def _flips(draws: int, users: int) -> NDArray[np.bool_]:
    """Which users are flipped in each draw, ``(draws, users)``; the same for all relations."""
    flipped: NDArray[np.bool_] = np.random.default_rng(_SEED).random((draws, users)) < 0.5
    return flipped


def _rank(alpha: float, draws: int) -> int:
    """The order statistic at which the Monte Carlo p-value ``(c + 1) / (draws + 1)`` is alpha."""
    return math.floor(alpha * (draws + 1) + 1e-9) - 1


def _p_of_unseen(distance: float, reach: float, users: int) -> float:
    """P-value where all users are `distance` off the value and an unseen one could be `reach`."""
    if distance <= 0:
        return 1.0
    return float((1 - min(distance / reach, 1.0)) ** users)
