"""A score of the answers must move in a stated direction, or stay."""

import dataclasses
from functools import partial

from pytest_recsys_mt.oracles.aggregates.aggregate import Aggregate
from pytest_recsys_mt.oracles.aggregates.measures import Measure, measure_named
from pytest_recsys_mt.oracles.arguments import not_negative
from pytest_recsys_mt.oracles.judging.aggregate_effects import aggregate_difference
from pytest_recsys_mt.oracles.judging.claim import Claim, Promise
from pytest_recsys_mt.oracles.judging.difference import Unscored, paired_differences
from pytest_recsys_mt.oracles.judging.effect import Effects
from pytest_recsys_mt.oracles.judging.hidden import with_hidden
from pytest_recsys_mt.oracles.judging.judge import judge_pair
from pytest_recsys_mt.oracles.judging.slices import Slices, sliced
from pytest_recsys_mt.oracles.scores.popularity_scores import Scored
from pytest_recsys_mt.oracles.scores.score import Score, mean_score, span_of
from pytest_recsys_mt.safety.errors import NotApplicable, OracleError
from pytest_recsys_mt.verdict.answers import Answers, Asked, Context, Pairs
from pytest_recsys_mt.verdict.verdict import Verdict
from pytest_recsys_mt.verdict.wording import spoken

__all__ = ["decreases", "increases", "not_increased", "same_score"]


def increases(
    source: Answers,
    followup: Answers,
    score: Measure = "log_popularity",
    margin: float = 0.0,
    *,
    slices: Slices | None = None,
) -> Verdict:
    """The follow-up must score higher than the source by at least the margin.

    The effect of a user is the mean score of the follow-up's answers minus that of the
    source's. No noise floor is needed: noise does not bias a mean difference.

    Example:
        assert increases(recsys.run(popularity_prompt("minimize")), recsys.run(), margin=0.1)

    Args:
        source: Answers to the original requests.
        followup: Answers to the transformed ones.
        score: As in `at_least`: a name, a `Score` or an `Aggregate`.
        margin: By how much the mean user's score must (or, of a promise against it,
            may) move, in the unit of the score, 0 or more.
        slices: Groups of users to judge too, as in `same_ranking`; not for an
            `Aggregate`.

    Returns:
        ``holds`` if the mean difference is above the margin, ``violated`` if it is
        below. At margin 0, an effect of exactly 0 stays inconclusive.
    """
    return judge_score(
        "increases",
        "at least",
        1,
        source,
        followup,
        score,
        margin=margin,
        slices=slices,
    )


def decreases(
    source: Answers,
    followup: Answers,
    score: Measure = "log_popularity",
    margin: float = 0.0,
    *,
    slices: Slices | None = None,
) -> Verdict:
    """The follow-up must score lower than the source by at least the margin.

    The effect of a user is the source's mean score minus the follow-up's. All else is
    as in `increases`.

    Example:
        assert decreases(recsys.run(), recsys.run(popularity_prompt("minimize")), margin=0.1)
    """
    return judge_score(
        "decreases",
        "at least",
        -1,
        source,
        followup,
        score,
        margin=margin,
        slices=slices,
    )


def not_increased(
    source: Answers,
    followup: Answers,
    score: Measure,
    margin: float = 0.05,
    *,
    slices: Slices | None = None,
) -> Verdict:
    """The mean score must not rise by more than the margin; it may fall by any amount.

    Effect and arguments are those of `increases`.

    Example:
        assert not_increased(source, followup, "log_popularity", margin=0.05)
    """
    return judge_score(
        "not_increased",
        "at most",
        1,
        source,
        followup,
        score,
        margin=margin,
        slices=slices,
    )


def same_score(
    source: Answers,
    followup: Answers,
    score: Measure = "log_popularity",
    margin: float = 0.2,
    *,
    slices: Slices | None = None,
) -> Verdict:
    """The mean score must neither fall nor rise by more than the margin.

    Effect and arguments are those of `increases`, but the margin is above 0. Two
    one-sided tests (Schuirmann 1987, J. Pharmacokinet. Biopharm. 15) show that the mean
    lies within the margin.

    Example:
        assert same_score(source, followup, "log_popularity", margin=0.2)
    """
    return judge_score(
        "same_score",
        "within",
        1,
        source,
        followup,
        score,
        margin=margin,
        slices=slices,
    )


def score_effects(
    pairs: Pairs,
    context: Context,
    score: Score | Aggregate,
    sign: int,
) -> Effects:
    """The difference of each user's mean scores, or of an
    aggregate: follow-up minus source, times `sign`.
    """
    if isinstance(score, Aggregate):
        return aggregate_difference(pairs, context, score, sign)
    left_out: dict[str, int] = {}

    def difference(source: Asked, followup: Asked, context: Context) -> float:
        (before, missing_before), (after, missing_after) = of_both(
            source,
            followup,
            context,
        )
        left_out[source.user] = missing_before + missing_after
        if before is None or after is None:
            raise Unscored(f"an answer has no {score.name}")
        return sign * (after - before)

    def of_both(source: Asked, followup: Asked, context: Context) -> list[Scored]:
        found, reasons = [], []
        for side in (source, followup):
            try:
                found.append(mean_score(side, context, score))
            except NotApplicable as reason:
                reasons.append(str(reason))
        if len(reasons) == 1:  # which answer it is must not decide who counts
            raise Unscored(
                f"{score.name} is defined for one of the two answers only: {reasons[0]}",
            )
        if reasons:
            raise NotApplicable(reasons[0])
        return found

    low, high = span_of(score, pairs, context)
    effects = paired_differences(pairs, context, difference, high - low)
    items = sum(left_out.values())
    note = f"{items} recommended items without {score.name} left out" if items else ""
    effects = dataclasses.replace(effects, note=note)
    return with_hidden(effects, score.name, (*pairs.source, *pairs.followup))


def judge_score(
    oracle: str,
    promise: Promise,
    sign: int,
    source: Answers,
    followup: Answers,
    score: Measure,
    *,
    margin: float,
    slices: Slices | None,
) -> Verdict:
    """Judge the mean of `score_effects` against a margin of at
    least 0, for the oracle of that name.
    """
    named = measure_named(score)
    oracle = f"{oracle}:{named.name}"
    least = not_negative(oracle, "margin", margin)
    moved = "change" if promise == "within" else "rise" if sign > 0 else "fall"
    if promise == "within" and least == 0:
        raise OracleError(
            f"{oracle}: no test can show that a mean stays exactly the same; margin must be above 0",
        )
    claim = Claim(
        oracle,
        promise,
        least,
        ask_everybody=isinstance(named, Aggregate),
        measures=f"{moved} of {spoken(named.name)}",
        slices=sliced(oracle, slices, named),
    )
    return judge_pair(
        source,
        followup,
        claim,
        partial(score_effects, score=named, sign=sign),
    )
