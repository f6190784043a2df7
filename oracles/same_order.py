"""Items that both requests offer must keep their order."""

from functools import partial

from pytest_recsys_mt.answers import Answers
from pytest_recsys_mt.oracles.judging.agreement import judge_agreement
from pytest_recsys_mt.oracles.judging.effect import similarity_effects
from pytest_recsys_mt.oracles.judging.slices import Slices
from pytest_recsys_mt.verdict import Verdict


def same_order(
    source: Answers,
    followup: Answers,
    similarity: str = "kendall",
    margin: float = 0.05,
    *,
    slices: Slices | None = None,
    cap: float | None = None,
) -> Verdict:
    """The candidates that both requests offered must stand in the same order in both answers.

    An item that only the answer's own request offered is left out, and the later items move up. So such
    candidates may take places without breaking the promise. Invented items and other items that neither
    request offered keep their places, and missing items leave their places empty. Two lists are compared
    over the places that are due in both.

    Example:
        assert same_order(recsys.run(), recsys.run(add_irrelevant_candidates(2)), margin=0.05)

    Args:
        source: Answers to the original requests.
        followup: Answers to the transformed ones, for example with more candidates.
        similarity: ``kendall``, ``rbo``, ``fagin``, ``overlap``, ``jaccard`` or
            ``average_overlap``.
        margin: How much agreement the mean user may lose, in (0, 1).
        slices: Groups of users to judge too; as in `same_ranking`.
        cap: Up to which loss a user counts for ``holds``; as in `same_ranking`.

    Returns:
        ``holds`` if the mean loss is below the margin, ``violated`` if it is above.

    Raises:
        OracleError: If an argument is invalid.
    """
    effects = partial(similarity_effects, shared_only=True)
    return judge_agreement(
        "same_order", source, followup, similarity, margin, slices=slices, cap=cap, effects=effects
    )
