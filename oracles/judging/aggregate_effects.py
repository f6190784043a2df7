"""Turns an aggregate into a mean over users that can be judged.

The interval comes from the jackknife over users, not from a bootstrap: users drawn
twice recommend nothing new, so a bootstrapped coverage is far below the true one. The
bounds are for the aggregate of as many users as were asked, because coverage grows with
their number. They are approximate; see `jackknife`.
"""

import dataclasses
import math
from collections.abc import Sequence

import numpy as np

from pytest_recsys_mt.oracles.aggregates.aggregate import Aggregate
from pytest_recsys_mt.oracles.aggregates.exposure import Answered
from pytest_recsys_mt.oracles.arrays import Floats
from pytest_recsys_mt.oracles.judging.account import NO_ANSWER
from pytest_recsys_mt.oracles.judging.effect import Effects, others, under
from pytest_recsys_mt.oracles.judging.encoding import replicates_of
from pytest_recsys_mt.oracles.statistics.jackknife import Jackknife, linearised
from pytest_recsys_mt.safety.errors import OracleError
from pytest_recsys_mt.verdict.answers import Asked, Context, Pairs, Sample


def aggregate_value(sample: Sample, context: Context, aggregate: Aggregate) -> Effects:
    """The aggregate of one side as `linearised` values of its users, with several
    answers the mean of all replicates.
    """
    return _effects([(sample.asked, 1)], context, aggregate, aggregate.span)


def aggregate_difference(
    pairs: Pairs,
    context: Context,
    aggregate: Aggregate,
    sign: int,
) -> Effects:
    """The signed difference of the aggregates of two sides;
    each user is left out of both at once.
    """
    width = aggregate.span[1] - aggregate.span[0]
    sides = [(pairs.followup, sign), (pairs.source, -sign)]
    return _effects(sides, context, aggregate, (-width, width))


def _effects(
    sides: Sequence[tuple[Sequence[Asked], int]],
    context: Context,
    aggregate: Aggregate,
    reach: tuple[float, float],
) -> Effects:
    """The effects of a sum of aggregates.

    Args:
        sides: The answers of each side, with the sign of its aggregate.
        context: The facts of the run.
        aggregate: The number that is computed of each side.
        reach: The smallest and the largest possible sum.
    """
    answers_of_sides = [asked for asked, _ in sides]
    users = zip(*answers_of_sides, strict=True)
    rows = [row for row, one in enumerate(users) if any(map(_has_entries, one))]
    failed = under(NO_ANSWER, others(len(sides[0][0]), rows))
    nobody = Effects(
        np.empty(0, np.intp),
        np.empty(0),
        reach,
        failed=failed,
        noise="no bias",
    )
    if not rows:
        return nobody
    value = 0.0
    without = np.zeros(len(rows))
    obstacle = ""
    note = ""
    for side, sign in sides:
        asked = [side[row] for row in rows]
        replicates = replicates_of(asked)
        for replicate in range(replicates):
            answered = [(one, one.answers[replicate]) for one in asked]
            note = note or aggregate.note(answered, context)
            of_all = _number(aggregate, aggregate.of(answered, context))
            if of_all is None:
                reason = f"{aggregate.name} is undefined {aggregate.undefined}"
                return dataclasses.replace(nobody, left_out={reason: rows})
            of_others, missing = _of_others(aggregate, answered, context, of_all)
            obstacle = obstacle or missing
            weight = sign / replicates
            value += weight * of_all
            without += weight * of_others
    effect = linearised(value, without)
    width = aggregate.span[1] - aggregate.span[0]
    return dataclasses.replace(
        nobody,
        rows=np.array(rows, np.intp),
        effect=effect,
        mean=Jackknife(effect, *reach, width),
        obstacle=obstacle,
        note=note,
        joint=True,
        approximate=True,
    )


def _has_entries(asked: Asked) -> bool:
    """Whether an answer of a user says anything, be it an item or not."""
    return any(answer.items or answer.entries for answer in asked.answers)


def _of_others(
    aggregate: Aggregate,
    answered: Sequence[Answered],
    context: Context,
    of_all: float,
) -> tuple[Floats, str]:
    """The aggregate without each user, ``(n,)``, and why it cannot be judged where it
    is undefined without one.
    """
    if len(answered) == 1:
        return np.array([of_all]), ""
    left = [
        _number(aggregate, value) for value in aggregate.leaving_out(answered, context)
    ]
    if len(left) != len(answered):
        raise OracleError(
            f"{aggregate.name}: without_each must return one number per user, got {len(left)} for "
            f"{len(answered)} users",
        )
    if None not in left:
        return np.array(left, np.float64), ""
    asked, _ = answered[left.index(None)]
    obstacle = (
        f"{aggregate.name} is undefined without user {asked.user!r}, so it has no "
        f"interval; ask more users"
    )
    return np.full(len(left), of_all), obstacle


def _number(aggregate: Aggregate, value: float | None) -> float | None:
    """The value of an aggregate, checked; None if it is undefined."""
    if value is None:
        return None
    if not math.isfinite(value):
        raise OracleError(
            f"{aggregate.name}: an aggregate must be a finite number, or None if it is undefined, got "
            f"{value!r}",
        )
    return float(value)
