"""Average percentage of long-tail items (APLT).

Source:
    Equations 5 and 15 of https://arxiv.org/abs/2411.00331 (Abdollahpouri, Burke and
    Mobasher 2019, https://arxiv.org/abs/1901.07555).
"""

from collections.abc import Collection, Sequence
from functools import partial

from pytest_recsys_mt.oracles import arguments
from pytest_recsys_mt.oracles.scores.makers import listed, unit
from pytest_recsys_mt.oracles.scores.popularity_groups import Threshold, long_tail_of
from pytest_recsys_mt.oracles.scores.popularity_scores import Scored
from pytest_recsys_mt.verdict.answers import Asked, Context


def aplt(items: Sequence[str], tail: Collection[str], places: int) -> float:
    """The share of a list's places that hold an item of the long tail.

    Example:
        >>> aplt(["hit", "rarity"], tail={"rarity", "oddity"}, places=2)
        0.5

    Args:
        items: The list, without repeats.
        tail: The long tail of the catalogue; see `popularity_groups.long_tail`.
        places: K, at least 1; missing and unknown items do not count as long tail.
    """
    arguments.whole("aplt", "places", places, 1)
    return sum(item in tail for item in items[:places]) / places


def _aplt(
    items: Sequence[str],
    asked: Asked,
    context: Context,
    depth: int,
    *,
    threshold: Threshold,
) -> Scored:
    return aplt(items, long_tail_of(context, threshold), depth), 0


SCORES_AT = {
    "aplt": listed(partial(_aplt, threshold="rank"), unit),
    "aplt_by_value": listed(partial(_aplt, threshold="value"), unit),
}
"""``aplt_by_value`` divides the catalogue as the paper's code does."""
