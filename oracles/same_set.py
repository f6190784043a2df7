"""The items must stay the same, in any order."""

from pytest_recsys_mt.answers import Answers
from pytest_recsys_mt.oracles.judging.agreement import judge_agreement
from pytest_recsys_mt.oracles.judging.slices import Slices
from pytest_recsys_mt.verdict import Verdict


def same_set(
    source: Answers,
    followup: Answers,
    similarity: str = "overlap",
    margin: float = 0.05,
    *,
    slices: Slices | None = None,
    cap: float | None = None,
) -> Verdict:
    """Source and follow-up must recommend the same items, apart from the recommender's own noise.

    Example:
        assert same_set(source, followup, margin=0.05)

    Args:
        source: Answers to the original requests.
        followup: Answers to the transformed ones.
        similarity: ``overlap`` or ``jaccard``, which ignore the order.
        margin: How much agreement the mean user may lose, in (0, 1).
        slices: Groups of users to judge too; as in `same_ranking`.
        cap: Up to which loss a user counts for ``holds``; as in `same_ranking`.

    Returns:
        ``holds`` if the mean loss is below the margin, ``violated`` if it is above.

    Raises:
        OracleError: If an argument is invalid.
    """
    return judge_agreement(
        "same_set",
        source,
        followup,
        similarity,
        margin,
        slices=slices,
        cap=cap,
        among=("overlap", "jaccard"),
    )
