"""How much worse the mean of this run is than that of the
baseline, of users who have a value in both.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pytest_recsys_mt.oracles.arrays import Floats
from pytest_recsys_mt.oracles.statistics.betting import Bets
from pytest_recsys_mt.oracles.statistics.bounds import Mean
from pytest_recsys_mt.oracles.statistics.jackknife import Jackknife

_ROUNDING = 2e-5
"""How far a value may be off for its digits, as a share of
the largest: a record keeps six of them.
"""

_SIGNS = (1, -1)
"""The signs that the values of both runs are multiplied by."""


@dataclass(frozen=True)
class Side:
    """The values of the users of one run.

    Attributes:
        values: One for each user, ``(users,)``.
        reach: The smallest and the largest possible value; empty if it is not known.
        joint: Whether they are the pseudo-values of a number of all users together.
        unknown: Positions at which users stand whose value could not be read.
    """

    values: Floats
    reach: Sequence[float]
    joint: bool
    unknown: Sequence[int] = ()

    def ends(self) -> tuple[float, float]:
        """The range of its values; an untrusted record may
        hold a value beyond its reach.
        """
        possible = (*self.reach, self.values.min(), self.values.max())
        return float(min(possible)), float(max(possible))

    def signed_ends(self, sign: int) -> tuple[float, float]:
        """The range of its values times 1 or -1, the smaller end first."""
        low, high = sorted(sign * end for end in self.ends())
        return low, high


def difference(sign: int, new: Side, old: Side) -> Mean:
    """How much larger the mean of `new` is, with both
    values times `sign`, which is 1 or -1.
    """
    return _signed_difference(sign, new, sign, old)


def _signed_difference(new_sign: int, new: Side, old_sign: int, old: Side) -> Mean:
    """The mean of the new values times a sign, less the old ones times a sign."""
    effects = new_sign * new.values - old_sign * old.values
    if new.joint:
        return _of_pseudo_values(effects, new, old)
    new_low, new_high = new.signed_ends(new_sign)
    old_low, old_high = old.signed_ends(old_sign)
    return Bets(effects, new_low - old_high, new_high - old_low, new.unknown)


def _of_pseudo_values(effects: Floats, new: Side, old: Side) -> Mean:
    """The mean of the differences of the pseudo-values of an aggregate,
    ``(users,)``.
    """
    # If one user's answer changes, all values of an aggregate shift a little, and the
    # record keeps six digits: values that differ by less are one shift.
    largest_value = max(abs(new.values).max(), abs(old.values).max())
    digits = _ROUNDING * largest_value
    shift = np.median(effects)
    is_shift = abs(effects - shift) <= digits
    effects = np.where(is_shift, shift, effects)
    farthest = float(abs(effects - effects.mean()).max())
    return Jackknife(effects, -math.inf, math.inf, max(digits, farthest))


class Farther(Mean):
    """How much farther from 0 one mean is than another, as a `Mean`.

    Near 0 the sign is uncertain, so both are tested. Since ``|x| = max(x, -x)``, the
    new mean is farther out by more than the margin if this holds for one of its signs
    against both signs of the old mean. Two claims that must both hold take the larger
    p-value (Berger 1982, Technometrics 24, 295-300). Two claims of which one is enough
    take twice the smaller one (Bonferroni). The bounds invert that.

    Args:
        new: The values of this run.
        old: The values of the baseline.
    """

    def __init__(self, new: Side, old: Side) -> None:
        self.estimate = float(abs(new.values.mean()) - abs(old.values.mean()))
        # A row for each sign of the new mean, in it one for each sign of the old one.
        self._by_new_sign: list[list[Mean]] = []
        for new_sign in _SIGNS:
            against = [
                _signed_difference(new_sign, new, old_sign, old) for old_sign in _SIGNS
            ]
            self._by_new_sign.append(against)
        # The same with a row for each sign of the old mean.
        self._by_old_sign: list[tuple[Mean, ...]] = list(
            zip(*self._by_new_sign, strict=True),
        )

    def lower(self, alpha: float) -> float:
        bounds = [
            min(mean.lower(alpha / 2) for mean in means) for means in self._by_new_sign
        ]
        return max(bounds)

    def upper(self, alpha: float) -> float:
        bounds = [
            max(mean.upper(alpha / 2) for mean in means) for means in self._by_old_sign
        ]
        return min(bounds)

    def p_at_most(self, value: float) -> float:
        p_values = [
            max(mean.p_at_most(value) for mean in means) for means in self._by_new_sign
        ]
        return min(1.0, 2 * min(p_values))

    def p_at_least(self, value: float) -> float:
        p_values = [
            max(mean.p_at_least(value) for mean in means) for means in self._by_old_sign
        ]
        return min(1.0, 2 * min(p_values))
