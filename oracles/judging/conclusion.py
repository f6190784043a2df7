"""The verdict from the observed effects of the users asked so far."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pytest_recsys_mt.oracles.arrays import Floats
from pytest_recsys_mt.oracles.judging.account import (
    joined,
    missing_in_words,
    not_asked,
    too_many_unread,
    unreadable,
    without_verdict,
)
from pytest_recsys_mt.oracles.judging.claim import (
    Claim,
    Family,
    excess,
    nearest_limit,
    weights,
)
from pytest_recsys_mt.oracles.judging.effect import MOST_HOLES, Effects, mostly_holes
from pytest_recsys_mt.oracles.judging.examples import pick
from pytest_recsys_mt.oracles.judging.power import (
    joint_users_needed,
    outlook,
    users_needed,
)
from pytest_recsys_mt.oracles.judging.seen import Seen
from pytest_recsys_mt.oracles.judging.slices import Group
from pytest_recsys_mt.oracles.statistics.bounds import TIE, Certain
from pytest_recsys_mt.verdict.answers import Context
from pytest_recsys_mt.verdict.verdict import NEEDED, Example, Slice, Status, Verdict

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
class _Conclusion:
    """The conclusion from the answers, before it becomes a verdict.

    Attributes:
        status: The status of the claim by these answers.
        reason: Why they show no more.
        numbers: Fields of the verdict, by their names.
        details: Entries of its details.
    """

    status: Status
    reason: str = ""
    numbers: Mapping[str, Any] = field(default_factory=dict)
    details: Mapping[str, Any] = field(default_factory=dict)


def verdict_of(claim: Claim, relation: str, seen: Seen, context: Context) -> Verdict:
    """The verdict on the users asked so far, whether or not more can be asked.

    Args:
        claim: The claim to judge.
        relation: The name of the change.
        seen: The effects of these users, and who has none.
        context: The facts of the run.
    """
    effects = seen.effects
    account = seen.account
    unread = too_many_unread(seen.tally, context)
    missing = missing_in_words(account, but_unread=bool(unread))
    without = without_verdict(account, seen.tally.unasked, context, unread=unread)
    if without is None:
        conclusion = _judged(claim, seen, context)
    else:
        conclusion = _Conclusion(*without)
        if conclusion.status in ("error", "not-applicable"):
            missing = []  # the reason names them
    unknown = dict(zip(effects.unknown_users, effects.unknown, strict=True))
    details: dict[str, Any] = unreadable(seen.tally, unknown)
    if unknown and not details:
        details = {"unmeasured": {"users": unknown}}
    details |= conclusion.details
    measures = claim.measures
    if conclusion.status == "holds" and claim.cap is not None:
        measures = f"{measures} (up to {claim.cap:g} a user)"
        details["cap"] = claim.cap
    return Verdict(
        conclusion.status,
        claim.oracle,
        relation,
        margin=claim.margin,
        allowed=claim.promise,
        changes=claim.changes,
        measures=measures,
        joint=effects.joint,
        approximate=effects.approximate,
        users=account.answered,
        not_applicable=account.without_number,
        errors=account.errors.total(),
        account=account.plain,
        details=details,
        reason=joined(
            conclusion.reason,
            *missing,
            effects.note,
            seen.items_said,
            claim.unjudged(context),
        ),
        **conclusion.numbers,
    )


def _judged(claim: Claim, seen: Seen, context: Context) -> _Conclusion:
    """The conclusion if enough users have a number."""
    effects = seen.effects
    unasked = not_asked(seen.tally.unasked)
    numbers: dict[str, Any] = {
        "floor": _average(effects.floor),
        "agreement": _average(effects.agreement),
        "examples": _examples(claim, effects, seen, context),
    }
    if effects.obstacle:
        return _Conclusion("inconclusive", unasked or effects.obstacle, numbers)
    per_user = seen.per_user
    # Values of an aggregate are pseudo-values without bounds, so the reach is widened
    # to include them.
    ends = (*effects.reach, *per_user.values())
    numbers |= {"reach": (min(ends), max(ends)), "per_user": per_user}
    if effects.unknown and effects.mean is not None:
        return _Conclusion("inconclusive", unasked or JOINT, numbers)
    with_mean = _with_known_mean(claim, seen, context)
    conclusion = _of_family(claim, with_mean, context)
    return dataclasses.replace(conclusion, numbers={**numbers, **conclusion.numbers})


def _with_known_mean(claim: Claim, seen: Seen, context: Context) -> Seen:
    """The results, with the mean itself in place of an estimate
    if nothing was drawn, and nothing varies.
    """
    effects = seen.effects
    is_estimate = not context.deterministic or seen.tally.drawn
    if is_estimate or effects.mean is not None:
        return seen
    if effects.unknown or seen.groups or seen.of_items:
        return seen
    mean = float(effects.effect.mean())
    known = dataclasses.replace(effects, mean=Certain(mean, _kept(mean, claim)))
    return dataclasses.replace(seen, effects=known)


def _kept(mean: float, claim: Claim) -> float:
    """A known mean; one that equals the limit is moved a little
    to the side where the promise is kept.
    """
    least, most = claim.allowed
    if least >= most:
        return mean
    if abs(mean - most) <= TIE:
        return most - 2 * TIE
    if abs(mean - least) <= TIE:
        return least + 2 * TIE
    return mean


def _of_family(claim: Claim, seen: Seen, context: Context) -> _Conclusion:
    """The conclusion from the bounds of all users and of the groups."""
    effects = seen.effects
    family = seen.family(claim, context.alpha)
    cap = claim.cap if family.statuses[0] == "holds" else None
    mean = effects.up_to(cap).of_all
    numbers: dict[str, Any] = {
        "estimate": mean.estimate,
        "interval": (mean.lower(context.alpha), mean.upper(context.alpha)),
        "p_value": family.p_value,
    }
    if _is_blind(effects, claim):
        reason = (
            f"answers to the same request agree only {_average(effects.floor):.3f}, which is not above the margin "
            f"{claim.margin:g}: no effect of that size could be seen; ask for less variable answers (a lower "
            f"temperature) or use a smaller margin"
        )
        return _Conclusion("inconclusive", reason, numbers)
    if _claims_large_mean(claim, family) and effects.unsure is not None:
        # It may send calls, so it is asked only before such a claim.
        reason = effects.unsure()
        if reason:
            return _Conclusion("inconclusive", reason, {**numbers, "p_value": None})

    slices = _slices(claim, seen, family, context.alpha)
    numbers["slices"] = slices if seen.members else ()
    violated = []
    for place, each in enumerate(slices):
        if each.status == "violated":
            violated.append(place)
    if violated:
        only_of_groups = 0 not in violated
        if only_of_groups:
            worst = min(violated, key=lambda place: slices[place].p_value)
            # The slices begin with all users, the members do not.
            _, worst_effects = seen.members[worst - 1]
            numbers["examples"] = _examples(claim, worst_effects, seen, context)
        return _Conclusion("violated", "", numbers)
    status = slices[0].status
    if family.statuses[0] == "holds" and status != "holds":
        return _Conclusion(status, mostly_holes(effects.holes), numbers)
    if status != "inconclusive":
        return _Conclusion(status, "", numbers)
    unasked = not_asked(seen.tally.unasked)
    if unasked:
        return _Conclusion(status, unasked, numbers)
    reason, details = _what_is_missing(claim, seen, family, context)
    return _Conclusion(status, reason, numbers, details)


def _claims_large_mean(claim: Claim, family: Family) -> bool:
    """Whether the mean of all users or of a group is said to be large."""
    of_large_means = "violated"
    if claim.promise == "at least":
        of_large_means = "holds"
    return of_large_means in family.statuses


def _what_is_missing(
    claim: Claim,
    seen: Seen,
    family: Family,
    context: Context,
) -> tuple[str, Mapping[str, int]]:
    """Why all users have no clear verdict, and how many
    would, as entries of the details.
    """
    effects = seen.effects
    mean = effects.of_all
    if context.alone:
        return "", {}
    if effects.joint:
        bounds = (mean.lower(context.alpha), mean.upper(context.alpha))
        needed = joint_users_needed(len(effects.rows), bounds, abs(claim.margin))
        return OF_ALL, _needed(needed, context)
    # If only the users of unknown effect prevent a verdict, asking more users does not
    # help.
    measured = dataclasses.replace(effects, unknown=(), unknown_users=())
    without_unknown = dataclasses.replace(seen, effects=measured).family(
        claim,
        context.alpha,
    )
    if without_unknown.statuses[0] != family.statuses[0]:
        return "", {}
    limit, above = nearest_limit(mean, claim)
    capped = effects.up_to(claim.cap)
    level = context.alpha
    of_claim = capped
    if (mean.estimate > limit) is above:
        # A violation is shown of effects without the cap, and against the correction
        # for groups.
        level *= weights(len(seen.members))[0]
        of_claim = effects
    reason = outlook(of_claim, limit, above, level, context.users)

    room = abs(claim.margin) if effects.room is None else effects.room
    needed = users_needed(capped, limit, above, context.alpha, room)
    # Of a mean over users alone, all of them are enough: it is known then.
    is_over_users = context.deterministic and seen.tally.drawn <= {"users"}
    enough = context.users if is_over_users else 0
    return reason, _needed(needed, context, enough)


def _needed(users: int | None, context: Context, enough: int = 0) -> dict[str, int]:
    """The details on how many users are needed, at most
    `enough` where that is known; empty for None.
    """
    if users is None:
        return {}
    return {NEEDED: min(users, enough or users), "users_in_data": context.users}


def _examples(
    claim: Claim,
    effects: Effects,
    seen: Seen,
    context: Context,
) -> tuple[Example, ...]:
    """The users whose effects exceed the allowed range the most, as examples."""
    return pick(
        effects,
        excess(claim, effects.effect),
        seen.source,
        seen.followup,
        context,
    )


def _slices(
    claim: Claim,
    seen: Seen,
    family: Family,
    alpha: float,
) -> tuple[Slice, ...]:
    """The parts of the verdict on all users, and then on each group."""
    everybody = Group("", "all users", frozenset())
    members = [(everybody, seen.effects), *seen.members]
    of_groups = weights(len(seen.members))[1:]
    shares = [1.0, *of_groups]
    return tuple(
        _slice(claim, group, effects, status, p_value, alpha * share)
        for (group, effects), status, p_value, share in zip(
            members,
            family.statuses,
            family.p_values,
            shares,
            strict=True,
        )
    )


def _slice(
    claim: Claim,
    group: Group,
    effects: Effects,
    status: Status,
    p_value: float,
    level: float,
) -> Slice:
    """The part of the verdict on a group, with bounds at error rate `level` each."""
    users = len(effects.rows)
    if not users:
        return Slice(group.slicing, group.value, "inconclusive", 0)
    holds = status == "holds"
    mean = effects.up_to(claim.cap if holds else None).of_all
    has_holes = holds and effects.holes > MOST_HOLES
    return Slice(
        group.slicing,
        group.value,
        "inconclusive" if has_holes or _is_blind(effects, claim) else status,
        users,
        mean.estimate,
        (mean.lower(level), mean.upper(level)),
        p_value,
    )


def _is_blind(effects: Effects, claim: Claim) -> bool:
    """Whether noise hides effects of the size of the margin: answers to one request
    agree no more than that.
    """
    return effects.floor is not None and float(effects.floor.mean()) <= claim.margin


def _average(values: Floats | None) -> float | None:
    """The mean of all values; None where there are none."""
    if values is None:
        return None
    return float(values.mean())
