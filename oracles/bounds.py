"""One-sided bounds and p-values for the mean of an effect over users.

Three ways to bound a mean, behind one protocol, so that a verdict does not know which it is given:

* `Student`: the t distribution, corrected for skewness, for effects that vary over many users;
* `Gaffke`: distribution-free for effects of a known range, for deterministic recommenders and for
  effects that hardly vary, where a t-test would claim certainty it does not have;
* `SignFlips`: the permutation test of paired differences, for few users.

Every bound and p-value of one object agree: ``lower(alpha) > value`` if and only if
``p_at_most(value) <= alpha`` (but for the equality, which has probability 0).
"""

from __future__ import annotations

import math
from typing import Protocol

import numpy as np

from pytest_recsys_mt.oracles.drawn import Gaffke, SignFlips
from pytest_recsys_mt.oracles.kernel import Floats

ENOUGH_VARIATION = 10
"""So many users must differ from the most common effect before a t distribution is trusted."""

TAIL_UNSEEN = 1.25
"""With it neither claim errs more often than declared on any of the effects of
`benchmarks/looks.py`; with 1, "violated" took 0.058 to 0.060 for effects skewed to the left."""

FEW_USERS = 30
"""Below it paired differences of scores are judged by sign flips instead of a t distribution."""


class Mean(Protocol):
    """What is known of the mean effect of all users from those in the sample."""

    @property
    def estimate(self) -> float:
        """The mean of the sample."""
        ...

    def lower(self, alpha: float) -> float:
        """Below the true mean with probability 1 - alpha."""
        ...

    def upper(self, alpha: float) -> float:
        """Above the true mean with probability 1 - alpha."""
        ...

    def p_at_most(self, value: float) -> float:
        """P-value of the hypothesis that the true mean is at most `value`."""
        ...

    def p_at_least(self, value: float) -> float:
        """P-value of the hypothesis that the true mean is at least `value`."""
        ...


def mean_of(effects: Floats, low: float, high: float, exact: bool) -> Mean:
    """The bounds that suit these effects.

    Args:
        effects: One a user, ``(n,)``, n at least 1.
        low: Smallest effect there can be.
        high: Largest effect there can be.
        exact: Never approximate by a t distribution (deterministic recommenders).

    Returns:
        `Student` where effects vary over enough users, `Gaffke` otherwise.
    """
    if exact or differing(effects) < ENOUGH_VARIATION:
        return Gaffke(effects, low, high)
    return Student(effects)


def mean_difference_of(differences: Floats, low: float, high: float) -> Mean:
    """The bounds that suit paired differences of a score.

    Args:
        differences: One a user, ``(n,)``, n at least 1.
        low: Smallest difference there can be.
        high: Largest difference there can be.

    Returns:
        `SignFlips` for few users most of which differ, otherwise as `mean_of`.
    """
    users = len(differences)
    if users < FEW_USERS and 2 * differing(differences) >= users:
        return SignFlips(differences, low, high)
    return mean_of(differences, low, high, exact=False)


def differing(effects: Floats) -> int:
    """How many users differ from the most common effect, rounding apart."""
    counts = np.unique(np.round(effects, 12), return_counts=True)[1]
    return int(len(effects) - counts.max())


def with_unmeasured(mean: Mean, effects: Floats, users: int, reach: tuple[float, float]) -> Mean:
    """The bounds where the effects of further users are not known, only that they are in `reach`.

    Args:
        mean: Of the users measured.
        effects: Theirs, ``(n,)``.
        users: How many others there are.
        reach: The smallest and the largest effect there can be.

    Returns:
        `mean` itself where there are no others.
    """
    if not users:
        return mean
    exact = isinstance(mean, Gaffke)
    ends = (mean_of(np.append(effects, [end] * users), *reach, exact) for end in reach)
    return Between(mean.estimate, *ends)


class Between:
    """Bounds of a mean that lies between two others, with an estimate of its own.

    Each bound is that of the one it is wider of, so it is right whichever of the two is true.
    """

    def __init__(self, estimate: float, *ends: Mean) -> None:
        self.estimate = estimate
        self._ends = ends

    def lower(self, alpha: float) -> float:
        """See `Mean`."""
        return min(end.lower(alpha) for end in self._ends)

    def upper(self, alpha: float) -> float:
        """See `Mean`."""
        return max(end.upper(alpha) for end in self._ends)

    def p_at_most(self, value: float) -> float:
        """See `Mean`."""
        return max(end.p_at_most(value) for end in self._ends)

    def p_at_least(self, value: float) -> float:
        """See `Mean`."""
        return max(end.p_at_least(value) for end in self._ends)


class Student:
    """Bounds by the t distribution with n - 1 degrees of freedom, corrected for skewness.

    Where some users react and others do not, effects are skewed, and the plain t-test takes twice
    its error rate on the side of the short tail (measured: 0.08 to 0.11 instead of 0.05 with 30 to
    50 users). The cubic transformation of Hall 1992, J. R. Stat. Soc. B 54(1), removes the first
    order of that: with ``r = skewness / sqrt(n)``, ``g(t) = t + r (t**2/3 + 1/6) + r**2 t**3/27``
    takes the place of t. It grows with t throughout, and is t itself for symmetric effects.

    A sample that lacks the far end of the tail looks less skewed than the effects are, so towards
    the short tail the correction is made `TAIL_UNSEEN` times as strong.
    """

    def __init__(self, effects: Floats) -> None:
        users = len(effects)
        self.estimate = float(effects.mean())
        self._freedom = users - 1
        centred = effects - self.estimate
        variance = float(np.mean(centred**2))
        self._error = math.sqrt(variance / self._freedom)
        unbiased = math.sqrt(users * (users - 1)) / (users - 2)
        skewness = float(np.mean(centred**3)) / (variance * math.sqrt(variance)) * unbiased
        r = skewness / math.sqrt(users)
        self._r_below = r * TAIL_UNSEEN if r < 0 else r
        self._r_above = r * TAIL_UNSEEN if r > 0 else r

    def lower(self, alpha: float) -> float:
        """See `Mean`."""
        return self.estimate - _back(self._quantile(1 - alpha), self._r_below) * self._error

    def upper(self, alpha: float) -> float:
        """See `Mean`."""
        return self.estimate - _back(self._quantile(alpha), self._r_above) * self._error

    def p_at_most(self, value: float) -> float:
        """See `Mean`."""
        return self._below(-self._transformed(value, self._r_below))

    def p_at_least(self, value: float) -> float:
        """See `Mean`."""
        return self._below(self._transformed(value, self._r_above))

    def _transformed(self, value: float, r: float) -> float:
        t = (self.estimate - value) / self._error
        return t + r * (t**2 / 3 + 1 / 6) + r**2 * t**3 / 27

    def _quantile(self, probability: float) -> float:
        from scipy.special import stdtrit

        return float(stdtrit(self._freedom, probability))

    def _below(self, t: float) -> float:
        from scipy.special import stdtr

        return float(stdtr(self._freedom, t))


def _back(quantile: float, r: float) -> float:
    """The t whose transform is `quantile`."""
    if abs(r) < 1e-9:  # symmetric effects, where the formula below divides by nothing
        return quantile
    return 3 * (math.cbrt(1 + r * (quantile - r / 6)) - 1) / r


class Rate:
    """Bounds for the share of users with a property (Clopper and Pearson 1934, Biometrika 26)."""

    def __init__(self, count: int, users: int) -> None:
        self.estimate = count / users
        self._count, self._users = count, users

    def lower(self, alpha: float) -> float:
        """See `Mean`."""
        from scipy.special import betaincinv

        count, users = self._count, self._users
        return 0.0 if count == 0 else float(betaincinv(count, users - count + 1, alpha))

    def upper(self, alpha: float) -> float:
        """See `Mean`."""
        from scipy.special import betaincinv

        count, users = self._count, self._users
        return 1.0 if count == users else float(betaincinv(count + 1, users - count, 1 - alpha))

    def p_at_most(self, value: float) -> float:
        """See `Mean`."""
        from scipy.special import bdtrc

        if not 0 <= value <= 1:  # no rate is there
            return float(value > 1)
        return 1.0 if self._count == 0 else float(bdtrc(self._count - 1, self._users, value))

    def p_at_least(self, value: float) -> float:
        """See `Mean`."""
        from scipy.special import bdtr

        if not 0 <= value <= 1:  # no rate is there
            return float(value < 0)
        return float(bdtr(self._count, self._users, value))


class Certain:
    """A mean that is known, such as the self-agreement of a deterministic recommender."""

    def __init__(self, value: float) -> None:
        self.estimate = value

    def lower(self, alpha: float) -> float:
        """See `Mean`."""
        return self.estimate

    def upper(self, alpha: float) -> float:
        """See `Mean`."""
        return self.estimate

    def p_at_most(self, value: float) -> float:
        """See `Mean`."""
        return 1.0 if self.estimate <= value else 0.0

    def p_at_least(self, value: float) -> float:
        """See `Mean`."""
        return 1.0 if self.estimate >= value else 0.0
