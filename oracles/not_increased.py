"""A mean score of the answers must not rise."""

from __future__ import annotations

from pytest_recsys_mt.answers import Answers
from pytest_recsys_mt.oracles.aggregates.aggregate import Aggregate
from pytest_recsys_mt.oracles.aggregates.measures import measure_named
from pytest_recsys_mt.oracles.arguments import not_negative
from pytest_recsys_mt.oracles.direction import score_effects
from pytest_recsys_mt.oracles.judging.claim import Claim
from pytest_recsys_mt.oracles.judging.judge import judge_pair
from pytest_recsys_mt.oracles.scores.score import Score
from pytest_recsys_mt.verdict import Verdict


def not_increased(
    source: Answers, followup: Answers, score: str | Score | Aggregate, margin: float = 0.05
) -> Verdict:
    """The mean score must not rise by more than the margin; it may fall by any amount.

    The effect of a user is the mean score of the follow-up's answers minus that of the source's.

    Args:
        source: Answers to the original requests.
        followup: Answers to the transformed ones.
        score: As in `at_least`: a name, a `Score` or an `Aggregate`.
        margin: By how much the mean user's score may rise, in the unit of the score, 0 or more.

    Returns:
        ``holds`` if the mean difference is below the margin, ``violated`` if it is above.

    Raises:
        OracleError: If an argument is invalid.
    """
    named = measure_named(score)
    oracle = f"not_increased:{named.name}"
    most = not_negative(oracle, "margin", margin)
    return judge_pair(
        source,
        followup,
        Claim(oracle, "at most", most, ask_everybody=isinstance(named, Aggregate)),
        lambda pairs, context: score_effects(pairs, context, named, 1),
    )
