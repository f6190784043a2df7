"""The claim of an oracle about a mean, and on which side of the margin it is; all users
and groups of them are judged as one family of claims.

A claim that the promise is broken is made of all users and of each group by Holm's
procedure, so that any such claim is wrong with probability at most alpha. All users
have half of alpha: the mean of all is what a promise is about, and many groups must not
make it hard to judge. The groups share the other half.

A claim that the promise holds is made of all users at alpha, as without groups, and
then of the groups by Holm's procedure. No group is said to hold unless all users do. So
a false claim needs a false one of all users, or, where that one is true, a false one of
a group: either has probability at most alpha (fixed sequence; Maurer, Hothorn and
Lehmacher 1995).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pytest_recsys_mt.oracles.arrays import Floats
from pytest_recsys_mt.oracles.judging.item_groups import ItemGroup
from pytest_recsys_mt.oracles.judging.item_slices import (
    ByItems,
    item_groups_of,
    unjudged,
)
from pytest_recsys_mt.oracles.judging.slices import Group, Slices, groups_of
from pytest_recsys_mt.oracles.statistics.bounds import Mean
from pytest_recsys_mt.oracles.statistics.corrections import holm
from pytest_recsys_mt.verdict.answers import Context
from pytest_recsys_mt.verdict.verdict import Allowed, Status

Promise = Allowed
"""The promise about the mean effect."""


@dataclass(frozen=True)
class Claim:
    """The claim that an oracle has to judge.

    Attributes:
        oracle: The name of the oracle, with its similarity or score.
        promise: The promise about the mean effect.
        margin: Its limit, in the unit of the effects.
        ask_everybody: Whether everybody is asked even if the verdict is clear earlier,
            because the mean itself is wanted: after an early stop it is too far from
            the margin.
        ways: In how many ways the whole promise can break; this claim is one of them.
        measures: The meaning of the mean, in words.
        slices: Groups of users that are judged too; None: as the run says.
        changes: Whether the promise is that answers change.
        cap: Up to which an effect counts for ``holds``; not below the margin.
        by_items: How a group of items is judged; None if the effects are not of single
            items.
    """

    oracle: str
    promise: Promise
    margin: float
    ask_everybody: bool = False
    ways: int = 1
    measures: str = ""
    slices: Slices | None = None
    changes: bool = False
    cap: float | None = None
    by_items: ByItems | None = None

    def __post_init__(self) -> None:
        if self.slices is not None:
            # Claims are keys, so a list will not do.
            object.__setattr__(self, "slices", tuple(self.slices))

    @property
    def wants_change(self) -> bool:
        """Whether a promise about two sides is that their answers differ."""
        return self.changes or self.promise == "at least"

    def groups(self, context: Context) -> tuple[Group, ...]:
        """The groups of users that are judged too; see `slices.groups_of`."""
        is_divided = self.slices or (self.slices is None and context.slices)
        return groups_of(self.slices, self.oracle, context) if is_divided else ()

    def item_groups(self, context: Context) -> tuple[ItemGroup, ...]:
        """The groups of items that are judged too; see `item_slices.item_groups_of`."""
        return item_groups_of(self.slices, self.oracle, self.by_items, context)

    def unjudged(self, context: Context) -> str:
        """Which slicings of the run are not judged, in words; empty if all are."""
        return unjudged(self.slices, self.oracle, self.by_items, context)

    @property
    def allowed(self) -> tuple[float, float]:
        """The smallest and the largest mean that keep the promise."""
        if self.promise == "at most":
            return -math.inf, self.margin
        if self.promise == "at least":
            return self.margin, math.inf
        return -self.margin, self.margin


def p_value(mean: Mean, claim: Claim) -> float:
    """P-value of the hypothesis that the promise holds."""
    if claim.promise == "at most":
        return mean.p_at_most(claim.margin)
    if claim.promise == "at least":
        return mean.p_at_least(claim.margin)
    return mean.p_within(claim.margin)


def p_value_of_opposite(mean: Mean, claim: Claim) -> float:
    """P-value of the hypothesis that the promise does not hold; for "within" by two
    one-sided tests (Schuirmann 1987).
    """
    if claim.promise == "within":
        return max(mean.p_at_least(claim.margin), mean.p_at_most(-claim.margin))
    if claim.promise == "at most":
        return mean.p_at_least(claim.margin)
    return mean.p_at_most(claim.margin)


def excess(claim: Claim, effect: Floats) -> Floats:
    """By how much each user's effect exceeds the allowed range, ``(n,)``."""
    least, most = claim.allowed
    return np.maximum(effect - most, least - effect)


def nearest_limit(mean: Mean, claim: Claim) -> tuple[float, bool]:
    """The limit nearest to the mean, and whether means above it break the promise."""
    if claim.promise == "within" and mean.estimate < 0:
        return -claim.margin, False
    return claim.margin, claim.promise != "at least"


@dataclass(frozen=True)
class Family:
    """The claims about all users, who come first, and about each group.

    Attributes:
        statuses: The claimed status of each.
        p_values: Of the hypotheses that the promise holds for each, without any
            correction.
        p_value: Of the hypothesis that it holds for all of them.
    """

    statuses: Sequence[Status]
    p_values: Sequence[float]
    p_value: float

    @property
    def status(self) -> Status:
        """``violated`` if any member is, else that of all users."""
        return "violated" if "violated" in self.statuses else self.statuses[0]


def weights(groups: int) -> list[float]:
    """The shares of alpha of all users and of each group."""
    if not groups:
        return [1.0]
    return [0.5] + [0.5 / groups] * groups


def judge_family(
    claim: Claim,
    members: Sequence[Mean | None],
    alpha: float,
    capped: Sequence[Mean | None] | None = None,
) -> Family:
    """Judge all users and each group.

    Of two claims that could be made, that with the smaller p-value is. With `capped`
    means, both claims can be true where few users lose much: ``violated`` is made.

    Args:
        claim: The claim to judge.
        members: The estimates of the mean effects of all users and of each group; None
            if nobody was scored.
        alpha: The error rate.
        capped: The same for ``holds``, if effects count only up to a cap for it.
    """
    against = [1.0 if mean is None else p_value(mean, claim) for mean in members]
    for_holds = capped or members
    opposite = [
        1.0 if mean is None else p_value_of_opposite(mean, claim) for mean in for_holds
    ]
    broken = holm(against, weights(len(members) - 1))
    gate = opposite[0] <= alpha
    of_groups = holm(opposite[1:]) if gate else [1.0] * (len(members) - 1)
    kept = [opposite[0], *of_groups]
    # A promise that breaks in one of several ways is tested in each; groups are then
    # corrected for both.
    level = alpha / claim.ways if len(members) > 1 else alpha
    statuses: list[Status] = []
    for place in range(len(members)):
        is_broken = broken[place] <= level
        is_kept = kept[place] <= alpha
        rather_broken = capped is not None or against[place] < opposite[place]
        statuses.append(_status(is_broken, is_kept, rather_broken=rather_broken))
    return Family(statuses, against, min(broken))


def _status(is_broken: bool, is_kept: bool, *, rather_broken: bool) -> Status:
    """The claim that is made; `rather_broken` decides if both could be."""
    if is_broken and (rather_broken or not is_kept):
        return "violated"
    return "holds" if is_kept else "inconclusive"
