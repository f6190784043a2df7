"""The ranking must stay the same: altogether, in its items, or in the order of those
that both requests offer.
"""

from functools import partial

from pytest_recsys_mt.oracles.judging.difference import judge_agreement
from pytest_recsys_mt.oracles.judging.effect import similarity_effects
from pytest_recsys_mt.oracles.judging.slices import Slices
from pytest_recsys_mt.verdict.answers import Answers
from pytest_recsys_mt.verdict.verdict import Verdict

__all__ = ["same_order", "same_ranking", "same_set"]


def same_ranking(
    source: Answers,
    followup: Answers,
    similarity: str = "rbo",
    margin: float = 0.05,
    *,
    slices: Slices | None = None,
    cap: float | None = None,
) -> Verdict:
    """Source and follow-up must give the same ranking, apart from the recommender's own
    noise.

    The effect of a user is how much less source and follow-up agree than replicates of
    the same request do (`effect.similarity_effects`).

    Example:
        assert same_ranking(source, followup, "rbo", margin=0.05)

    Args:
        source: Answers to the original requests.
        followup: Answers to the transformed ones.
        similarity: ``rbo``, ``kendall``, ``fagin``, ``overlap``, ``jaccard`` or
            ``average_overlap``.
        margin: How much agreement the mean user may lose, in (0, 1).
        slices: How to divide the users into groups that must keep the promise too:
            ``activity``, ``genre``, ``ratings``, ``taste``, the name of an attribute of
            users, or a function from a user's request to the name of a group, such as
            ``("activity", "age", my_function)``. ``items:popularity``, or ``items:``
            with an attribute of items, judges the part of each list with the items of
            a group, for the users of whom any answer has one. All claims are corrected
            for the number of groups. None takes those of ``--recsys-slices``, an empty
            list none.
        cap: Up to which loss a user counts for ``holds``, above the margin and below 1.
            It takes fewer users to show that a mean of small losses is small. At .5 and
            the margin .05, it is still shown that fewer than a tenth of the users lose
            half of the agreement or more, if the others gain none. ``violated`` always
            counts the whole loss. None counts it for both.

    Returns:
        ``holds`` if the mean loss is below the margin, ``violated`` if it is above.
    """
    return judge_agreement(
        "same_ranking",
        source,
        followup,
        similarity,
        margin,
        slices=slices,
        cap=cap,
    )


def same_set(
    source: Answers,
    followup: Answers,
    similarity: str = "overlap",
    margin: float = 0.05,
    *,
    slices: Slices | None = None,
    cap: float | None = None,
) -> Verdict:
    """Source and follow-up must recommend the same items, apart from the recommender's
    own noise.

    Arguments and verdict are those of `same_ranking`, but `similarity` is ``overlap``
    or ``jaccard``, which ignore the order.

    Example:
        assert same_set(source, followup, margin=0.05)
    """
    among = ("overlap", "jaccard")
    return judge_agreement(
        "same_set",
        source,
        followup,
        similarity,
        margin,
        slices=slices,
        cap=cap,
        among=among,
    )


def same_order(
    source: Answers,
    followup: Answers,
    similarity: str = "kendall",
    margin: float = 0.05,
    *,
    slices: Slices | None = None,
    cap: float | None = None,
) -> Verdict:
    """The candidates that both requests offered must stand in the same order in both
    answers.

    An item that only the answer's own request offered is left out, and the later items
    move up. So such candidates may take places without breaking the promise. Invented
    items and other items that neither request offered keep their places, and missing
    items leave their places empty. Two lists are compared over the places that are due
    in both. Arguments and verdict are those of `same_ranking`, but slices divide users
    alone.

    Example:
        assert same_order(recsys.run(), recsys.run(add_irrelevant_candidates(2)), margin=0.05)
    """
    effects = partial(similarity_effects, shared_only=True)
    return judge_agreement(
        "same_order",
        source,
        followup,
        similarity,
        margin,
        slices=slices,
        cap=cap,
        effects=effects,
        by_items=None,  # items that one side alone offers are left out
    )
