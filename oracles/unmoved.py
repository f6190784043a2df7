"""A change without meaning must leave the answer as it is."""

import dataclasses

import numpy as np

from pytest_recsys_mt.oracles.arguments import share, two_sides
from pytest_recsys_mt.oracles.judging.difference import judge_agreement
from pytest_recsys_mt.oracles.judging.effect import Effects, similarity_effects
from pytest_recsys_mt.oracles.judging.judge import CHANGED_LISTS, ROUNDING
from pytest_recsys_mt.oracles.judging.slices import Slices
from pytest_recsys_mt.oracles.similarities.similarity import Similarity
from pytest_recsys_mt.safety.errors import OracleError
from pytest_recsys_mt.verdict.answers import Answers, Context, Pairs
from pytest_recsys_mt.verdict.verdict import Verdict


def unmoved(
    source: Answers,
    followup: Answers,
    similarity: str = "rbo",
    margin: float = 0.05,
    *,
    changed: float = 0.05,
    slices: Slices | None = None,
    cap: float | None = None,
) -> Verdict:
    """A change that says nothing must leave the answer as it is.

    It is the oracle to begin with, and judges what the recommender allows to be judged:

    * Of a noisy recommender, the mean loss of agreement beyond its own noise, as `same_ranking` does.
    * Of a deterministic recommender, the share of users whose list changed at all. No
      noise hides there that the change is read, so a small change of many lists is a
      fault, although the mean loss is small. As no list loses more than 1, a share of
      at most `changed` implies a mean loss of at most `changed` too.

    Some lists may change, since scores that tie except for rounding change places: see
    `changed`.

    Example:
        assert unmoved(source, followup, margin=0.05)

    Args:
        source: Answers to the original requests.
        followup: Answers to the transformed ones.
        similarity: As in `same_ranking`. A list has changed if its similarity to the
            former one is below 1, so a new order of the same items is no change for
            ``overlap`` and ``jaccard``.
        margin: How much agreement the mean user of a noisy recommender may lose, in (0,
            1).
        changed: The share of the users of a deterministic recommender whose list may
            change, in (0, 1) and at most `margin`.
        slices: As in `same_ranking`.
        cap: As in `same_ranking`, for a noisy recommender.

    Returns:
        ``holds`` if the number is shown to be below its limit, ``violated`` if it is
        shown to be above.

    Raises:
        OracleError: If `changed` is above `margin`, so that lists of a deterministic
            recommender could lose more than `margin` on average.
    """
    return judge_unmoved(
        "unmoved",
        source,
        followup,
        similarity,
        margin,
        changed=changed,
        slices=slices,
        cap=cap,
    )


def judge_unmoved(
    oracle: str,
    source: Answers,
    followup: Answers,
    similarity: str,
    margin: float,
    *,
    changed: float,
    slices: Slices | None,
    cap: float | None = None,
) -> Verdict:
    """Judge what `unmoved` promises, by the name of another oracle."""
    two_sides(oracle, source, followup)
    allowed = share(oracle, "changed", changed)
    if allowed > share(oracle, "margin", margin):
        raise OracleError(
            f"{oracle}: changed must be at most the margin {margin:g}, got {changed!r}: if more lists change, the mean "
            f"user may lose more than the margin; give both, such as margin={changed:g}, changed={changed:g}",
        )
    if not source.context.deterministic:
        return judge_agreement(
            oracle,
            source,
            followup,
            similarity,
            margin,
            slices=slices,
            cap=cap,
        )
    return judge_agreement(
        f"{oracle}:any",
        source,
        followup,
        similarity,
        allowed,
        measures=CHANGED_LISTS,
        effects=_any_change,
        slices=slices,
    )


def _any_change(pairs: Pairs, context: Context, similarity: Similarity) -> Effects:
    """1 for each user whose lists differ, else 0."""
    found = similarity_effects(pairs, context, similarity)
    effect = (found.effect > ROUNDING).astype(np.float64)
    return dataclasses.replace(found, effect=effect, reach=(0.0, 1.0))
