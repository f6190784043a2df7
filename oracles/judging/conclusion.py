"""From what was seen of the users asked so far to a verdict."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pytest_recsys_mt.answers import Asked, Context, Pairs, Sample
from pytest_recsys_mt.oracles.arrays import Floats
from pytest_recsys_mt.oracles.judging.claim import Claim, decide, excess, nearest_limit, p_value
from pytest_recsys_mt.oracles.judging.effect import (
    MOST_HOLES,
    Effects,
    follow_ups_failed,
    mostly_holes,
)
from pytest_recsys_mt.oracles.judging.examples import pick
from pytest_recsys_mt.oracles.judging.ladder import counted, not_asked, without_verdict
from pytest_recsys_mt.oracles.judging.power import outlook
from pytest_recsys_mt.verdict import Status, Verdict

JOINT = (
    "some follow-ups failed, and it is unknown what their users would add to a number of all users "
    "together; find out why they fail"
)

OF_ALL = (
    "the bounds contain the limit; the number is of these users together, and of more users it is another "
    "one, so declare a wider limit before the next run, or use other data"
)
"""For a number of all users together: more users do not only narrow its bounds."""


@dataclass(frozen=True)
class Seen:
    """The results of the users asked so far.

    Attributes:
        effects: Effects of the scored users.
        tally: Counts the users that were not scored.
        source: Answers to show as the source's, or empty.
        followup: Answers to show as the follow-up's, or empty.
    """

    effects: Effects
    tally: Pairs | Sample
    source: Sequence[Asked]
    followup: Sequence[Asked]

    @property
    def errors(self) -> Counter[str]:
        """Why users' calls failed, with their numbers."""
        return self.failed + Counter(self.effects.unmeasured)

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
    """The verdict on the users asked so far, whether or not more can be asked.

    Args:
        claim: What to judge.
        relation: Name of the transformation.
        seen: The results of all users asked so far.
        context: The error rates and limits of the run.
    """
    effects, users = seen.effects, len(seen.effects.rows)
    failures = _failures(seen)
    found = without_verdict(users, seen.errors, seen.tally.unasked, seen.not_applicable, context)
    numbers: dict[str, Any] = {}
    if found is None:
        found, numbers = _judged(claim, seen, context)
    elif found[0] == "error":
        failures = []  # the reason names them
    status, reason = found
    return Verdict(
        status,
        claim.oracle,
        relation,
        margin=claim.margin,
        allowed=claim.promise,
        measures=claim.measures,
        joint=effects.joint,
        approximate=effects.approximate,
        users=users,
        not_applicable=seen.not_applicable.total(),
        errors=seen.errors.total(),
        reason="; ".join(part for part in (reason, *failures, effects.note) if part),
        **numbers,
    )


def _failures(seen: Seen) -> list[str]:
    """The failed calls in words."""
    failures = [f"failed: {counted(seen.failed)}"] if seen.failed else []
    unmeasured = seen.effects.unmeasured
    if others := sum(unmeasured.values()):
        told = follow_ups_failed(others, len(seen.effects.rows) + others)
        failures.append(f"{told} ({counted(unmeasured)})")
    return failures


def _judged(
    claim: Claim, seen: Seen, context: Context
) -> tuple[tuple[Status, str], dict[str, Any]]:
    """The status and the reason if some users were scored, and the numbers of the verdict."""
    effects, alpha = seen.effects, context.alpha
    numbers: dict[str, Any] = {
        "floor": _average(effects.floor),
        "agreement": _average(effects.agreement),
        "examples": pick(
            effects, excess(claim, effects.effect), seen.source, seen.followup, context
        ),
    }
    unasked = not_asked(seen.tally.unasked)
    if effects.obstacle:
        return ("inconclusive", unasked or effects.obstacle), numbers
    # Values of an aggregate are pseudo-values without bounds, so the reach is widened to include them.
    per_user = seen.per_user
    ends = (*effects.reach, *per_user.values())
    numbers |= {"reach": (min(ends), max(ends)), "per_user": per_user}
    if effects.unmeasured and effects.joint:
        return ("inconclusive", unasked or JOINT), numbers
    mean = effects.of_all
    numbers |= {
        "estimate": mean.estimate,
        "interval": (mean.lower(alpha), mean.upper(alpha)),
        "p_value": p_value(mean, claim),
    }
    if numbers["floor"] is not None and numbers["floor"] <= claim.margin:
        return ("inconclusive", _too_noisy(numbers["floor"], claim.margin)), numbers
    status = decide(mean, claim, alpha)
    if status == "holds" and effects.holes > MOST_HOLES:
        return ("inconclusive", mostly_holes(effects.holes)), numbers
    if status != "inconclusive" or unasked:
        return (status, unasked if status == "inconclusive" else ""), numbers
    if effects.joint:
        return (status, OF_ALL), numbers
    # If only the unmeasured users prevent a verdict, asking more users does not help.
    measured = dataclasses.replace(effects, unknown=())
    if decide(measured.of_all, claim, alpha) != status:
        return (status, ""), numbers
    return (status, outlook(effects, *nearest_limit(mean, claim), alpha, context.users)), numbers


def _too_noisy(floor: float, margin: float) -> str:
    return (
        f"answers to the same request agree only {floor:.3f}, which is not above the margin "
        f"{margin:g}: no effect of that size could be seen; ask for less variable answers (a lower "
        f"temperature) or use a smaller margin"
    )


def _average(values: Floats | None) -> float | None:
    return None if values is None else float(values.mean())
