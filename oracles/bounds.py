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
from numpy.typing import NDArray

Floats = NDArray[np.float64]

DRAWS = 19_999
"""Monte Carlo draws of a bound; with it p-values are multiples of 1/20000, and alpha of 0.05 is
met exactly."""

ENOUGH_VARIATION = 10
"""So many users must differ from the most common effect before a t distribution is trusted."""

FEW_USERS = 30
"""Below it paired differences of scores are judged by sign flips instead of a t distribution."""

_SEED = 20_051  # Of the Monte Carlo draws alone: a verdict is a function of the answers.
_CELLS = 2_000_000


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


class Student:
    """Bounds by the t distribution with n - 1 degrees of freedom, corrected for skewness.

    Where some users react and others do not, effects are skewed, and the plain t-test takes twice
    its error rate on the side of the short tail (measured: 0.08 to 0.11 instead of 0.05 with 30 to
    50 users). The cubic transformation of Hall 1992, J. R. Stat. Soc. B 54(1), removes the first
    order of that: with ``r = skewness / sqrt(n)``, ``g(t) = t + r (t**2/3 + 1/6) + r**2 t**3/27``
    takes the place of t. It grows with t throughout, and is t itself for symmetric effects.
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
        self._r = skewness / math.sqrt(users)

    def lower(self, alpha: float) -> float:
        """See `Mean`."""
        return self.estimate - self._back(self._quantile(1 - alpha)) * self._error

    def upper(self, alpha: float) -> float:
        """See `Mean`."""
        return self.estimate - self._back(self._quantile(alpha)) * self._error

    def p_at_most(self, value: float) -> float:
        """See `Mean`."""
        return self._below(-self._transformed(value))

    def p_at_least(self, value: float) -> float:
        """See `Mean`."""
        return self._below(self._transformed(value))

    def _transformed(self, value: float) -> float:
        t, r = (self.estimate - value) / self._error, self._r
        return t + r * (t**2 / 3 + 1 / 6) + r**2 * t**3 / 27

    def _back(self, quantile: float) -> float:
        """The t whose transform is `quantile`."""
        r = self._r
        if abs(r) < 1e-9:  # symmetric effects, where the formula below divides by nothing
            return quantile
        return 3 * (math.cbrt(1 + r * (quantile - r / 6)) - 1) / r

    def _quantile(self, probability: float) -> float:
        from scipy.special import stdtrit

        return float(stdtrit(self._freedom, probability))

    def _below(self, t: float) -> float:
        from scipy.special import stdtr

        return float(stdtr(self._freedom, t))


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


def _rank(alpha: float, draws: int) -> int:
    """The order statistic at which the Monte Carlo p-value ``(c + 1) / (draws + 1)`` is alpha."""
    return math.floor(alpha * (draws + 1) + 1e-9) - 1


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


def unseen_share(users: int, alpha: float) -> float:
    """The largest share of users that could still differ where none of `users` did."""
    return float(1 - alpha ** (1 / users))


def _p_of_unseen(distance: float, reach: float, users: int) -> float:
    """P-value where all users are `distance` off the value and an unseen one could be `reach`."""
    if distance <= 0:
        return 1.0
    return float((1 - min(distance / reach, 1.0)) ** users)


class SignFlips(_Drawn):
    """Bounds of the sign-flip permutation test, for differences that are symmetric about the mean.

    A flip pattern makes the flipped mean at least as extreme as the observed one exactly if the
    mean of the flipped users lies on the other side of the value tested. So means of random subsets
    of the users, drawn once, give p-values ``(c + 1) / (draws + 1)`` and bounds for every value
    (the typical values of Hartigan 1969, JASA 64).
    """

    def __init__(self, differences: Floats, low: float, high: float, draws: int = DRAWS) -> None:
        rng = np.random.default_rng(_SEED)
        flipped = rng.random((draws, len(differences))) < 0.5
        sizes = flipped.sum(axis=1)
        sums = flipped @ differences
        # The pattern without any flip is the observed one: as extreme as itself for every value.
        below, above = np.full(draws, float(low)), np.full(draws, float(high))
        np.divide(sums, sizes, out=below, where=sizes > 0)
        np.divide(sums, sizes, out=above, where=sizes > 0)
        super().__init__(float(differences.mean()), below, above, low, high)


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

        return 1.0 if self._count == 0 else float(bdtrc(self._count - 1, self._users, value))

    def p_at_least(self, value: float) -> float:
        """See `Mean`."""
        from scipy.special import bdtr

        return float(bdtr(self._count, self._users, value))
