"""A score of the answers must move in a stated direction."""

import dataclasses
from functools import partial

from pytest_recsys_mt.answers import Answers, Asked, Context, Pairs
from pytest_recsys_mt.oracles.aggregates.aggregate import Aggregate
from pytest_recsys_mt.oracles.aggregates.measures import measure_named
from pytest_recsys_mt.oracles.arguments import not_negative
from pytest_recsys_mt.oracles.judging.aggregate_effects import aggregate_difference
from pytest_recsys_mt.oracles.judging.claim import Claim, Promise
from pytest_recsys_mt.oracles.judging.difference import Unscored, paired_differences
from pytest_recsys_mt.oracles.judging.effect import Effects
from pytest_recsys_mt.oracles.judging.judge import judge_pair
from pytest_recsys_mt.oracles.judging.slices import Slices, sliced
from pytest_recsys_mt.oracles.scores.score import Score, mean_score, span_of
from pytest_recsys_mt.verdict import Verdict
from pytest_recsys_mt.wording import spoken

__all__ = ["decreases", "increases"]


def increases(
    source: Answers,
    followup: Answers,
    score: str | Score | Aggregate = "log_popularity",
    margin: float = 0.0,
    *,
    slices: Slices | None = None,
) -> Verdict:
    """The follow-up must score higher than the source by at least the margin.

    The effect of a user is the mean score of the follow-up's answers minus that of the source's.
    No noise floor is needed: noise does not bias a mean difference.

    Example:
        assert increases(recsys.run(popularity_prompt("minimize")), recsys.run(), margin=0.1)

    Args:
        source: Answers to the original requests.
        followup: Answers to the transformed ones.
        score: As in `at_least`: a name, a `Score` or an `Aggregate`.
        margin: By how much the mean user's score must rise, in the unit of the score, 0 or more.
        slices: Groups of users to judge too, as in `same_ranking`; not for an `Aggregate`.

    Returns:
        ``holds`` if the mean difference is above the margin, ``violated`` if it is below. At margin
        0, an effect of exactly 0 stays inconclusive.

    Raises:
        OracleError: If an argument is invalid.
    """
    return judge_score("increases", "at least", 1, source, followup, score, margin, slices)


def decreases(
    source: Answers,
    followup: Answers,
    score: str | Score | Aggregate = "log_popularity",
    margin: float = 0.0,
    *,
    slices: Slices | None = None,
) -> Verdict:
    """The follow-up must score lower than the source by at least the margin.

    This mirrors `increases`: the effect of a user is the source's mean score minus the follow-up's.

    Example:
        assert decreases(recsys.run(), recsys.run(popularity_prompt("minimize")), margin=0.1)

    Args:
        source: Answers to the original requests.
        followup: Answers to the transformed ones.
        score: As in `at_least`: a name, a `Score` or an `Aggregate`.
        margin: By how much the mean user's score must fall, in the unit of the score, 0 or more.
        slices: Groups of users to judge too, as in `same_ranking`; not for an `Aggregate`.

    Returns:
        As in `increases`.

    Raises:
        OracleError: If an argument is invalid.
    """
    return judge_score("decreases", "at least", -1, source, followup, score, margin, slices)


def score_effects(pairs: Pairs, context: Context, score: Score | Aggregate, sign: int) -> Effects:
    """The signed difference of each user's mean scores, or of an aggregate.

    Args:
        pairs: The answers of both sides.
        context: Holds the data that scores need.
        score: The score of one answer, or the aggregate of one answer of every user.
        sign: 1 for follow-up minus source, -1 for the reverse.

    Returns:
        One effect per user with a scored answer on both sides.
    """
    if isinstance(score, Aggregate):
        return aggregate_difference(pairs, context, score, sign)
    left_out = 0

    def difference(source: Asked, followup: Asked) -> float:
        nonlocal left_out
        before, missing_before = mean_score(source, context, score)
        after, missing_after = mean_score(followup, context, score)
        left_out += missing_before + missing_after
        if before is None or after is None:
            raise Unscored(f"no recommended item has a {score.name}")
        return sign * (after - before)

    low, high = span_of(score, pairs, context)
    effects = paired_differences(pairs, difference, high - low)
    if left_out:
        note = f"{left_out} recommended items without {score.name} left out"
        return dataclasses.replace(effects, note=note)
    return effects


def judge_score(
    oracle: str,
    promise: Promise,
    sign: int,
    source: Answers,
    followup: Answers,
    score: str | Score | Aggregate,
    margin: float,
    slices: Slices | None,
) -> Verdict:
    """Judge the mean of `score_effects` against a margin of at least 0, for the oracle of that name."""
    named = measure_named(score)
    oracle = f"{oracle}:{named.name}"
    least = not_negative(oracle, "margin", margin)
    claim = Claim(
        oracle,
        promise,
        least,
        ask_everybody=isinstance(named, Aggregate),
        measures=f"{'rise' if sign > 0 else 'fall'} of {spoken(named.name)}",
        slices=sliced(oracle, slices, named),
    )
    return judge_pair(source, followup, claim, partial(score_effects, score=named, sign=sign))
