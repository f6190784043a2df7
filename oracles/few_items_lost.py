"""A stage must keep what a later one, or the whole recommender, would show."""

from functools import partial
from itertools import product

from pytest_recsys_mt.oracles.judging.difference import (
    judge_mean,
    require_answer,
    scored,
)
from pytest_recsys_mt.oracles.judging.effect import Effects
from pytest_recsys_mt.oracles.judging.item_slices import listed
from pytest_recsys_mt.oracles.judging.slices import Slices
from pytest_recsys_mt.safety.errors import NotApplicable
from pytest_recsys_mt.verdict.answers import Answers, Asked, Context, Pairs
from pytest_recsys_mt.verdict.verdict import Verdict


def few_items_lost(
    source: Answers,
    followup: Answers,
    margin: float = 0.05,
    *,
    slices: Slices | None = None,
) -> Verdict:
    """The follow-up's lists, however long, must hold the items of the source's lists.

    It is one minus recall: how much of the best `k` of one recommender another one
    lacks in all that it names, in any place. With a stage of the recommender as the
    follow-up it says what a retrieval misses of the ranking of the whole catalogue, or
    what a filter removes that the ranker would show.

    The effect of a user is the share of the items of a source's answer that a follow-up's
    answer lacks, the mean over all pairs of their answers. Repeated items count once, and
    of the source's list the first `k` count. What one side lacks since it varies counts
    as lost: no noise is taken off.

    Example:
        assert few_items_lost(recsys.run(), recsys_against.run(), margin=0.05)

    Args:
        source: Answers whose items must be kept.
        followup: Answers of a stage, or of another recommender, to the same requests.
        margin: The largest mean share of items that may be lacking, in (0, 1).
        slices: As in `same_ranking`.

    Returns:
        ``holds`` if the mean share is below the margin, ``violated`` if it is above.
        Users to whom the source shows nothing are not applicable.
    """
    return judge_mean(
        "few_items_lost",
        "at most",
        source,
        followup,
        margin,
        measures="share of items that are lost",
        measure=_lost,
        slices=slices,
        by_items=partial(listed, whole=True),
    )


def _lost(pairs: Pairs, context: Context) -> Effects:
    # The share is meant as it is: two answers of a side that varies may lack items of
    # each other too, and no noise is taken off.
    effects, _ = scored(_share_lost, pairs.source, pairs.followup, noise="no bias")
    return effects


def _share_lost(source: Asked, followup: Asked) -> float:
    require_answer(source, followup)
    shares = []
    # One side may give more answers to a request than the other: each pair counts.
    for shown, kept in product(source.answers, followup.answers):
        wanted = set(shown.items[: source.request.k])
        if wanted:
            shares.append(len(wanted.difference(kept.items)) / len(wanted))
    if not shares:
        raise NotApplicable("the source's list is empty, so nothing of it can be lost")
    return sum(shares) / len(shares)
