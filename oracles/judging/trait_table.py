"""How many of the marked users and of the others have a
trait, and Fisher's exact test of it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from pytest_recsys_mt.oracles.arrays import Floats
from pytest_recsys_mt.oracles.judging.traits import Mask

MOST = 0.8
"""The least share of the changed that must have a trait."""

HALF = 0.5
"""The largest share of the others that may have it."""

NEARLY_ALL = 0.9
"""Or: the least share of changed lists among the users with it."""

FEW = 0.25
"""The largest share of changed lists among the users without it."""


@dataclass(frozen=True)
class Table:
    """So many of the marked users and of the others have a trait.

    Attributes:
        marked: The number of marked users.
        others: The number of the others.
        marked_with: How many marked users have the trait.
        others_with: How many of the others have it.
    """

    marked: int
    others: int
    marked_with: int
    others_with: int

    @classmethod
    def of(cls, mask: Mask, marked: Mask) -> Table:
        """Counted from who has the trait and who is marked, ``(n,)``."""
        total = int(marked.sum())
        marked_with = int((mask & marked).sum())
        return cls(
            marked=total,
            others=len(marked) - total,
            marked_with=marked_with,
            others_with=int(mask.sum()) - marked_with,
        )

    @property
    def users(self) -> int:
        """All users."""
        return self.marked + self.others

    @property
    def having(self) -> int:
        """All users with the trait."""
        return self.marked_with + self.others_with

    @property
    def marked_without(self) -> int:
        """The marked users without the trait."""
        return self.marked - self.marked_with

    @property
    def distinguishes(self) -> bool:
        """Whether most of the marked have the trait and few others."""
        return (
            self.marked_with >= MOST * self.marked
            and self.others_with <= HALF * self.others
        )

    @property
    def decides(self) -> bool:
        """Whether nearly all with the trait are marked, and few without it."""
        without = self.users - self.having
        return (
            self.marked_with >= NEARLY_ALL * self.having
            and self.marked_without <= FEW * without
        )

    @property
    def exceptions(self) -> int:
        """Users whom the trait does not explain."""
        return self.marked_without + self.others_with

    @property
    def p_value(self) -> float:
        """That of Fisher's exact test that the marked have it no more often than the
        others; 1 if they do not stand out.
        """
        if self.distinguishes or self.decides:
            return self._tail_probability(self.marked_with)
        return 1.0

    @property
    def tail_probability(self) -> float:
        """That of Fisher's exact test, whether the marked stand out or not."""
        return self._tail_probability(self.marked_with)

    @property
    def least_p_value(self) -> float:
        """The smallest that so many marked users and users with the trait could have."""
        return self._tail_probability(min(self.marked, self.having))

    def _tail_probability(self, least: int) -> float:
        """The probability of `least` or more marked users with
        the trait, if both are independent.
        """
        counts = np.arange(least, min(self.having, self.marked) + 1)
        ways_with = _log_choose(self.having, counts)
        ways_without = _log_choose(self.users - self.having, self.marked - counts)
        all_ways = _log_choose(self.users, np.array([self.marked]))
        probability = np.exp(ways_with + ways_without - all_ways).sum()
        return float(min(1.0, probability))

    def sentence(self, words: str, kind: str, other: str) -> str:
        """A sentence about the users with the trait.

        Args:
            words: The trait.
            kind: The lists of marked users: ``changed``.
            other: Those of the others: ``unchanged``.
        """
        if self.distinguishes:
            quantity = _all_or_some(self.marked_with, self.marked)
            few = str(self.others_with) if self.others_with else "none"
            verb = "are" if self.others_with > 1 else "is"
            rest = f"{few} of the {self.others} {other} ones {verb}"
            return f"{quantity} {self.marked} {kind} lists are of users {words}; {rest}"
        quantity = _all_or_some(self.marked_with, self.having)
        without = self.users - self.having
        rest = f"{self.marked_without} of the {without} others do"
        return f"{quantity} {self.having} users {words} have {kind} lists; {rest}"


def _all_or_some(part: int, whole: int) -> str:
    """A quantity in words."""
    return "all" if part == whole else f"{part} of the"


def _log_choose(total: int, some: NDArray[np.intp]) -> Floats:
    """The logarithms of the numbers of ways to choose;
    minus infinity where there is none.
    """
    is_possible = (some >= 0) & (some <= total)
    chosen = np.where(is_possible, some, 0)
    orders_of_chosen = gammaln(chosen + 1)
    orders_of_others = gammaln(total - chosen + 1)
    ways = gammaln(total + 1) - orders_of_chosen - orders_of_others
    return np.where(is_possible, ways, -np.inf)
