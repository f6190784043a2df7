"""Numbers of several sides, by unit: which units count, and what is known of the
difference of two sides.

Where the same units are in all sides, the differences are of each unit. Where each unit
is in one side alone, as with groups of people, the sides are cut into as many blocks of
units as the smaller one has units, and the differences are of blocks: each has the
difference of the two means as its own mean, and no value decides which units meet.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np

from pytest_recsys_mt.oracles.arrays import Floats
from pytest_recsys_mt.oracles.judging.account import Account
from pytest_recsys_mt.oracles.own_numbers import NO_VALUE, Span
from pytest_recsys_mt.oracles.statistics.spread import Difference, pairs_of
from pytest_recsys_mt.oracles.user_scores import ELSEWHERE
from pytest_recsys_mt.safety.errors import OracleError
from pytest_recsys_mt.verdict.answers import Context

__all__: list[str] = []  # what oracles share, and none itself

NOTHING_SHARED = "no unit has a value on all sides"


@dataclass(frozen=True)
class Sides:
    """The numbers of several sides.

    Attributes:
        names: Those of the sides.
        values: The number of each unit that counts, for each side, ``(n,)``; NaN where
            it has none. Where units are in all sides, these are the same units.
        span: The smallest and the largest possible number.
        paired: Whether the units are in all sides.
        account: How many units there are, and which have no value.
    """

    names: tuple[str, ...]
    values: tuple[Floats, ...]
    span: Span
    paired: bool
    account: Account

    @property
    def means(self) -> Floats:
        """The observed mean of each side, ``(k,)``; NaN without a value."""
        known = [side[~np.isnan(side)] for side in self.values]
        return np.array(
            [side.mean() if len(side) else math.nan for side in known],
            np.float64,
        )

    @property
    def obstacle(self) -> str:
        """Why nothing can be said of these sides with any numbers."""
        return "" if all(len(side) for side in self.values) else NOTHING_SHARED

    def too_few_shared(self, context: Context) -> str:
        """Why too many units lack a side for a verdict; empty if few enough. Who is left
        out on one side may be left out for the value there.
        """
        limit = context.missed_limit
        lacking = (self.account.left_out or {}).get(ELSEWHERE, 0)
        if lacking <= limit * self.account.drawn:
            return ""
        return (
            f"{lacking / self.account.drawn:.1%} of the users are not in all sides, more than {limit:.1%} "
            f"(recsys_missed_limit); give None where one has no value, and leave out on all sides who is not to be compared"
        )

    def differences(self) -> dict[tuple[int, int], Difference]:
        """The difference of each unordered pair of sides."""
        low, high = self.span
        least = [np.where(np.isnan(side), low, side) for side in self.values]
        most = [np.where(np.isnan(side), high, side) for side in self.values]
        found = {}
        for one, other in pairs_of(len(self.values)):
            found[one, other] = Difference(
                self._difference(least[one], most[other]),
                self._difference(most[one], least[other]),
                high - low,
            )
        return found

    def _difference(self, one: Floats, other: Floats) -> Floats:
        if self.paired:
            return one - other
        blocks = min(len(one), len(other))
        return _means_of_blocks(one, blocks) - _means_of_blocks(other, blocks)


def _means_of_blocks(values: Floats, blocks: int) -> Floats:
    """The means of so many blocks of values that stand together, of sizes that differ by
    at most 1.
    """
    ends = np.linspace(0, len(values), blocks + 1).astype(int)
    sums: Floats = np.add.reduceat(values, ends[:-1])
    return sums / np.diff(ends)


def sides_of(
    oracle: str,
    columns: Mapping[str, Mapping[str, float]],
    span: Span,
    why: str = NO_VALUE,
) -> Sides:
    """The sides of these numbers, by side and unit; NaN for a unit without a value.

    Args:
        oracle: The oracle, for errors.
        columns: The numbers.
        span: The smallest and the largest possible number.
        why: Why a unit has no value, in words.

    Raises:
        OracleError: If there are fewer than two sides, or if some units are in several
            sides and none in all.
    """
    names = tuple(columns)
    if len(names) < 2:
        raise OracleError(
            f"{oracle}: there must be at least two sides, got {list(names)!r}",
        )
    sides = list(columns.values())
    shared = [unit for unit in sides[0] if all(unit in column for column in sides[1:])]
    everyone = list(dict.fromkeys(chain.from_iterable(sides)))
    disjoint = len(everyone) == sum(map(len, sides))
    if not shared and not disjoint:
        raise OracleError(
            f"{oracle}: some users are in several of the sides {', '.join(names)}, and none is in all of them, so they "
            f"are neither the same users nor independent groups; give values of the same users on each side, or leave "
            f"each user in one side alone",
        )
    values = (
        [np.array([column[unit] for unit in shared]) for column in sides]
        if shared
        else [np.array(list(column.values()), np.float64) for column in sides]
    )
    return Sides(
        names,
        tuple(values),
        span,
        bool(shared),
        _account(values, len(everyone), bool(shared), why),
    )


def _account(values: Sequence[Floats], units: int, paired: bool, why: str) -> Account:
    """The units by whether they have a value on each of their sides."""
    if paired:
        missing = int(np.isnan(np.stack(values)).any(axis=0).sum())
        counted = len(values[0])
    else:
        missing = sum(int(np.isnan(side).sum()) for side in values)
        counted = units
    elsewhere = units - counted
    return Account(
        drawn=units,
        answered=counted - missing,
        undefined={why: missing} if missing else {},
        left_out={ELSEWHERE: elsewhere} if elsewhere else {},
    )
