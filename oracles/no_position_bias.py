"""The wanted candidate must be found equally often at every place."""

import dataclasses

import numpy as np

from pytest_recsys_mt.oracles.arguments import share
from pytest_recsys_mt.oracles.arrays import Floats, Integers
from pytest_recsys_mt.oracles.judging.claim import Claim
from pytest_recsys_mt.oracles.judging.difference import require_answer, scored
from pytest_recsys_mt.oracles.judging.effect import Effects
from pytest_recsys_mt.oracles.judging.judge import assess
from pytest_recsys_mt.oracles.not_worse import mean_metric
from pytest_recsys_mt.oracles.scores.metrics import (
    NOTHING_HELD_OUT,
    Metric,
    metric_named,
)
from pytest_recsys_mt.oracles.statistics.bounds import Student
from pytest_recsys_mt.oracles.statistics.position_bias import position_test
from pytest_recsys_mt.safety.errors import NotApplicable, OracleError
from pytest_recsys_mt.verdict.answers import Answers, Asked, Context, Sample
from pytest_recsys_mt.verdict.verdict import Status, Verdict


def no_position_bias(
    answers: Answers,
    metric: str = "hit@5",
    groups: int = 4,
    margin: float = 0.1,
) -> Verdict:
    """The held-out item must be found equally often at every place among the
    candidates.

    The candidates are divided into groups of neighbouring places of equal size. The
    effect of a group is its users' mean metric minus that of all other users.

    The candidates are in random order, there are two `groups` or more, and `margin` is
    the largest allowed absolute effect of a group, in (0, 1). `metric` is as in
    `not_worse`.

    Example:
        assert no_position_bias(recsys.run(), "hit@5", groups=2, margin=0.1)

    Returns:
        A verdict with the largest effect, the bounds of all groups' effects, and the
        p-value of `position_test`. ``holds`` if every group's effect is within the
        margin (two one-sided tests with approximate bounds, at alpha over the number of
        groups). ``violated`` if it is not, the exact permutation test rejects at alpha,
        and the largest effect is beyond the margin. So if places do not matter, the
        verdict is ``violated`` with probability at most alpha. Users without a held-out
        item among their candidates are not applicable.
    """
    named = metric_named(metric)
    oracle = f"no_position_bias:{named.name}"
    if groups < 2:
        raise OracleError(f"{oracle}: groups must be at least 2, got {groups!r}")
    claim = Claim(
        oracle,
        "within",
        share(oracle, "margin", margin),
        ask_everybody=True,
        measures=f"largest difference of {named.name} between places",
    )
    seen: list[tuple[Effects, Floats, Integers]] = []

    def measure(sample: Sample, context: Context) -> Effects:
        seen.append(_found(sample, named, groups))
        return seen[-1][0]

    verdict = assess(answers, claim, measure)
    if verdict.interval is not None and verdict.estimate is not None:
        effects, values, places = seen[-1]
        p_value = position_test(values, places.tolist())[1]
        verdict = _tested(verdict, p_value, effects.note, answers.context.alpha, margin)
    return answers.context.report(verdict)


class GroupEffects(Student):
    """Joint bounds on the effects of all groups of places.

    The bounds are approximate (`benchmarks/aggregates.py` measures them). Each effect
    is bounded by Welch's t at the error rate over the number of groups. One user of
    accuracy 0 and one of accuracy 1 are added to either side (Agresti and Caffo 2000,
    The American Statistician 54(4), for shares), because equal values in a group do not
    prove a variance of 0.
    """

    def __init__(self, values: Floats, places: Integers, groups: int) -> None:
        found = []
        self.estimate = 0.0
        for group in np.unique(places):
            inside, outside = values[places == group], values[places != group]
            if not len(outside):
                outside = inside
            plain = float(inside.mean() - outside.mean())
            if abs(plain) > abs(self.estimate):
                self.estimate = plain
            (m1, v1, f1), (m2, v2, f2) = _moments(inside), _moments(outside)
            freedom = (v1 + v2) ** 2 / (v1**2 / f1 + v2**2 / f2)
            found.append((m1 - m2, np.sqrt(v1 + v2), freedom))
        effects, errors, freedoms = np.array(found).T
        super().__init__(effects, errors, freedoms, groups)

    def p_within(self, value: float) -> float:
        """It is always 1, because `position_test` tests this."""
        return 1.0


def _moments(values: Floats) -> tuple[float, float, int]:
    """Mean, squared standard error and degrees of freedom, with a 0 and a 1 added."""
    more = np.concatenate([values, [0.0, 1.0]])
    return float(more.mean()), float(more.var(ddof=1) / len(more)), len(more) - 1


def _found(
    sample: Sample,
    metric: Metric,
    groups: int,
) -> tuple[Effects, Floats, Integers]:

    def metric_and_group(asked: Asked) -> tuple[float, float]:
        candidates = asked.request.candidates or ()
        at = [
            place for place, item in enumerate(candidates) if item.id in asked.relevant
        ]
        if not at:
            lacking = "no held-out item is among the candidates"
            raise NotApplicable(lacking if asked.relevant else NOTHING_HELD_OUT)
        require_answer(asked)
        return mean_metric(asked, metric), at[0] * groups // len(candidates)

    effects, (found, groups_of_all) = scored(
        metric_and_group,
        sample.asked,
        width=2,
        reach=(-1.0, 1.0),
    )
    at = groups_of_all.astype(np.int64)
    values = [found[at == group] for group in np.unique(at)]
    means = [f"{sum(each) / len(each):.3f} of {len(each)} users" for each in values]
    alone = "all held-out items stand in one group of places; shuffle the candidates"
    effects = dataclasses.replace(
        effects,
        effect=found - found.mean() if len(found) else found,
        mean=GroupEffects(found, at, groups) if len(found) else None,
        obstacle=alone if len(values) < 2 else "",
        note=f"{metric.name} by group of places, from the first: {', '.join(means)}"
        if means
        else "",
        approximate=True,
    )
    return effects, found, at


def _tested(
    verdict: Verdict,
    p_value: float,
    found: str,
    alpha: float,
    margin: float,
) -> Verdict:
    tested = dataclasses.replace(verdict, p_value=p_value)
    if verdict.status == "holds":
        return tested
    if verdict.account.get("both_ends"):
        return verdict  # what those users would add is unknown
    reasons = [found]
    biased = p_value <= alpha and abs(verdict.estimate or 0) > margin
    if not biased:
        unclear = "the answers show neither a bias beyond the margin nor its absence; ask more users"
        reasons.insert(0, unclear)
    status: Status = "violated" if biased else "inconclusive"
    return dataclasses.replace(tested, status=status, reason="; ".join(reasons))
