"""The users asked so far: their effects, those without a number, and groups."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Collection, Mapping, Sequence, Sized
from dataclasses import dataclass
from functools import cached_property
from itertools import chain

import numpy as np

from pytest_recsys_mt.oracles.judging.account import Account, Tally
from pytest_recsys_mt.oracles.judging.claim import Claim, Family, judge_family
from pytest_recsys_mt.oracles.judging.effect import Effects, others, places_of
from pytest_recsys_mt.oracles.judging.item_slices import OfItems
from pytest_recsys_mt.oracles.judging.slices import Group
from pytest_recsys_mt.oracles.statistics.bounds import Mean
from pytest_recsys_mt.safety.errors import OracleError
from pytest_recsys_mt.verdict.answers import Asked

NO_REASON = "the oracle gave these users no number and no reason"


@dataclass(frozen=True)
class Seen:
    """The results of the users asked so far.

    Attributes:
        effects: The effects of the scored users.
        tally: The counts of the others.
        source: The answers to show as those of the source, or empty.
        followup: The answers to show as those of the follow-up, or empty.
        groups: The groups that are judged too.
        account: How many users have a number, and why the others have none.
        of_items: The effects of each group of items that is judged too.
        items_said: Which items and users are in none of these groups, in words.
    """

    effects: Effects
    tally: Tally
    source: Sequence[Asked]
    followup: Sequence[Asked]
    groups: Sequence[Group]
    account: Account
    of_items: Sequence[OfItems] = ()
    items_said: str = ""

    @classmethod
    def of(
        cls,
        effects: Effects,
        tally: Tally,
        source: Sequence[Asked],
        followup: Sequence[Asked],
        groups: Sequence[Group] = (),
        unclear: Collection[str] = (),
    ) -> Seen:
        """The results, with the place of each user whose effect is unknown.

        These are the users who got no answer, whose answer was unread or `unclear`, and
        whose answers have no number.
        """
        _require_each_once(effects)
        users = [asked.user for asked in source or followup]
        scored = [users[row] for row in effects.rows]
        undefined = _undefined(effects, users, unclear)
        unread = {*tally.unread_users, *unclear}
        account = Account.of(
            tally,
            answered=len(scored),
            unread=len(unread),
            failed=_counts(effects.failed),
            undefined=_counts(undefined),
            left_out=_counts(effects.left_out),
        )
        failed_rows = chain.from_iterable(effects.failed.values())
        failed = {users[row] for row in failed_rows}
        lost = {lost.user for lost in tally.lost}
        unknown = unread.union(failed, lost, *undefined.values())
        if unknown:
            order = dict.fromkeys(tally.order)
            places = places_of(unknown, scored, tally.order)
            effects = dataclasses.replace(
                effects,
                unknown=tuple(places),
                unknown_users=tuple(user for user in order if user in unknown),
            )
        return cls(effects, tally, source, followup, groups, account)

    @property
    def shown(self) -> Sequence[Asked]:
        """The answers of one side; the rows of the effects are indices into them."""
        return self.source or self.followup

    @cached_property
    def members(self) -> Sequence[tuple[Group, Effects]]:
        """The groups that are judged, each with the effects of its users."""
        effects = self.effects
        if effects.mean is not None or effects.obstacle:
            return ()  # a number of all users together is none of a group
        users = [self.shown[row].user for row in effects.rows]
        members = []
        for group in self.groups:
            are_inside = [user in group.users for user in users]
            inside = np.array(are_inside, bool)
            members.append((group, effects.of(inside, group.users)))
        everyone = [asked.user for asked in self.shown]
        for each in self.of_items:
            own = each.with_unknown(effects.unknown_users, everyone, self.tally.order)
            members.append((each.group, own))
        return members

    def family(self, claim: Claim, alpha: float) -> Family:
        """All users and the groups, judged; needs at least one scored user."""
        means = self._means(None)
        capped = None
        if claim.cap is not None:
            capped = self._means(claim.cap)
        return judge_family(claim, means, alpha, capped)

    def _means(self, cap: float | None) -> list[Mean | None]:
        """The mean of all users, then of each group, with no effect
        above `cap`; None without scored users.
        """
        of_members = [effects for _, effects in self.members]
        means = []
        for effects in (self.effects, *of_members):
            has_users = len(effects.rows) > 0
            means.append(effects.up_to(cap).of_all if has_users else None)
        return means

    @property
    def per_user(self) -> dict[str, float]:
        """The effect of every scored user, to six digits."""
        effects = self.effects
        per_user = {}
        for row, effect in zip(effects.rows, effects.effect, strict=True):
            user = self.shown[row].user
            per_user[user] = float(f"{effect:.6g}")
        return per_user


def _counts(by_reason: Mapping[str, Sized]) -> dict[str, int]:
    """How many users stand under each reason."""
    return {reason: len(users) for reason, users in by_reason.items()}


def _unscored_rows(effects: Effects) -> list[int]:
    """The indices of all users who stand under a reason, once for each time they do."""
    rows: list[int] = []
    for rows_by_reason in (effects.failed, effects.undefined, effects.left_out):
        rows += chain.from_iterable(rows_by_reason.values())
    return rows


def _require_each_once(effects: Effects) -> None:
    """Each user is scored once, or stands under one reason;
    else the account would not add up.
    """
    rows = Counter([*effects.rows.tolist(), *_unscored_rows(effects)])
    for row, count in rows.items():
        if count > 1:
            raise OracleError(
                f"the effects count the user at index {row} {count} times; give each user one effect, or one "
                f"reason in failed, undefined or left_out",
            )


def _undefined(
    effects: Effects,
    users: Sequence[str],
    unclear: Collection[str],
) -> dict[str, list[str]]:
    """The users whose answers have no number, by reason: also
    those for whom an oracle gives no reason.
    """
    undefined = {
        reason: [users[row] for row in rows]
        for reason, rows in effects.undefined.items()
    }
    explained = {*effects.rows.tolist(), *_unscored_rows(effects)}
    unexplained = [users[row] for row in others(len(users), explained)]
    without_reason = [user for user in unexplained if user not in unclear]
    if without_reason:
        undefined[NO_REASON] = without_reason
    return undefined
