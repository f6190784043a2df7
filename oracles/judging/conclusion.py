"""From what was seen of the users asked so far to a verdict."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from pytest_recsys_mt.answers import Asked, Context
from pytest_recsys_mt.errors import OracleError
from pytest_recsys_mt.oracles.arrays import Floats
from pytest_recsys_mt.oracles.judging.account import Account, Tally
from pytest_recsys_mt.oracles.judging.claim import Claim, excess, nearest_limit
from pytest_recsys_mt.oracles.judging.effect import (
    MOST_HOLES,
    Effects,
    mostly_holes,
    others,
    places_of,
)
from pytest_recsys_mt.oracles.judging.examples import pick
from pytest_recsys_mt.oracles.judging.family import Family, judge_family, weights
from pytest_recsys_mt.oracles.judging.ladder import (
    missing_in_words,
    not_asked,
    too_many_unread,
    unreadable,
    without_verdict,
)
from pytest_recsys_mt.oracles.judging.power import joint_users_needed, outlook, users_needed
from pytest_recsys_mt.oracles.judging.slices import Group
from pytest_recsys_mt.oracles.statistics.bounds import TIE, Certain, Mean
from pytest_recsys_mt.verdict import NEEDED, Example, Slice, Status, Verdict

NO_REASON = "the oracle gave these users no number and no reason"

JOINT = (
    "some users got no answer or one without a number, and it is unknown what they would add to a number of all users "
    "together; find out why"
)

OF_ALL = (
    "the bounds contain the limit; the number is of these users together, and of more users it is another "
    "one, so declare a wider limit before the next run, or use other data"
)
"""For a number of all users together: more users do not only narrow its bounds."""


@dataclass(frozen=True)
class Seen:
    """The results of the users asked so far: effects of the scored ones, a tally of the others, the groups judged too."""

    effects: Effects
    tally: Tally
    source: Sequence[Asked]  # the answers to show as those of this side, or empty
    followup: Sequence[Asked]
    groups: Sequence[Group]
    account: Account

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

        These are the users who got no answer, whose answer was unread or `unclear`, and whose answers have no number.
        """
        users = [asked.user for asked in source or followup]
        _require_each_once(effects)
        scored = [users[row] for row in effects.rows]
        silent = {users[row] for rows in effects.failed.values() for row in rows}
        undefined = _undefined(effects, users, unclear)
        unread = {*tally.unread_users, *unclear}
        unknown = unread | silent | {lost.user for lost in tally.lost}
        unknown = unknown.union(*undefined.values())
        account = Account.of(
            tally,
            answered=len(scored),
            unread=len(unread),
            failed={reason: len(rows) for reason, rows in effects.failed.items()},
            undefined={reason: len(each) for reason, each in undefined.items()},
            left_out={reason: len(rows) for reason, rows in effects.left_out.items()},
        )
        if unknown:
            effects = dataclasses.replace(
                effects,
                unknown=tuple(places_of(unknown, scored, tally.order)),
                unknown_users=tuple(user for user in dict.fromkeys(tally.order) if user in unknown),
            )
        return cls(effects, tally, source, followup, groups, account)

    @cached_property
    def members(self) -> Sequence[tuple[Group, Effects]]:
        """The groups that are judged, each with the effects of its users."""
        effects, side = self.effects, self.source or self.followup
        if effects.mean is not None or effects.obstacle:
            return ()  # a number of all users together is none of a group
        users = [side[row].user for row in effects.rows]
        return [
            (
                group,
                effects.of(np.array([user in group.users for user in users], bool), group.users),
            )
            for group in self.groups
        ]

    def family(self, claim: Claim, alpha: float) -> Family:
        """All users and the groups, judged; needs at least one scored user."""

        def means(cap: float | None = None) -> list[Mean | None]:
            everybody = [self.effects, *(effects for _, effects in self.members)]
            return [
                effects.up_to(cap).of_all if len(effects.rows) else None for effects in everybody
            ]

        return judge_family(claim, means(), alpha, None if claim.cap is None else means(claim.cap))

    @property
    def per_user(self) -> dict[str, float]:
        """The effect of every scored user, to six digits."""
        side = self.source or self.followup
        return {
            side[row].user: float(f"{effect:.6g}")
            for row, effect in zip(self.effects.rows, self.effects.effect, strict=True)
        }


def verdict_of(claim: Claim, relation: str, seen: Seen, context: Context) -> Verdict:
    """The verdict on the users asked so far, whether or not more can be asked."""
    effects, account = seen.effects, seen.account
    unread = too_many_unread(seen.tally, context)
    missing = missing_in_words(account, but_unread=bool(unread))
    found = without_verdict(account, seen.tally.unasked, context, unread=unread)
    numbers: dict[str, Any] = {}
    if found is None:
        found, numbers = _judged(claim, seen, context)
    elif found[0] in ("error", "not-applicable"):
        missing = []  # the reason names them
    status, reason = found
    unknown = dict(zip(effects.unknown_users, effects.unknown, strict=True))
    unmeasured = {"unmeasured": {"users": unknown}} if unknown else {}
    capped = status == "holds" and claim.cap is not None
    return Verdict(
        status,
        claim.oracle,
        relation,
        margin=claim.margin,
        allowed=claim.promise,
        changes=claim.changes,
        measures=f"{claim.measures} (up to {claim.cap:g} a user)" if capped else claim.measures,
        joint=effects.joint,
        approximate=effects.approximate,
        users=account.answered,
        not_applicable=account.without_number,
        errors=account.errors.total(),
        account=account.plain,
        details={
            **(unreadable(seen.tally, unknown) or unmeasured),
            **numbers.pop("details", {}),
            **({"cap": claim.cap} if capped else {}),
        },
        reason="; ".join(part for part in (reason, *missing, effects.note) if part),
        **numbers,
    )


def _require_each_once(effects: Effects) -> None:
    """Each user is scored once, or stands under one reason; else the account would not add up."""
    reasons = (effects.failed, effects.undefined, effects.left_out)
    rows = [
        *effects.rows.tolist(),
        *(row for each in reasons for own in each.values() for row in own),
    ]
    twice = [row for row, count in Counter(rows).items() if count > 1]
    if twice:
        raise OracleError(
            f"the effects count the user at index {twice[0]} {rows.count(twice[0])} times; give each user one effect, or one "
            f"reason in failed, undefined or left_out"
        )


def _undefined(
    effects: Effects, users: Sequence[str], unclear: Collection[str]
) -> dict[str, list[str]]:
    """The users whose answers have no number, by reason: also those for whom an oracle gives no reason."""
    found = {reason: [users[row] for row in rows] for reason, rows in effects.undefined.items()}
    reasons = (effects.failed, effects.undefined, effects.left_out)
    explained = {row for each in reasons for rows in each.values() for row in rows}
    forgotten = [
        users[row]
        for row in others(len(users), {*effects.rows.tolist(), *explained})
        if users[row] not in unclear
    ]
    return {**found, NO_REASON: forgotten} if forgotten else found


def _kept(mean: float, claim: Claim) -> float:
    """In place of a mean that is known: beside a limit that it equals, where the promise is kept."""
    least, most = claim.allowed
    if least < most and abs(mean - most) <= TIE:
        return most - 2 * TIE
    return least + 2 * TIE if least < most and abs(mean - least) <= TIE else mean


def _judged(
    claim: Claim, seen: Seen, context: Context
) -> tuple[tuple[Status, str], dict[str, Any]]:
    effects, alpha = seen.effects, context.alpha
    numbers: dict[str, Any] = {
        "floor": _average(effects.floor),
        "agreement": _average(effects.agreement),
        "examples": _examples(claim, effects, seen, context),
    }
    unasked = not_asked(seen.tally.unasked)
    if effects.obstacle:
        return ("inconclusive", unasked or effects.obstacle), numbers
    # Values of an aggregate are pseudo-values without bounds, so the reach is widened to include them.
    per_user = seen.per_user
    ends = (*effects.reach, *per_user.values())
    numbers |= {"reach": (min(ends), max(ends)), "per_user": per_user}
    if effects.unknown and effects.mean is not None:
        return ("inconclusive", unasked or JOINT), numbers
    exact = context.deterministic and not seen.tally.drawn and effects.mean is None
    if exact and not (effects.unknown or seen.groups):
        # Nothing was drawn, and nothing varies: the mean of these users is what it is.
        known = float(effects.effect.mean())
        effects = dataclasses.replace(effects, mean=Certain(known, _kept(known, claim)))
        seen = dataclasses.replace(seen, effects=effects)
    family = seen.family(claim, alpha)
    if family.statuses[0] == "holds":
        effects = effects.up_to(claim.cap)
    mean = effects.of_all
    numbers |= {
        "estimate": mean.estimate,
        "interval": (mean.lower(alpha), mean.upper(alpha)),
        "p_value": family.p_value,
    }
    if _blind(effects, claim):
        told = (
            f"answers to the same request agree only {numbers['floor']:.3f}, which is not above the margin "
            f"{claim.margin:g}: no effect of that size could be seen; ask for less variable answers (a lower "
            f"temperature) or use a smaller margin"
        )
        return ("inconclusive", told), numbers
    large = "holds" if claim.promise == "at least" else "violated"  # what claims a large mean
    claimed = large in family.statuses
    if claimed and effects.unsure is not None and (why := effects.unsure()):
        return ("inconclusive", why), {**numbers, "p_value": None}
    slices = _slices(claim, seen, family, alpha)
    numbers["slices"] = slices if seen.members else ()
    broken = [place for place, each in enumerate(slices) if each.status == "violated"]
    if broken and 0 not in broken:
        worst = min(broken, key=lambda place: slices[place].p_value)
        numbers["examples"] = _examples(claim, seen.members[worst - 1][1], seen, context)
    if broken:
        return ("violated", ""), numbers
    status = slices[0].status
    if family.statuses[0] == "holds" != status:
        return (status, mostly_holes(effects.holes)), numbers
    if status != "inconclusive" or unasked:
        return (status, unasked if status == "inconclusive" else ""), numbers
    if context.alone:
        return (status, ""), numbers
    if effects.joint:
        needed = joint_users_needed(len(effects.rows), numbers["interval"], abs(claim.margin))
        return (status, OF_ALL), {**numbers, "details": _needed(needed, context)}
    # If only the users of unknown effect prevent a verdict, asking more users does not help.
    measured = dataclasses.replace(seen.effects, unknown=(), unknown_users=())
    if (
        dataclasses.replace(seen, effects=measured).family(claim, alpha).statuses[0]
        != family.statuses[0]
    ):
        return (status, ""), numbers
    limit, above = nearest_limit(mean, claim)
    breaks = (mean.estimate > limit) is above
    effects = effects if breaks else effects.up_to(claim.cap)
    level = alpha * weights(len(seen.members))[0] if breaks else alpha
    room = abs(claim.margin) if effects.room is None else effects.room
    needed = users_needed(effects.up_to(claim.cap), limit, above, alpha, room)
    # Of a mean over users alone, all of them are enough: it is known then.
    enough = context.users if context.deterministic and seen.tally.drawn <= {"users"} else 0
    numbers["details"] = _needed(needed, context, enough)
    return (status, outlook(effects, limit, above, level, context.users)), numbers


def _needed(users: int | None, context: Context, enough: int = 0) -> dict[str, int]:
    if users is None:
        return {}
    return {NEEDED: min(users, enough or users), "users_in_data": context.users}


def _examples(claim: Claim, effects: Effects, seen: Seen, context: Context) -> tuple[Example, ...]:
    return pick(effects, excess(claim, effects.effect), seen.source, seen.followup, context)


def _slices(claim: Claim, seen: Seen, family: Family, alpha: float) -> tuple[Slice, ...]:
    found = []
    members = [(Group("", "all users", frozenset()), seen.effects), *seen.members]
    shares = [1.0, *weights(len(seen.members))[1:]]
    for (group, effects), status, p, share in zip(
        members, family.statuses, family.p_values, shares, strict=True
    ):
        users = len(effects.rows)
        if not users:
            found.append(Slice(group.slicing, group.value, "inconclusive", 0))
            continue
        mean = effects.up_to(claim.cap if status == "holds" else None).of_all
        silent = _blind(effects, claim) or (status == "holds" and effects.holes > MOST_HOLES)
        found.append(
            Slice(
                group.slicing,
                group.value,
                "inconclusive" if silent else status,
                users,
                mean.estimate,
                (mean.lower(alpha * share), mean.upper(alpha * share)),
                p,
            )
        )
    return tuple(found)


def _blind(effects: Effects, claim: Claim) -> bool:
    return effects.floor is not None and float(effects.floor.mean()) <= claim.margin


def _average(values: Floats | None) -> float | None:
    return None if values is None else float(values.mean())
