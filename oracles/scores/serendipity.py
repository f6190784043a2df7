"""Serendipity: hits that a list of the most popular items would miss.

Source:
    The text and the code of https://arxiv.org/abs/2411.00331. Its Equations 6 and 13
    leave the hit out; they define `unexpectedness`.
"""

from collections.abc import Collection, Sequence

from pytest_recsys_mt.oracles import arguments
from pytest_recsys_mt.oracles.scores.makers import listed, unit
from pytest_recsys_mt.oracles.scores.metrics import NOTHING_HELD_OUT
from pytest_recsys_mt.oracles.scores.popularity_groups import by_popularity
from pytest_recsys_mt.oracles.scores.popularity_scores import Scored
from pytest_recsys_mt.safety.errors import NotApplicable
from pytest_recsys_mt.verdict.answers import Asked, Context

__all__ = ["serendipity", "unexpectedness"]


def serendipity(
    items: Sequence[str],
    popular: Collection[str],
    relevant: Collection[str],
) -> float | None:
    """1 if a list contains a held-out item and the most popular items do not, else 0.

    So it is at most the hit rate, and 0 for a recommender of the most popular items.

    Example:
        >>> serendipity(["a", "b"], popular=["c", "d"], relevant={"b"})
        1.0

    Args:
        items: The list.
        popular: The list of the most popular items, chosen from the same offer.
        relevant: The held-out items.

    Returns:
        0 or 1; None if nothing was held out.
    """
    if not relevant:
        return None
    wanted = set(relevant)
    return float(not wanted.isdisjoint(items) and wanted.isdisjoint(popular))


def unexpectedness(
    items: Sequence[str],
    popular: Collection[str],
    places: int,
) -> float:
    """The share of places with an item that is not among the most popular: Equation 6
    as printed.

    Arguments are those of `serendipity`, but `places` is K, at least 1; missing items
    count as expected.

    Example:
        >>> unexpectedness(["a", "b"], popular=["a", "c"], places=2)
        0.5
    """
    arguments.whole("unexpectedness", "places", places, 1)
    return len(set(items[:places]) - set(popular)) / places


def _popular(asked: Asked, context: Context, depth: int) -> list[str]:
    candidates = asked.request.candidates
    if candidates is not None:
        ids = dict.fromkeys(item.id for item in candidates)
        return sorted(ids, key=lambda item: (-context.popularity.get(item, 0), item))[
            :depth
        ]
    known = asked.request.known
    unseen = (item for item in by_popularity(context) if item not in known)
    return [item for item, _ in zip(unseen, range(depth), strict=False)]


def _serendipity(
    items: Sequence[str],
    asked: Asked,
    context: Context,
    depth: int,
) -> Scored:
    if not asked.relevant:
        raise NotApplicable(NOTHING_HELD_OUT)
    return serendipity(items, _popular(asked, context, depth), asked.relevant), 0


def _unexpectedness(
    items: Sequence[str],
    asked: Asked,
    context: Context,
    depth: int,
) -> Scored:
    return unexpectedness(items, _popular(asked, context, depth), depth), 0


SCORES_AT = {
    "serendipity": listed(_serendipity, unit),
    "unexpectedness": listed(_unexpectedness, unit),
}
