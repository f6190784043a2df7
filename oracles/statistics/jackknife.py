"""Bounds for a number of all users together, by the jackknife over users; approximate,
not proven.

A number such as a coverage is not a mean over users. So nothing bounds the effect of
a user on it, and bets on users are not fair. The jackknife estimates how the number
varies: each user is left out in turn, and the n resulting values are treated as the
users of a mean. Two imagined users are added who move the number as far as one user
can, one up and one down (as Agresti and Caffo 2000, The American Statistician 54(4), do
for shares), because equal users do not prove a variance of 0. The degrees of freedom
are matched to the variance of the variance, which grows with the kurtosis
(Satterthwaite 1946, Biometrics Bulletin 2(6)).

`benchmarks/aggregates.py` measures how often the bounds miss. No theorem limits this to
the declared rate, so reports call these bounds approximate.
"""

import math

import numpy as np

from pytest_recsys_mt.oracles.arrays import Floats
from pytest_recsys_mt.oracles.statistics.bounds import Student


def linearised(value: float, without: Floats) -> Floats:
    """The contribution of each user to a number of all users, as values, ``(n,)``,
    whose mean is the number.

    ``e_i = S + (n - 1) (mean_j S_(j) - S_(i))``, with S the `value` and ``S_(i)`` the
    number without user i. For a mean over users, these are the users' own values. Their
    variance over n is the jackknife estimate of the variance of S. On average it is not
    too small, for any symmetric function S of independent users (Efron and Stein 1981,
    Annals of Statistics 9(3)).
    """
    values: Floats = value + (len(without) - 1) * (without.mean() - without)
    return values


class Jackknife(Student):
    """The estimate of a number of all users, from `low` to `high`, from the users in
    the sample; a `bounds.Mean`.

    Args:
        values: As in `linearised`, ``(n,)``, n at least 1.
        low: The smallest possible number.
        high: The largest possible one.
        one: How far the value of an unseen user may be from the number.
    """

    def __init__(self, values: Floats, low: float, high: float, one: float) -> None:
        self.estimate = float(values.mean())
        self._low = low
        self._high = high
        deviations = np.append(values - self.estimate, (-one, one))
        squares = deviations**2
        users = len(squares)
        error = math.sqrt(float(squares.sum()) / (users * (users - 1)))
        kurtosis = float((squares**2).mean() / squares.mean() ** 2)
        freedom = min(users - 1, 2 / ((kurtosis - 3) / users + 2 / (users - 1)))
        super().__init__(self.estimate, error, freedom, 1)

    def lower(self, alpha: float) -> float:
        return max(self._low, super().lower(alpha))

    def upper(self, alpha: float) -> float:
        return min(self._high, super().upper(alpha))

    def p_at_most(self, value: float) -> float:
        if value < self._low:
            return 0.0
        return super().p_at_most(value)

    def p_at_least(self, value: float) -> float:
        if value > self._high:
            return 0.0
        return super().p_at_least(value)
