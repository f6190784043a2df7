"""A difference is claimed only if it is there with both sides asked together.

A recommender may change while it is asked: a model is replaced behind its endpoint, a cache fills up,
an index is built anew. Source answers are shared by many relations, so most follow-ups are asked later
than their source, or days later where the source's answers were kept. A difference between the two
may then be the recommender's own. Where a claim rests on one, both sides are asked once more, as one
batch in an order that treats them alike.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable

from pytest_recsys_mt.answers import Pairs
from pytest_recsys_mt.errors import MissingAnswerError
from pytest_recsys_mt.oracles.effect import Effects
from pytest_recsys_mt.verdict import Allowed, Verdict

CHANGED = "answers changed while we asked"
"""How the reason of a verdict begins whose difference is gone once both sides are asked together."""

WORTH_TELLING = 3600.0
"""Seconds between source and follow-ups from which a verdict says how far apart they are."""


def with_age(effects: Effects, pairs: Pairs) -> Effects:
    """`effects`, with a note where source and follow-ups are far apart in time."""
    if pairs.apart < WORTH_TELLING:
        return effects
    note = f"source and follow-ups were asked {lasting(pairs.apart)} apart"
    return dataclasses.replace(effects, note="; ".join(filter(None, (effects.note, note))))


def confirmed(
    verdict: Verdict, promise: Allowed, apart: float, anew: Callable[[], Verdict]
) -> Verdict:
    """A verdict, asked once more with both sides together where it claims a difference.

    Both must claim it, so that a wrong claim is no likelier than the first alone makes it.

    Args:
        verdict: On answers asked `apart`.
        promise: What it judges.
        apart: Seconds between source and follow-ups; 0 leaves the verdict as it is.
        anew: Gives the verdict on both sides asked together.
    """
    difference = "holds" if promise == "at least" else "violated"
    if not apart or verdict.status != difference:
        return verdict
    when = f"{lasting(apart)} apart"
    try:
        other = anew()
    except MissingAnswerError:
        reason = (
            f"source and follow-ups were asked {when}, so a difference may be the recommender's own; "
            f"their answers asked together are not recorded, and --recsys-mode=replay asks nothing"
        )
        return dataclasses.replace(verdict, status="inconclusive", reason=reason)
    p_values = [each.p_value for each in (verdict, other) if each.p_value is not None]
    if other.status == difference:
        return dataclasses.replace(verdict, p_value=max(p_values, default=None))
    if other.estimate is None or other.interval is None or verdict.estimate is None:
        reason = f"asked {when}, and not together: {other.reason}"
        return dataclasses.replace(verdict, status="inconclusive", reason=reason)
    low, high = other.interval
    reason = (
        f"{CHANGED}: D={verdict.estimate:.3f} between answers asked {when}, "
        f"{other.estimate:.3f} [{low:.3f}, {high:.3f}] with both sides asked together"
    )
    reasons = [reason, *filter(None, [other.reason])]
    return dataclasses.replace(other, status="inconclusive", reason="; ".join(reasons))


def lasting(seconds: float) -> str:
    """A time in words: ``3.2 s``, ``12 minutes``, ``2.5 days``."""
    if math.isinf(seconds):
        return "an unknown time"
    for size, unit in ((86400, "days"), (3600, "hours"), (60, "minutes")):
        if seconds >= 2 * size:
            return f"{seconds / size:.1f}".removesuffix(".0") + f" {unit}"
    return f"{seconds:.1f} s"
