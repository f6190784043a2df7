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
from collections.abc import Callable, Mapping

import numpy as np

from pytest_recsys_mt.answers import Pairs
from pytest_recsys_mt.errors import MissingAnswerError
from pytest_recsys_mt.oracles.bounds import mean_of
from pytest_recsys_mt.oracles.effect import Effects
from pytest_recsys_mt.verdict import Allowed, Verdict

CHANGED = "answers changed while we asked"
"""How the reason of a verdict begins whose difference is gone once both sides are asked together."""

GONE = 0.01
"""How often a difference is called gone that is as large with both sides asked together."""

WORTH_TELLING = 3600.0
"""Seconds between source and follow-ups from which a verdict says how far apart they are."""


def with_age(effects: Effects, pairs: Pairs) -> Effects:
    """`effects`, with a note where source and follow-ups are far apart in time."""
    if pairs.apart < WORTH_TELLING:
        return effects
    note = f"source and follow-ups were asked {lasting(pairs.apart)} apart"
    return dataclasses.replace(effects, note="; ".join(filter(None, (effects.note, note))))


def confirmed(
    verdict: Verdict,
    promise: Allowed,
    apart: float,
    before: Mapping[str, float],
    anew: Callable[[], tuple[Verdict, Mapping[str, float]]],
) -> Verdict:
    """A verdict, withdrawn if it claims a difference that is gone with both sides asked together.

    Gone means that the other verdict does not claim it, and that users' effects are smaller there
    than they were, which is said of a recommender that does not change at most at rate `GONE`. The
    verdict that stands is the first one, so that it does not depend on when anyone was asked.

    Args:
        verdict: On answers asked `apart`.
        promise: What it judges.
        apart: Seconds between source and follow-ups; 0 leaves the verdict as it is.
        before: The effect of each user that it is about.
        anew: Gives the verdict on both sides asked together, and its effects.
    """
    difference = "holds" if promise == "at least" else "violated"
    if not apart or verdict.status != difference or verdict.estimate is None:
        return verdict
    when = f"{lasting(apart)} apart"
    try:
        other, after = anew()
    except MissingAnswerError:
        reason = (
            f"source and follow-ups were asked {when}, so a difference may be the recommender's own; "
            f"their answers asked together are not recorded, and --recsys-mode=replay asks nothing"
        )
        return dataclasses.replace(verdict, status="inconclusive", reason=reason)
    if other.estimate is None or other.interval is None:
        reason = f"asked {when}, and together: {other.reason}"
        return dataclasses.replace(verdict, status="inconclusive", reason=reason)
    drops = math.copysign(1.0, verdict.estimate) * np.array(
        [before[user] - after[user] for user in before if user in after]
    )
    if other.status == difference or mean_of(drops, -2.0, 2.0, exact=False).lower(GONE) <= 0:
        return verdict
    low, high = other.interval
    reason = (
        f"{CHANGED}: D={verdict.estimate:.3f} between answers asked {when}, "
        f"{other.estimate:.3f} [{low:.3f}, {high:.3f}] with both sides asked together"
    )
    return dataclasses.replace(other, status="inconclusive", reason=reason)


def lasting(seconds: float) -> str:
    """A time in words: ``3.2 s``, ``12 minutes``, ``2.5 days``."""
    if math.isinf(seconds):
        return "an unknown time"
    for size, unit in ((86400, "days"), (3600, "hours"), (60, "minutes")):
        if seconds >= 2 * size:
            return f"{seconds / size:.1f}".removesuffix(".0") + f" {unit}"
    return f"{seconds:.1f} s"
