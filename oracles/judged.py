"""The mean of a number that a test computed itself must be on one side of a limit."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from pytest_recsys_mt.oracles.arguments import finite
from pytest_recsys_mt.oracles.arrays import Floats
from pytest_recsys_mt.oracles.benchmark import valued
from pytest_recsys_mt.oracles.judging.account import joined
from pytest_recsys_mt.oracles.judging.claim import Claim, Promise, excess
from pytest_recsys_mt.oracles.judging.conclusion import verdict_of
from pytest_recsys_mt.oracles.judging.effect import Effects
from pytest_recsys_mt.oracles.judging.seen import Seen
from pytest_recsys_mt.oracles.judging.slices import SWITCH, Slices
from pytest_recsys_mt.oracles.judging.steps import decided_beforehand, planned
from pytest_recsys_mt.oracles.own_numbers import (
    NO_VALUE,
    means,
    numbered_by_value,
    numbers_by_unit,
    of_unit,
    require_words,
    span_of_numbers,
    too_many_missing,
)
from pytest_recsys_mt.requests import Recommendation, Request, Scale
from pytest_recsys_mt.safety.errors import OracleError
from pytest_recsys_mt.verdict.answers import Asked, Context, Sample
from pytest_recsys_mt.verdict.verdict import Verdict

SHOWN = 3
"""Units farthest beyond the limit that a violated verdict names."""


def judged(
    values: Mapping[Any, Any],
    context: Context,
    *,
    at_most: float | None = None,
    at_least: float | None = None,
    span: tuple[float, float] | None = None,
    name: str = "value",
    unit: str = "users",
    slices: Slices | None = None,
) -> Verdict:
    """The mean of a number of your own must be at most, or at least, a limit.

    Compute it per user, question, conversation or pair of texts. The bounds and the
    error rate are those of `at_most` and `at_least`, for one look at units that do not
    depend on each other. Units are taken in the order of a digest of their keys, so a
    mapping may be sorted; values numbered after they were sorted get no verdict.

    Example:
        lengths = {asked.user: len(asked.answers[0].items) for asked in recsys.run().sample().asked}
        assert judged(lengths, recsys.context, at_least=4, span=(0, 10), name="length of a list")

    Args:
        values: From a unit (any key) to its number, or to a sequence of numbers, its
            replicates, which are averaged. None says that it has no number: it counts
            at both ends of the span, and too many such units allow no verdict.
        context: The fixture's `recsys.context`, which receives the verdict.
        at_most: The largest allowed mean.
        at_least: The smallest allowed mean, instead of `at_most`.
        span: The smallest and the largest possible number, which must be given. Another
            number is an error.
        name: The name of the number in reports.
        unit: What the numbers are of, in the plural, such as ``questions``.
        slices: Groups of users to judge too, as in `same_ranking`, if the units are
            sampled users of the run.

    Raises:
        OracleError: If a number is NaN or outside the span, or if both limits or none
            are given.
    """
    oracle = f"judged:{name}"
    require_words("judged", context, name, unit)
    promise, limit = _limit(oracle, at_most, at_least)
    ends = span_of_numbers(oracle, "span", span)
    read = numbers_by_unit(oracle, "values", values, ends)
    numbers = dict(zip(read, means(read), strict=True))
    return judge_numbers(
        oracle,
        numbers,
        context,
        promise=promise,
        limit=limit,
        span=ends,
        name=name,
        unit=unit,
        slices=slices,
        obstacle=numbered_by_value(numbers),
    )


def judge_numbers(
    oracle: str,
    numbers: Mapping[str, float],
    context: Context,
    *,
    promise: Promise,
    limit: float,
    span: tuple[float, float],
    name: str,
    unit: str,
    slices: Slices | None = None,
    left_out: Mapping[str, str] | None = None,
    obstacle: str = "",
) -> Verdict:
    """The reported verdict on the mean of one number per unit, NaN if it has none.

    `left_out` are further units that are not judged, each with the reason; an
    `obstacle` says why no number allows a verdict.
    """
    left_out = left_out or {}
    units = [*numbers, *left_out]
    everybody = {asked.user for asked in context.everybody()}
    of_run = unit == "users" and everybody.issuperset(units)
    if slices and not of_run:
        raise OracleError(
            f"{oracle}: slices={tuple(slices)!r} divide the sampled users of the run, and these units are others; leave "
            f"slices out, or call judged for each group",
        )
    facts = context if of_run else replace(context, users=0)
    claim = Claim(
        oracle,
        promise,
        limit,
        ask_everybody=True,
        slices=slices if of_run else (),
    )
    sample = Sample(_asked(units, numbers), sampled=len(everybody) if of_run else None)
    effects = _effects(numbers, left_out, span, context, obstacle)
    if message := decided_beforehand(claim, replace(effects, obstacle="")):
        raise OracleError(message)
    seen = Seen.of(effects, sample, sample.asked, (), claim.groups(facts))
    if context.made_up:
        verdict = planned(claim, "", seen)
    else:
        verdict = verdict_of(claim, "", seen, facts)
    notes = [_absent(len(everybody) - len(units)) if of_run else ""]
    if context.slices and slices is None and not of_run:
        notes.append(f"not divided by {SWITCH}: these are no sampled users of the run")
    if verdict.status == "violated":
        notes.append(_farthest(numbers, claim))
    reason = joined(of_unit(verdict.reason, unit), *notes)
    details = verdict.details if unit == "users" else {**verdict.details, "unit": unit}
    # What is shown of an answer is not known here.
    verdict = replace(verdict, reason=reason, details=details, examples=())
    return context.report(valued(verdict, name, verdict.estimate, limit))


def _limit(
    oracle: str,
    at_most: float | None,
    at_least: float | None,
) -> tuple[Promise, float]:
    """The promise and its limit, of which one is given."""
    if (at_most is None) == (at_least is None):
        raise OracleError(
            f"{oracle}: give one limit, at_most= or at_least=, got at_most={at_most!r} and at_least={at_least!r}; for "
            f"both, call it twice",
        )
    if at_most is not None:
        return "at most", finite(oracle, "at_most", at_most)
    return "at least", finite(oracle, "at_least", at_least)


def _asked(units: list[str], numbers: Mapping[str, float]) -> tuple[Asked, ...]:
    """The units in the form in which verdicts count users."""
    return tuple(
        Asked(
            Request(unit, (), Scale(), None, 1),
            (Recommendation((), text=f"{numbers.get(unit, np.nan):g}"),),
        )
        for unit in units
    )


def _effects(
    numbers: Mapping[str, float],
    left_out: Mapping[str, str],
    span: tuple[float, float],
    context: Context,
    obstacle: str,
) -> Effects:
    values: Floats = np.array(list(numbers.values()), np.float64)
    missing = np.flatnonzero(np.isnan(values)).tolist()
    reasons: dict[str, list[int]] = {}
    for row, reason in enumerate(left_out.values(), len(values)):
        reasons.setdefault(reason, []).append(row)
    rows = np.flatnonzero(~np.isnan(values))
    return Effects(
        rows=rows,
        effect=values[rows],
        reach=span,
        wide=span == (0.0, 1.0),
        undefined={NO_VALUE: missing} if missing else {},
        left_out=reasons,
        obstacle=too_many_missing(len(missing), len(values), context) or obstacle,
        noise="no bias",
    )


def _absent(users: int) -> str:
    """How many sampled users have no key, in words."""
    if not users:
        return ""
    have = "user of the run has" if users == 1 else "users of the run have"
    return f"{users} sampled {have} no key here, and are not judged"


def _farthest(numbers: Mapping[str, float], claim: Claim) -> str:
    """The units farthest beyond the limit, in words."""
    known = {unit: value for unit, value in numbers.items() if not np.isnan(value)}
    beyond = excess(claim, np.array(list(known.values())))
    worst = [place for place in np.argsort(-beyond, kind="stable") if beyond[place] > 0]
    units = list(known)
    named = [f"{units[at]} ({known[units[at]]:.3g})" for at in worst[:SHOWN]]
    return f"farthest beyond it: {', '.join(named)}" if named else ""
