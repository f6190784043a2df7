"""One item must not rise."""

from pytest_recsys_mt.answers import Answers, Asked, Context, Pairs
from pytest_recsys_mt.oracles.arguments import share
from pytest_recsys_mt.oracles.judging.claim import Claim
from pytest_recsys_mt.oracles.judging.difference import paired_differences
from pytest_recsys_mt.oracles.judging.effect import Effects
from pytest_recsys_mt.oracles.judging.judge import judge_pair
from pytest_recsys_mt.oracles.judging.slices import Slices
from pytest_recsys_mt.oracles.scores.height import mean_height
from pytest_recsys_mt.verdict import Verdict


def not_promoted(
    source: Answers,
    followup: Answers,
    item: str,
    margin: float = 0.05,
    *,
    slices: Slices | None = None,
) -> Verdict:
    """An item must not rank higher in the follow-up's answers.

    The height of an item is 1 in the first place of k, 1/k in the last and 0 outside the answer.
    The effect of a user is the item's mean height in the follow-up's answers minus that in the
    source's. No noise floor is needed: noise does not bias a mean difference.

    Example:
        assert not_promoted(source, followup, item="m001", margin=0.05)

    Args:
        source: Answers to the original requests.
        followup: Answers that somebody wants the item to rise in, such as those of a recommender
            fitted to invented users (`pytest_recsys_mt.relations.shilling`). The two sides the other
            way round promise that it does not fall.
        item: Id of the item.
        margin: By how much the mean height may rise, in (0, 1).
        slices: Groups of users to judge too; as in `same_ranking`.

    Returns:
        ``holds`` if the mean rise is below the margin, ``violated`` if it is above.

    Raises:
        OracleError: If an argument is invalid.
    """
    claim = Claim(
        "not_promoted",
        "at most",
        share("not_promoted", "margin", margin),
        measures="rise of the item",
        slices=slices,
    )

    def rise(before: Asked, after: Asked) -> float:
        k = min(before.request.k, after.request.k)
        return mean_height(after, item, k) - mean_height(before, item, k)

    def measure(pairs: Pairs, context: Context) -> Effects:
        return paired_differences(pairs, rise, 1.0)

    return judge_pair(source, followup, claim, measure)
