"""A mean score of the answers must not rise."""

from pytest_recsys_mt.answers import Answers
from pytest_recsys_mt.oracles.aggregates.aggregate import Aggregate
from pytest_recsys_mt.oracles.direction import judge_score
from pytest_recsys_mt.oracles.judging.slices import Slices
from pytest_recsys_mt.oracles.scores.score import Score
from pytest_recsys_mt.verdict import Verdict


def not_increased(
    source: Answers,
    followup: Answers,
    score: str | Score | Aggregate,
    margin: float = 0.05,
    *,
    slices: Slices | None = None,
) -> Verdict:
    """The mean score must not rise by more than the margin; it may fall by any amount.

    The effect of a user is the mean score of the follow-up's answers minus that of the source's.

    Example:
        assert not_increased(source, followup, "log_popularity", margin=0.05)

    Args:
        source: Answers to the original requests.
        followup: Answers to the transformed ones.
        score: As in `at_least`: a name, a `Score` or an `Aggregate`.
        margin: By how much the mean user's score may rise, in the unit of the score, 0 or more.
        slices: Groups of users to judge too, as in `same_ranking`; not for an `Aggregate`.

    Returns:
        ``holds`` if the mean difference is below the margin, ``violated`` if it is above.

    Raises:
        OracleError: If an argument is invalid.
    """
    return judge_score("not_increased", "at most", 1, source, followup, score, margin, slices)
