"""From what was seen of the users asked so far to a verdict."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from pytest_recsys_mt.answers import Asked, Context, Pairs, Sample
from pytest_recsys_mt.oracles.arrays import Floats
from pytest_recsys_mt.oracles.judging.claim import Claim, excess, nearest_limit
from pytest_recsys_mt.oracles.judging.effect import (
    MOST_HOLES,
    Effects,
    follow_ups_failed,
    mostly_holes,
    places_of,
)
from pytest_recsys_mt.oracles.judging.examples import pick
from pytest_recsys_mt.oracles.judging.family import Family, judge_family, weights
from pytest_recsys_mt.oracles.judging.ladder import (
    UNREAD,
    counted,
    not_asked,
    too_many_unread,
    unread_counts,
    unreadable,
    without_verdict,
)
from pytest_recsys_mt.oracles.judging.power import joint_users_needed, outlook, users_needed
from pytest_recsys_mt.oracles.judging.slices import Group
from pytest_recsys_mt.oracles.statistics.bounds import TIE, Certain, Mean
from pytest_recsys_mt.verdict import NEEDED, Example, Slice, Status, Verdict

JOINT = (
    "some follow-ups failed or some answers could not be read, and it is unknown what their users would add to a "
    "number of all users together; find out why"
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
    tally: Pairs | Sample
    source: Sequence[Asked]  # the answers to show as those of this side, or empty
    followup: Sequence[Asked]
    groups: Sequence[Group] = ()

    @classmethod
    def of(
        cls,
        effects: Effects,
        tally: Pairs | Sample,
        source: Sequence[Asked],
        followup: Sequence[Asked],
        groups: Sequence[Group] = (),
        unclear: Collection[str] = (),
    ) -> Seen:
        """The results, with the users whose effect is unknown: a follow-up failed, or an answer was unread or `unclear`."""
        broken = getattr(tally, "broken", {})
        unmeasured = {reason: [asked.user for asked in users] for reason, users in broken.items()}
        unmeasured |= {UNREAD: [*tally.unread_users, *unclear]}
        unknown = {user for users in unmeasured.values() for user in users}
        if unknown:
            side = source or followup
            scored = [side[row].user for row in effects.rows]
            effects = dataclasses.replace(
                effects,
                unmeasured={reason: len(users) for reason, users in unmeasured.items() if users},
                unknown=tuple(places_of(unknown, scored, tally.order)),
                unknown_users=tuple(user for user in tally.order if user in unknown),
            )
        return cls(effects, tally, source, followup, groups)

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
    def errors(self) -> Counter[str]:
        """Why users' calls failed, with their numbers."""
        unmeasured = Counter(self.effects.unmeasured)
        del unmeasured[UNREAD]
        return self.failed + unmeasured

    @property
    def unread(self) -> int:
        """How many users got an answer of which nothing could be read."""
        return self.effects.unmeasured.get(UNREAD, 0)

    @property
    def failed(self) -> Counter[str]:
        """As `errors`, without the users whose source was answered."""
        return Counter(self.tally.errors) + Counter(self.effects.errors)

    @property
    def not_applicable(self) -> Counter[str]:
        """Why users could not be served, with their numbers."""
        return Counter(self.tally.not_applicable) + Counter(self.effects.not_applicable)

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
    effects, users = seen.effects, len(seen.effects.rows)
    unread = too_many_unread(seen.tally, context)
    failures = _failures(seen, told=bool(unread))
    found = without_verdict(
        users, seen.errors, seen.tally.unasked, seen.not_applicable, context, unread=unread
    )
    numbers: dict[str, Any] = {}
    if found is None:
        found, numbers = _judged(claim, seen, context)
    elif found[0] == "error":
        failures = []  # the reason names them
    status, reason = found
    unknown = dict(zip(effects.unknown_users, effects.unknown, strict=True))
    unmeasured = {"unmeasured": {"users": unknown}} if unknown and not seen.unread else {}
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
        users=users,
        not_applicable=seen.not_applicable.total(),
        errors=seen.errors.total(),
        details={**(unmeasured or unreadable(seen.tally, unknown)), **numbers.pop("details", {})},
        reason="; ".join(part for part in (reason, *failures, effects.note) if part),
        **numbers,
    )


def _kept(mean: float, claim: Claim) -> float:
    """In place of a mean that is known: beside a limit that it equals, where the promise is kept."""
    least, most = claim.allowed
    if least < most and abs(mean - most) <= TIE:
        return most - 2 * TIE
    return least + 2 * TIE if least < most and abs(mean - least) <= TIE else mean


def _failures(seen: Seen, *, told: bool) -> list[str]:
    failures = [f"failed: {counted(seen.failed)}"] if seen.failed else []
    scored, unread = len(seen.effects.rows), seen.unread
    unmeasured = {reason: n for reason, n in seen.effects.unmeasured.items() if reason != UNREAD}
    if others := sum(unmeasured.values()):
        few = follow_ups_failed(others, scored + others + unread)
        failures.append(f"{few} ({counted(unmeasured)})")
    if unread and not told:
        failures.append(unread_counts(unread, scored + others + unread))
    return failures


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
    if effects.unmeasured and effects.mean is not None:
        return ("inconclusive", unasked or JOINT), numbers
    exact = seen.tally.complete and context.deterministic and effects.mean is None
    if exact and not (effects.unmeasured or seen.groups):
        # Nobody is left to draw, and nothing varies: the mean of all is what it is.
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
    if effects.joint:
        needed = joint_users_needed(len(effects.rows), numbers["interval"], abs(claim.margin))
        return (status, OF_ALL), {**numbers, "details": _needed(needed, context, joint=True)}
    # If only the unmeasured users prevent a verdict, asking more users does not help.
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
    numbers["details"] = _needed(needed, context)
    return (status, outlook(effects, limit, above, level, context.users)), numbers


def _needed(users: int | None, context: Context, *, joint: bool = False) -> dict[str, int]:
    if users is None:
        return {}
    if context.deterministic and context.users and not joint:
        users = min(users, context.users)  # the mean of all of them is exact
    return {NEEDED: users, "users_in_data": context.users}


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
