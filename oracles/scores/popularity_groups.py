"""The catalogue ordered by popularity, and divided into groups by popularity.

Ranks are by training interactions, and ties are broken by item id. So the division is
unique and includes items without any interaction. The code of
https://arxiv.org/abs/2411.00331 divides by quantiles of popularity *values* instead,
where items that tie with a quantile fall on one side of it, and those without
interactions belong to no group.
"""

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, Literal, get_args

import numpy as np

from pytest_recsys_mt.oracles.arguments import one_of, whole
from pytest_recsys_mt.safety.errors import OracleError
from pytest_recsys_mt.verdict.answers import Context

__all__ = ["long_tail", "popularity_groups"]

Threshold = Literal["rank", "value"]
"""How to divide the catalogue: by the ``rank`` of items,
or by the ``value`` of their popularity.
"""


class _Facts:
    def __init__(self, context: Context) -> None:
        self.items, self.popularity = context.items, context.popularity

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, _Facts)
            and self.items is other.items
            and self.popularity is other.popularity
        )

    def __hash__(self) -> int:
        return hash((id(self.items), id(self.popularity)))


def popularity_groups(
    popularity: Mapping[str, int],
    groups: int = 5,
    threshold: Threshold = "rank",
) -> dict[str, int]:
    """Divide items into equal groups by popularity.

    Example:
        >>> popularity_groups({"a": 90, "b": 40, "c": 3, "d": 1}, groups=2)
        {'d': 0, 'c': 0, 'b': 1, 'a': 1}

    Args:
        popularity: Interactions by item id.
        groups: Number of groups, at least 1.
        threshold: ``rank`` makes groups of equal size, except for the remainder.
            ``value`` cuts at quantiles of the counts above 0, ``(q_i, q_{i+1}]``:
            groups may be unequal or empty, and items without interactions are in no
            group.

    Returns:
        The group of each item, from 0, the least popular.
    """
    whole("popularity_groups", "groups", groups, 1)
    one_of("popularity_groups", "threshold", threshold, get_args(Threshold))
    if threshold == "rank":
        order = _falling(popularity)[::-1]
        return {item: rank * groups // len(order) for rank, item in enumerate(order)}
    known = {item: count for item, count in popularity.items() if count > 0}
    if not known:
        return {}
    edges = np.quantile(list(known.values()), np.linspace(0, 1, groups + 1))
    # The least popular items belong to the first group, although their count equals its
    # lower quantile.
    places = np.searchsorted(edges[1:], list(known.values()), side="left")
    return {item: int(place) for item, place in zip(known, places, strict=True)}


def long_tail(
    popularity: Mapping[str, int],
    share: float = 0.8,
    threshold: Threshold = "rank",
) -> frozenset[str]:
    """The items of the long tail: the least popular `share` of the catalogue.

    Example:
        >>> sorted(long_tail({"a": 90, "b": 40, "c": 3, "d": 2, "e": 1}, share=0.6))
        ['c', 'd', 'e']

    Args:
        popularity: Interactions by item id.
        share: In (0, 1); 0.8 after the Pareto principle.
        threshold: ``rank`` takes exactly that share of the items, rounded down.
            ``value`` takes the items with fewer interactions than the quantile of the
            counts above 0, but no items without interactions.
    """
    one_of("long_tail", "threshold", threshold, get_args(Threshold))
    if not 0 < share < 1:
        raise OracleError(f"long_tail: share must lie in (0, 1), got {share!r}")
    if threshold == "rank":
        order = _falling(popularity)[::-1]
        return frozenset(order[: int(share * len(order) + 1e-9)])
    known = {item: count for item, count in popularity.items() if count > 0}
    if not known:
        return frozenset()
    limit = np.quantile(list(known.values()), share)
    return frozenset(item for item, count in known.items() if count < limit)


@lru_cache(maxsize=12)
def _of_catalogue(facts: _Facts, made: Callable[..., Any], how: tuple[Any, ...]) -> Any:
    items = [*facts.items, *facts.popularity]
    return made({item: facts.popularity.get(item, 0) for item in items}, *how)


def by_popularity(context: Context) -> tuple[str, ...]:
    """The catalogue, the most popular item first; ties are in order of id."""
    found: tuple[str, ...] = _of_catalogue(_Facts(context), _falling, ())
    return found


def long_tail_of(context: Context, threshold: Threshold = "rank") -> frozenset[str]:
    """`long_tail` of a run's catalogue, with share 0.8."""
    found: frozenset[str] = _of_catalogue(_Facts(context), long_tail, (0.8, threshold))
    return found


def popularity_groups_of(
    context: Context,
    groups: int,
    threshold: Threshold,
) -> dict[str, int]:
    """`popularity_groups` of a run's catalogue."""
    found: dict[str, int] = _of_catalogue(
        _Facts(context),
        popularity_groups,
        (groups, threshold),
    )
    return found


def _falling(popularity: Mapping[str, int]) -> tuple[str, ...]:
    return tuple(sorted(popularity, key=lambda item: (-popularity[item], item)))
