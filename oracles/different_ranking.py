"""The ranking must change."""

from pytest_recsys_mt.answers import Answers, Context, Pairs
from pytest_recsys_mt.oracles.judging.agreement import judge_agreement
from pytest_recsys_mt.oracles.judging.effect import Effects, similarity_effects
from pytest_recsys_mt.oracles.judging.open_questions import open_to_both
from pytest_recsys_mt.oracles.judging.slices import Slices
from pytest_recsys_mt.oracles.similarities.similarity import Similarity
from pytest_recsys_mt.verdict import Verdict


def different_ranking(
    source: Answers,
    followup: Answers,
    similarity: str = "rbo",
    margin: float = 0.05,
    *,
    slices: Slices | None = None,
) -> Verdict:
    """Source and follow-up must differ by more than the recommender's own noise and the margin.

    This is the promise of a change that matters, such as another user's history. A recommender that
    gives all users the same answer breaks it.

    A request without candidates offers the catalogue minus the items that the user is known to have. If
    only one side may name an item for this reason, the item is left out of that side's answers. Both
    sides are compared to the same depth. A difference in the offer is not a difference in taste.

    Example:
        assert different_ranking(recsys.run(), recsys.run(swap_history), margin=0.05)

    Args:
        source: Answers to the original requests.
        followup: Answers to the transformed ones.
        similarity: ``rbo``, ``kendall``, ``fagin``, ``overlap``, ``jaccard`` or
            ``average_overlap``.
        margin: The smallest mean loss of agreement, in (0, 1).
        slices: Groups of users to judge too; as in `same_ranking`.

    Returns:
        ``holds`` if the mean loss is above the margin, ``violated`` if it is below.

    Raises:
        OracleError: If an argument is invalid.
    """
    return judge_agreement(
        "different_ranking",
        source,
        followup,
        similarity,
        margin,
        slices=slices,
        promise="at least",
        measures="difference between the answers beyond noise",
        effects=_effects,
    )


def _effects(pairs: Pairs, context: Context, similarity: Similarity) -> Effects:
    return similarity_effects(open_to_both(pairs), context, similarity)
