"""A mean score of the answers must stay the same."""

from pytest_recsys_mt.answers import Answers
from pytest_recsys_mt.errors import OracleError
from pytest_recsys_mt.oracles.aggregates.aggregate import Aggregate
from pytest_recsys_mt.oracles.aggregates.measures import measure_named
from pytest_recsys_mt.oracles.arguments import not_negative
from pytest_recsys_mt.oracles.direction import score_effects
from pytest_recsys_mt.oracles.judging.claim import Claim
from pytest_recsys_mt.oracles.judging.judge import judge_pair
from pytest_recsys_mt.oracles.judging.slices import Slices, sliced
from pytest_recsys_mt.oracles.scores.score import Score
from pytest_recsys_mt.verdict import Verdict
from pytest_recsys_mt.wording import spoken


def same_score(
    source: Answers,
    followup: Answers,
    score: str | Score | Aggregate = "log_popularity",
    margin: float = 0.2,
    *,
    slices: Slices | None = None,
) -> Verdict:
    """The mean score must neither fall nor rise by more than the margin.

    The effect of a user is the mean score of the follow-up's answers minus that of the source's. Two
    one-sided tests (Schuirmann 1987, J. Pharmacokinet. Biopharm. 15) show that its mean lies within
    the margin.

    Example:
        assert same_score(source, followup, "log_popularity", margin=0.2)

    Args:
        source: Answers to the original requests.
        followup: Answers to the transformed ones.
        score: As in `at_least`: a name, a `Score` or an `Aggregate`.
        margin: By how much the mean user's score may change, in the unit of the score, above 0.
        slices: Groups of users to judge too, as in `same_ranking`; not for an `Aggregate`.

    Returns:
        ``holds`` if the mean changes by less than the margin, ``violated`` if by more.

    Raises:
        OracleError: If an argument is invalid.
    """
    named = measure_named(score)
    oracle = f"same_score:{named.name}"
    if not_negative(oracle, "margin", margin) == 0:
        raise OracleError(
            f"{oracle}: no test can show that a mean stays exactly the same; margin must be above 0"
        )
    return judge_pair(
        source,
        followup,
        Claim(
            oracle,
            "within",
            margin,
            ask_everybody=isinstance(named, Aggregate),
            measures=f"change of {spoken(named.name)}",
            slices=sliced(oracle, slices, named),
        ),
        lambda pairs, context: score_effects(pairs, context, named, 1),
    )
