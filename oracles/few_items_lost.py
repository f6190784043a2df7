"""A stage must keep what a later one, or the whole recommender, would show."""

from functools import partial

from pytest_recsys_mt.oracles.judging.difference import judge_mean, paired_differences
from pytest_recsys_mt.oracles.judging.slices import Slices
from pytest_recsys_mt.safety.errors import NotApplicable
from pytest_recsys_mt.verdict.answers import Answers, Asked, Context
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

    The effect of a user is the share of the items of the source's answers that the
    follow-up's answer of the same replicate lacks, the mean over replicates. Repeated
    items count once, and of the source's list the first `k` count.

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
        measure=partial(paired_differences, number=_share_lost),
        slices=slices,
    )


def _share_lost(source: Asked, followup: Asked, context: Context) -> float:
    shares = []
    for shown, kept in zip(source.answers, followup.answers, strict=False):
        wanted = set(shown.items[: source.request.k])
        if wanted:
            shares.append(len(wanted.difference(kept.items)) / len(wanted))
    if not shares:
        raise NotApplicable("the source's list is empty, so nothing of it can be lost")
    return sum(shares) / len(shares)
