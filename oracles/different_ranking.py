"""The ranking must change."""

from __future__ import annotations

from pytest_recsys_mt.answers import Answers
from pytest_recsys_mt.oracles.arguments import share
from pytest_recsys_mt.oracles.effect import similarity_effects
from pytest_recsys_mt.oracles.judge import Claim, judge_pair
from pytest_recsys_mt.oracles.similarities import similarity_named
from pytest_recsys_mt.verdict import Verdict


def different_ranking(
    source: Answers, followup: Answers, similarity: str = "rbo", margin: float = 0.05
) -> Verdict:
    """Source and follow-up must differ by more than the recommender's own noise and the margin.

    The promise of a change that matters, such as another user's history; a recommender that answers
    everybody alike breaks it.

    Args:
        source: Answers to the original requests.
        followup: Answers to the transformed ones.
        similarity: ``rbo``, ``kendall``, ``fagin``, ``overlap``, ``jaccard`` or
            ``average_overlap``.
        margin: How much agreement the mean user must lose at least, in (0, 1).

    Returns:
        ``holds`` if the mean loss is above the margin, ``violated`` if it is below.

    Raises:
        OracleError: If an argument is none of these.
    """
    oracle = f"different_ranking:{similarity}"
    function = similarity_named(similarity)
    claim = Claim(oracle, "at least", share(oracle, "margin", margin))
    return judge_pair(
        source,
        followup,
        claim,
        lambda pairs, context: similarity_effects(pairs, context, function),
    )
