"""Accuracy must not fall from step to step as requests grow richer."""

import dataclasses
from collections.abc import Sequence
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from pytest_recsys_mt.oracles.aggregates.aggregate import Aggregate
from pytest_recsys_mt.oracles.aggregates.measures import Measure, measure_named
from pytest_recsys_mt.oracles.arguments import not_negative, one_side
from pytest_recsys_mt.oracles.direction import score_effects
from pytest_recsys_mt.oracles.judging.claim import Claim
from pytest_recsys_mt.oracles.judging.judge import compare, reported
from pytest_recsys_mt.oracles.judging.slices import Slices, sliced
from pytest_recsys_mt.oracles.scores.score import Score
from pytest_recsys_mt.oracles.statistics.betting import p_of_some
from pytest_recsys_mt.safety.errors import OracleError
from pytest_recsys_mt.verdict.answers import Answers
from pytest_recsys_mt.verdict.verdict import NEEDED, Status, Verdict
from pytest_recsys_mt.verdict.wording import spoken


def monotone(
    sides: Sequence[Answers],
    score: Measure = "ndcg@10",
    margin: float = 0.02,
    *,
    slices: Slices | None = None,
) -> Verdict:
    """No step of a series may lower the mean score by more than the margin.

    An example is a series of histories of 0, 1, 2, 5, ... items: from each length to
    the next, the mean score may fall by at most the margin. Each step is a paired
    comparison of the same users.

    Errors: ``holds`` means that *every* step loses less than the margin, at error rate
    alpha. The joint claim needs no correction (intersection-union test, Berger 1982,
    Technometrics 24(4)). ``violated`` means that *some* step loses more. The bets on
    all steps share the capital, so a series in which no step loses more is reported as
    violated with probability at most alpha. For aggregates and slices, or if follow-ups
    failed, answers could not be read, or a step does not apply to some users, the
    p-values of m steps are multiplied by m instead (Bonferroni).

    Example:
        assert monotone([recsys.using(history=n).run() for n in (2, 5, 10)], "ndcg@5", margin=0.02)

    Args:
        sides: Answers to the requests of each step, in the order of the series, at
            least two.
        score: As in `at_least`: a name, a `Score` or an `Aggregate`; higher is better.
        margin: By how much the mean may fall in one step, in the unit of the score, 0
            or more.
        slices: Groups of users to judge too, as in `same_ranking`; not for an
            `Aggregate`.

    Returns:
        A verdict with the loss and the bounds of the worst step. The reason lists all
        steps. Steps without an applicable user are listed but not judged.
    """
    named = measure_named(score)
    oracle = f"monotone:{named.name}"
    if len(sides) < 2:
        raise OracleError(
            f"{oracle}: a series has at least two sides, got {len(sides)}",
        )
    most = not_negative(oracle, "margin", margin)
    claim = _claim(oracle, named, most, len(sides) - 1, slices)
    context = one_side(oracle, "sides[0]", sides[0]).context
    measure = partial(score_effects, score=named, sign=-1)
    names = [one_side(oracle, "sides", side).label or "unchanged" for side in sides]
    steps = [
        compare(before, after, claim, measure) for before, after in pairwise(sides)
    ]
    sentences = _in_words(names, steps)
    again = partial(monotone, score=score, margin=margin, slices=slices)
    return reported(
        _together(steps, sentences, context.alpha),
        lambda *each: again(each),
        *sides,
    )


def _claim(
    oracle: str,
    score: Score | Aggregate,
    margin: float,
    steps: int,
    slices: Slices | None,
) -> Claim:
    """The claim on one step of so many."""
    whole = isinstance(score, Aggregate)
    measures = f"largest fall of {spoken(score.name)} in one step"
    divided = sliced(oracle, slices, score)
    return Claim(oracle, "at most", margin, whole, steps, measures, divided)


def _in_words(names: Sequence[str], steps: Sequence[Verdict]) -> list[str]:
    """Each step in words, between sides of these names."""
    return [
        f"{before} to {after}: {_in_short(step)}"
        for (before, after), step in zip(pairwise(names), steps, strict=True)
    ]


def _together(
    steps: Sequence[Verdict],
    sentences: Sequence[str],
    alpha: float,
) -> Verdict:
    counted = [step for step in steps if step.status != "not-applicable"] or list(steps)
    worst = max(counted, key=_badness)
    p_value = _p_of_some(counted)
    found: set[Status] = {step.status for step in counted}
    proven = p_value is not None and p_value <= alpha
    status: Status = "violated" if proven else "inconclusive"
    if "error" in found:
        status = "error"
    elif found in ({"not-applicable"}, {"holds"}):
        (status,) = found
    reasons = list(sentences)
    if status == "inconclusive" and "violated" in found:
        alone = f"one step is violated alone, but not among {len(counted)} steps; ask more users"
        reasons.insert(0, alone)
    if not all(step.vacuous for step in counted):
        worst = dataclasses.replace(worst, vacuous="", details={})
    partly = [step for step in counted if "unreadable" in step.details]
    if partly:
        # The result of a step whose answers were read says nothing of the largest
        # fall of all steps.
        silent = max(
            partly,
            key=lambda step: (
                step.estimate is None,
                step.details["unreadable"]["answers"],
            ),
        )
        unreadable = {**silent.details["unreadable"], "users": {}}
        worst = dataclasses.replace(
            silent if silent.estimate is None else worst,
            per_user={},
            reach=None,
            details={**worst.details, "unreadable": unreadable},
        )
    return dataclasses.replace(
        worst,
        status=status,
        p_value=p_value,
        not_applicable=max(step.not_applicable for step in counted),
        errors=max(step.errors for step in counted),
        looks=max(step.looks for step in counted),
        details={
            **worst.details,
            **(_needed(counted) if status == "inconclusive" else {}),
        },
        reason="; ".join(reasons),
    )


def _needed(steps: Sequence[Verdict]) -> dict[str, Any]:
    unclear = [step.details for step in steps if step.status == "inconclusive"]
    if not unclear or not all(NEEDED in details for details in unclear):
        return {}
    return dict(max(unclear, key=lambda details: int(details[NEEDED])))


def _p_of_some(steps: Sequence[Verdict]) -> float | None:
    p_values = [step.p_value for step in steps if step.p_value is not None]
    users = max((list(step.per_user) for step in steps), key=len)
    # A shared bet needs the order drawn, which users that only some steps could serve
    # do not have.
    apart = any(list(step.per_user) != users[: len(step.per_user)] for step in steps)
    if (
        len(p_values) < len(steps)
        or apart
        or any(
            step.joint or step.slices or step.account.get("both_ends") for step in steps
        )
    ):
        return min(1.0, len(steps) * min(p_values)) if p_values else None
    gains, worst = [], []
    for step in steps:
        (low, high), margin = step.reach or (0.0, 0.0), step.margin or 0.0
        scale = (high - low) or 1.0
        # A user whom the step did not ask changes no capital.
        gains.append(
            [(step.per_user.get(user, margin) - margin) / scale for user in users],
        )
        worst.append([(margin - low) / scale])
    return p_of_some(np.array(gains), np.array(worst))


def _badness(step: Verdict) -> tuple[bool, bool, float]:
    """Failed steps first, then those that a group of
    users breaks, then the largest loss.
    """
    loss = float("-inf") if step.estimate is None else step.estimate
    return step.status == "error", step.broken is not None, loss


def _in_short(step: Verdict) -> str:
    if step.estimate is None or step.interval is None:
        return f"{step.status} ({step.reason})"
    low, high = step.interval
    gain, least, most = (0.0 - bound for bound in (step.estimate, high, low))
    failed = f" ({step.reason})" if step.account.get("both_ends") else ""
    return f"{step.status}, gains {gain:.4f} [{least:.4f}, {most:.4f}] of {step.users} users{failed}"
