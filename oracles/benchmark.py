"""Benchmark values: the mean score of the answers, or an aggregate of them, against a
threshold.

The value is needed for any verdict, so all users are asked.
"""

import dataclasses

from pytest_recsys_mt.oracles.aggregates.aggregate import Aggregate
from pytest_recsys_mt.oracles.aggregates.measures import Measure, measure_named
from pytest_recsys_mt.oracles.arguments import finite, not_negative
from pytest_recsys_mt.oracles.judging.account import NO_ANSWER, too_many_unread
from pytest_recsys_mt.oracles.judging.aggregate_effects import aggregate_value
from pytest_recsys_mt.oracles.judging.claim import Claim, Promise
from pytest_recsys_mt.oracles.judging.difference import Unanswered, Unscored, scored
from pytest_recsys_mt.oracles.judging.effect import Effects
from pytest_recsys_mt.oracles.judging.hidden import with_hidden
from pytest_recsys_mt.oracles.judging.judge import assess
from pytest_recsys_mt.oracles.judging.slices import Slices, sliced
from pytest_recsys_mt.oracles.scores.score import Score, mean_score, span_of
from pytest_recsys_mt.safety.errors import OracleError
from pytest_recsys_mt.verdict.answers import Answers, Asked, Context, Sample
from pytest_recsys_mt.verdict.verdict import Verdict

__all__ = ["at_least", "at_most", "within"]


def at_least(
    answers: Answers,
    score: Measure,
    threshold: float,
    *,
    slices: Slices | None = None,
) -> Verdict:
    """The mean score over users, or an aggregate of them, must reach the threshold.

    Example:
        assert at_least(recsys.run(), "ndcg@5", 0.2)

    Args:
        answers: Answers of either side.
        score: A name from `oracles.scores.score.SCORES`, ``hit@k``, ``ndcg@k``,
            ``mrr@k``, a name from `oracles.aggregates.measures.AGGREGATES`, or a
            `Score` or an `Aggregate` of your own.
        threshold: The limit of the mean, in the unit of the score.
        slices: Groups of users to judge too, as in `same_ranking`; not for an
            `Aggregate`.

    Returns:
        A verdict with `metric`, `value`, `interval` and `threshold`: ``holds`` if the
        lower bound of the mean reaches the threshold, ``violated`` if the upper bound
        is below it. A user whose answers have no such score (None) counts at both ends
        of its span. A user for whom the score raises `NotApplicable` is left out, and
        the verdict says how many and why. If an aggregate is undefined, no user is
        applicable.
    """
    return _judge("at_least", answers, score, "at least", threshold, slices)


def at_most(
    answers: Answers,
    score: Measure,
    threshold: float,
    *,
    slices: Slices | None = None,
) -> Verdict:
    """The mean score over users, or an aggregate of them, must stay below the
    threshold.

    Example:
        assert at_most(recsys.run(), "hallucination@5", 0.05)

    Returns:
        As in `at_least`, whose arguments it has: ``holds`` if the upper bound is below
        the threshold, ``violated`` if the lower bound is above it.
    """
    return _judge("at_most", answers, score, "at most", threshold, slices)


def within(
    answers: Answers,
    score: Measure,
    threshold: float,
    *,
    slices: Slices | None = None,
) -> Verdict:
    """The mean score over users, or an aggregate of them, must be near 0 (no bias).

    Example:
        assert within(recsys.run(), "log_popularity_difference", 0.2)

    Returns:
        As in `at_least`, whose arguments it has, but the threshold is above 0:
        ``holds`` if both bounds are nearer to 0 than the threshold (two one-sided
        tests), ``violated`` if the mean is farther from 0.
    """
    if not_negative("within", "threshold", threshold) == 0:
        raise OracleError(
            "within: no test can show that a mean is exactly 0; threshold must be above 0",
        )
    return _judge("within", answers, score, "within", threshold, slices)


def _judge(
    oracle: str,
    answers: Answers,
    score: Measure,
    promise: Promise,
    threshold: float,
    slices: Slices | None,
) -> Verdict:
    limit, named = finite(oracle, "threshold", threshold), measure_named(score)
    oracle = f"{oracle}:{named.name}"
    divided = sliced(oracle, slices, named)
    claim = Claim(oracle, promise, limit, ask_everybody=True, slices=divided)
    seen: list[Sample] = []

    def measure(sample: Sample, context: Context) -> Effects:
        seen.append(sample)
        return (
            aggregate_value(sample, context, named)
            if isinstance(named, Aggregate)
            else score_values(sample, context, named)
        )

    verdict = assess(answers, claim, measure, whole=getattr(named, "unread", False))
    value, sample = verdict.estimate, seen[-1]
    if value is None or sample.unread:
        # As published: an answer of which nothing could be read recommends nothing. The
        # interval has more.
        whole = measure(sample.whole(), answers.context).effect
        silent = too_many_unread(sample, answers.context)
        value = float(whole.mean()) if len(whole) and not silent else None
    return answers.context.report(valued(verdict, named.name, value, limit))


def valued(
    verdict: Verdict,
    metric: str,
    value: float | None,
    threshold: float,
) -> Verdict:
    """The verdict on a benchmark value instead of an effect."""
    return dataclasses.replace(
        verdict,
        estimate=None,
        margin=None,
        metric=metric,
        value=value,
        threshold=threshold,
    )


def scores_of(answers: Answers, score: Score) -> tuple[Sample, Effects]:
    """All answers of one side that may have the score, and their `score_values`."""
    sample = answers.sample()
    sample = sample.whole() if score.unread else sample
    return sample, score_values(sample, answers.context, score)


def score_values(sample: Sample, context: Context, score: Score) -> Effects:
    """The mean score of each user's answers; a user whose answers
    have none counts at both ends of its span.
    """
    left_out = 0

    def mean(asked: Asked) -> float:
        nonlocal left_out
        if not score.silent and not any(a.items or a.entries for a in asked.answers):
            raise Unanswered(NO_ANSWER)
        value, missing = mean_score(asked, context, score)
        left_out += missing
        if value is None:
            raise Unscored(f"the answer has no {score.name}")
        return value

    effects, _ = scored(mean, sample.asked)
    reach = span_of(score, sample, context)
    judged = dataclasses.replace(
        effects,
        reach=reach,
        wide=reach
        == (0.0, 1.0),  # true for hits and shares, not for a logarithm of popularity
        note=f"{left_out} recommended items without {score.name} left out"
        if left_out
        else "",
    )
    return with_hidden(judged, score.name, sample.asked)
