"""Bounds for a number of all users together, by the jackknife over users; approximate, not proven.

A number such as a coverage is no mean over users, so that nothing bounds what a user adds to it and no
bet on users is fair. The jackknife says how it varies: each user is left out in turn, and the n values
that follow are treated as the users of a mean. Two things make that err too often. A sample in which
nobody differs says that nothing varies: so two users are imagined who would move the number as far as one
user can, one up and one down (as Agresti and Caffo 2000, The American Statistician 54(4), do for shares).
And where the number hangs on a few users, n - 1 degrees of freedom are too many: the variance of a
variance grows with the kurtosis, and the degrees are as many as a variance of that variance has
(Satterthwaite 1946, Biometrics Bulletin 2(6)).

`benchmarks/aggregates.py` measures how often the bounds miss. No theorem says that it is at most the
declared rate, so whatever shows these bounds calls them approximate.
"""

from __future__ import annotations

import math

import numpy as np

from pytest_recsys_mt.oracles.arrays import Floats
from pytest_recsys_mt.oracles.statistics.bounds import Mean


def linearised(value: float, without: Floats) -> Floats:
    """How much each user adds to a number of all users, as values whose mean is the number.

    ``e_i = S + (n - 1) (mean_j S_(j) - S_(i))``, with ``S_(i)`` the number without user i. For a mean
    over users they are the users' own values. Their variance over n is the jackknife estimate of the
    variance of S, which on average is not too small, whatever symmetric function of independent
    users S is (Efron and Stein 1981, Annals of Statistics 9(3)).

    Args:
        value: The number of all users, S.
        without: The number of all but each, ``(n,)``.

    Returns:
        ``(n,)``.
    """
    values: Floats = value + (len(without) - 1) * (without.mean() - without)
    return values


class Jackknife(Mean):
    """What is known of a number of all users from those in the sample; a `bounds.Mean`.

    Args:
        values: As in `linearised`, ``(n,)``, n at least 1.
        low: The smallest possible number.
        high: The largest possible number.
        one: How far the value of a user who was not seen may be from the number.
    """

    def __init__(self, values: Floats, low: float, high: float, one: float) -> None:
        self.estimate = float(values.mean())
        self._low, self._high = low, high
        squares = np.append(values - self.estimate, (-one, one)) ** 2
        users = len(squares)
        self._error = math.sqrt(float(squares.sum()) / (users * (users - 1)))
        kurtosis = float((squares**2).mean() / squares.mean() ** 2)
        self._freedom = min(users - 1, 2 / ((kurtosis - 3) / users + 2 / (users - 1)))

    def lower(self, alpha: float) -> float:
        """See `bounds.Mean`."""
        return max(self._low, self.estimate - self._quantile(alpha) * self._error)

    def upper(self, alpha: float) -> float:
        """See `bounds.Mean`."""
        return min(self._high, self.estimate + self._quantile(alpha) * self._error)

    def p_at_most(self, value: float) -> float:
        """See `bounds.Mean`."""
        return 0.0 if value < self._low else self._below((value - self.estimate) / self._error)

    def p_at_least(self, value: float) -> float:
        """See `bounds.Mean`."""
        return 0.0 if value > self._high else self._below((self.estimate - value) / self._error)

    def _quantile(self, alpha: float) -> float:
        from scipy.special import stdtrit

        return float(stdtrit(self._freedom, 1 - alpha))

    def _below(self, t: float) -> float:
        from scipy.special import stdtr

        return float(stdtr(self._freedom, t))
