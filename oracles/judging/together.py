"""A difference is claimed only if it is still there when both sides are asked together.

A recommender may change during a run, and most follow-ups are asked later than their source, or days later if the
source answers were kept. So if a claim depends on a difference, both sides are asked again, as one batch in an order
that treats them alike. The same is done if a recommender declares itself deterministic, because a claim would
otherwise depend on that declaration, and with other seeds if each replicate is answered by a fit of its own.
"""

import dataclasses
import math
from collections.abc import Callable

from pytest_recsys_mt.answers import Asked, Pairs
from pytest_recsys_mt.errors import MissingAnswerError
from pytest_recsys_mt.oracles.judging.effect import Effects
from pytest_recsys_mt.verdict import NEEDED, Slice, Verdict

CHANGED = "answers changed while we asked"
"""Start of a verdict's reason if the difference is gone when both sides are asked together."""

WORTH_TELLING = 3600.0
"""Seconds between source and follow-ups from which a verdict reports the time between them."""


def with_age(effects: Effects, pairs: Pairs) -> Effects:
    """`effects`, with a note if source and follow-ups are far apart in time."""
    if pairs.apart < WORTH_TELLING:
        return effects
    note = f"source and follow-ups were asked {lasting(pairs.apart)} apart"
    return dataclasses.replace(effects, note="; ".join(filter(None, (effects.note, note))))


Anew = tuple[Verdict, int]
"""The verdict on answers to both sides that were asked again, together; if deterministic, on both answers to each. And
how many users got another answer to the same request, although it should be equal."""


def confirmed(
    verdict: Verdict, apart: float, deterministic: bool, anew: Callable[[], Anew | None]
) -> Verdict:
    """The verdict, withdrawn if it claims a difference that is not there when both sides are asked together.

    A claim about a stochastic recommender stands if answers asked together prove it too. The first verdict is returned
    then, so that it does not depend on the time of asking. A recommender that declares itself deterministic is asked
    again even if the answers differ too little for a claim (if any user's moved), and unless all its answers are the
    same as before, the verdict that includes its noise replaces the first.

    The sides were asked `apart` seconds; 0 trusts a stochastic recommender. `anew` returns None if nothing can have changed.
    """
    difference = "holds" if verdict.allowed == "at least" else "violated"
    moved = any(verdict.per_user.values())
    noise = deterministic and verdict.status == "inconclusive" and moved
    if not (verdict.status == difference or noise):
        return verdict
    if verdict.estimate is None or not (apart or deterministic):
        return verdict
    when = f"{lasting(apart)} apart"
    try:
        again = anew()
    except MissingAnswerError:
        reason = (
            f"source and follow-ups were asked {when}, so the recommender may have changed; no answers "
            f"asked together are recorded, and --recsys-mode=replay sends no requests"
        )
        return withdrawn(verdict, reason) if apart else verdict
    if again is None:
        return verdict
    other, changed_users = again
    first, second = _of_the_same_users(verdict, other)
    if second.estimate is None or second.interval is None:
        reason = f"asked {when}, then again together: {other.reason}"
        return withdrawn(verdict, reason) if apart or "unreadable" in other.details else verdict
    if deterministic:
        if second.status == difference:
            return other
        reason = (
            f"{CHANGED}: {changed_users} of {other.users} users got another answer to the same request"
            f"{f' (source and follow-ups were asked {when})' if apart else ''}, and the recommender "
            f"declares itself deterministic; with this noise, D is {second.estimate:.3f}"
        )
        return withdrawn(other, reason)
    if second.status == difference:
        return verdict
    low, high = second.interval
    changed = f"{CHANGED}: " if second.status in ("holds", "violated") else ""
    reason = (
        f"{changed}D={first.estimate:.3f} between answers asked {when}, {second.estimate:.3f} "
        f"[{low:.3f}, {high:.3f}] with both sides asked together, which shows no difference"
    )
    return withdrawn(other, reason)


def withdrawn(verdict: Verdict, reason: str) -> Verdict:
    """A verdict that claims nothing, also of no group."""
    # More users would not settle it.
    details = {name: each for name, each in verdict.details.items() if name != NEEDED}
    return dataclasses.replace(
        verdict, status="inconclusive", reason=reason, slices=(), details=details
    )


def _of_the_same_users(verdict: Verdict, other: Verdict) -> tuple[Verdict | Slice, Verdict | Slice]:
    """What both verdicts say of the users for whom the first claims a difference: all, or one group."""
    broken = verdict.broken
    if broken is None:
        return verdict, other
    same = (broken.slicing, broken.value)
    return broken, next((s for s in other.slices if (s.slicing, s.value) == same), other)


def is_proved_by(verdict: Verdict, other: Verdict) -> bool:
    """Whether another verdict claims the same of the same users: all, or the group for which `verdict` claims it."""
    return _of_the_same_users(verdict, other)[1].status == verdict.status


def twice(first: Pairs, second: Pairs) -> tuple[Pairs, int]:
    """Both answers to each request, for the users who have both, and for how many users they differ."""
    later = {
        one.user: (one, other) for one, other in zip(second.source, second.followup, strict=True)
    }
    both = [
        (_with(source, later[source.user][0]), _with(followup, later[source.user][1]))
        for source, followup in zip(first.source, first.followup, strict=True)
        if source.user in later
    ]
    changed = sum(
        any(len({answer.items for answer in side.answers}) > 1 for side in sides) for sides in both
    )
    once, again = ({one.user for one, _ in pairs.unread} for pairs in (first, second))
    changed += len((once - again) & later.keys()) + len(again & {one.user for one in first.source})
    sources, followups = tuple(one for one, _ in both), tuple(other for _, other in both)
    unread = {both[0].user: both for both in (*first.unread, *second.unread)}
    return dataclasses.replace(
        second, source=sources, followup=followups, unread=tuple(unread.values())
    ), changed


def _with(asked: Asked, again: Asked) -> Asked:
    return dataclasses.replace(asked, answers=asked.answers + again.answers)


def lasting(seconds: float) -> str:
    """A time in words: ``3.2 s``, ``12 minutes``, ``2.5 days``."""
    if math.isinf(seconds):
        return "an unknown time"
    for size, unit in ((86400, "days"), (3600, "hours"), (60, "minutes")):
        if seconds >= 2 * size:
            return f"{seconds / size:.1f}".removesuffix(".0") + f" {unit}"
    return f"{seconds:.1f} s"
