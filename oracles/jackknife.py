"""Bounds of a number of all users together, by the jackknife: approximate ones."""

from __future__ import annotations

import math

from pytest_recsys_mt.oracles.bounds import Mean
from pytest_recsys_mt.oracles.kernel import Floats


class Jackknife(Mean):
    """The t distribution of the mean of pseudo-values, with n - 1 degrees of freedom.

    Args:
        values: One a user, ``(n,)``; see `aggregate_effects.linearised`.
    """

    def __init__(self, values: Floats) -> None:
        self.estimate = float(values.mean())
        self._freedom = max(1, len(values) - 1)
        self._error = (
            float(values.std(ddof=1)) / math.sqrt(len(values)) if len(values) > 1 else math.inf
        )

    def lower(self, alpha: float) -> float:
        """See `Mean`."""
        return self.estimate - self._quantile(alpha)

    def upper(self, alpha: float) -> float:
        """See `Mean`."""
        return self.estimate + self._quantile(alpha)

    def p_at_most(self, value: float) -> float:
        """See `Mean`."""
        return self._below(value - self.estimate)

    def p_at_least(self, value: float) -> float:
        """See `Mean`."""
        return self._below(self.estimate - value)

    def _quantile(self, alpha: float) -> float:
        from scipy.special import stdtrit

        return float(stdtrit(self._freedom, 1 - alpha)) * self._error

    def _below(self, distance: float) -> float:
        from scipy.special import stdtr

        if not self._error:
            return float(distance >= 0)
        return float(stdtr(self._freedom, distance / self._error))
