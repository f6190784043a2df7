"""One protocol for estimates of the mean of an effect over users.

`betting.Bets` implements it for effects of a known range, at every number of users.
This module has the exceptions: a share in a sample of fixed size, and a known mean.
"""

import math
from collections.abc import Callable
from typing import Protocol

import numpy as np
from scipy.special import bdtr, bdtrc, betaincinv, stdtr, stdtrit

from pytest_recsys_mt.oracles.arrays import Floats


class Mean(Protocol):
    """The estimate of all users' mean effect from the users in the sample."""

    estimate: float
    """The mean of the sample."""

    def lower(self, alpha: float) -> float:
        """Below the true mean with probability 1 - alpha."""

    def upper(self, alpha: float) -> float:
        """Above the true mean with probability 1 - alpha."""

    def p_at_most(self, value: float) -> float:
        """P-value of the hypothesis that the true mean is at most `value`."""

    def p_at_least(self, value: float) -> float:
        """P-value of the hypothesis that the true mean is at least `value`."""

    def p_within(self, value: float) -> float:
        """P-value of the hypothesis that the true mean is between ``-value`` and
        `value`.

        By default from the p-values of both sides (Bonferroni).
        """
        return min(1.0, 2 * min(self.p_at_most(value), self.p_at_least(-value)))


def first_of(shown: Callable[[float], bool], halvings: int) -> float:
    """The first number in (0, 1) for which something is shown, by bisection.

    Args:
        shown: Whether it is shown for a number; if so, also for all larger ones.
        halvings: How often the interval is halved.
    """
    low = 0.0
    high = 1.0
    for _ in range(halvings):
        middle = (low + high) / 2
        if shown(middle):
            high = middle
        else:
            low = middle
    return high


class Rate(Mean):
    """Bounds for a share in a sample of fixed size (Clopper and Pearson 1934,
    Biometrika 26).

    They are exact for one look at one sample. For users asked step by step, use
    `betting.Bets`.

    Args:
        count: The users with a property.
        users: All users of whom it is known whether they have it.
        unknown: Further users, of whom it is unknown.
    """

    def __init__(self, count: int, users: int, unknown: int = 0) -> None:
        self.estimate = count / users if users else math.nan
        self._least = count
        self._most = count + unknown
        self._users = users + unknown

    def lower(self, alpha: float) -> float:
        count = self._least
        if count == 0:
            return 0.0
        return float(betaincinv(count, self._users - count + 1, alpha))

    def upper(self, alpha: float) -> float:
        count = self._most
        if count == self._users:
            return 1.0
        return float(betaincinv(count + 1, self._users - count, 1 - alpha))

    def p_at_most(self, value: float) -> float:
        if not 0 <= value <= 1:  # no rate is there
            return float(value > 1)
        if self._least == 0:
            return 1.0
        return float(bdtrc(self._least - 1, self._users, value))

    def p_at_least(self, value: float) -> float:
        if not 0 <= value <= 1:  # no rate is there
            return float(value < 0)
        return float(bdtr(self._most, self._users, value))


class Student(Mean):
    """Bounds of one number by Student's t, or of several, each at the error rate over
    their number.

    Args:
        numbers: The estimates, ``(ways,)``.
        errors: Their standard errors, ``(ways,)``.
        freedoms: Their degrees of freedom, ``(ways,)``.
        ways: How many numbers there are.
    """

    def __init__(
        self,
        numbers: Floats | float,
        errors: Floats | float,
        freedoms: Floats | float,
        ways: int,
    ) -> None:
        self._numbers = numbers
        self._errors = errors
        self._freedoms = freedoms
        self._ways = ways

    def lower(self, alpha: float) -> float:
        return float(np.min(self._numbers - self._quantiles(alpha) * self._errors))

    def upper(self, alpha: float) -> float:
        return float(np.max(self._numbers + self._quantiles(alpha) * self._errors))

    def p_at_most(self, value: float) -> float:
        return self._tail((value - self._numbers) / self._errors)

    def p_at_least(self, value: float) -> float:
        return self._tail((self._numbers - value) / self._errors)

    def _quantiles(self, alpha: float) -> Floats | float:
        return np.asarray(stdtrit(self._freedoms, 1 - alpha / self._ways), np.float64)

    def _tail(self, t: Floats | float) -> float:
        largest = np.max(stdtr(self._freedoms, t))
        return float(min(1.0, self._ways * largest))


TIE = 1e-9
"""Numbers that differ by less are equal: rounding decides no claim."""


class Certain(Mean):
    """A mean that is known, such as the self-agreement of a deterministic recommender.

    Args:
        value: The mean.
        judged: The value that is judged in its place; None judges the mean itself.
    """

    def __init__(self, value: float, judged: float | None = None) -> None:
        self.estimate = value
        self._judged = value if judged is None else judged

    def lower(self, alpha: float) -> float:
        return self.estimate

    def upper(self, alpha: float) -> float:
        return self.estimate

    def p_at_most(self, value: float) -> float:
        return 1.0 if self._judged <= value + TIE else 0.0

    def p_at_least(self, value: float) -> float:
        return 1.0 if self._judged >= value - TIE else 0.0
