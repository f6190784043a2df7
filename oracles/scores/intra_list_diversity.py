"""Intra-list diversity: how different the items of one list are from each other.

Source:
    One minus the intra-list similarity of Ziegler et al. 2005, WWW, section 3.3. RecSys Arena (Wu et al.
    2024) calls it URD and does not define the similarity.
"""

import math
from collections.abc import Collection, Sequence
from itertools import combinations
from typing import Any, Literal, get_args

from pytest_recsys_mt.oracles.arguments import one_of
from pytest_recsys_mt.oracles.scores.makers import listed, unit
from pytest_recsys_mt.oracles.scores.popularity_scores import Of, Scored, Span
from pytest_recsys_mt.requests import Item
from pytest_recsys_mt.safety.errors import NotApplicable
from pytest_recsys_mt.verdict.answers import Asked, Context

Likeness = Literal["jaccard", "cosine"]
"""Likeness of two sets a and b: ``|a n b| / |a u b|``, or ``|a n b| / sqrt(|a| |b|)``."""


def intra_list_diversity(
    attributes: Sequence[Collection[str]],
    likeness: Likeness = "jaccard",
) -> float | None:
    """One minus the mean likeness of all pairs of items of a list.

    A verdict on ``intra_list_diversity@5`` is about genres, on
    ``intra_list_diversity:cast@5`` about another attribute.

    Example:
        >>> round(intra_list_diversity([{"drama"}, {"drama", "war"}, {"comedy"}]), 2)
        0.83

    Args:
        attributes: Attributes of each item, such as its genres; items without any are
            left out.
        likeness: How to compare two sets of attributes.

    Returns:
        From 0 (all items have the same attributes) to 1 (no two items share one); None
        if fewer than two items have attributes.
    """
    one_of("intra_list_diversity", "likeness", likeness, get_args(Likeness))
    sets = [set(one) for one in attributes if one]
    alike = [
        len(a & b)
        / (len(a | b) if likeness == "jaccard" else math.sqrt(len(a) * len(b)))
        for a, b in combinations(sets, 2)
    ]
    return 1 - math.fsum(alike) / len(alike) if alike else None


def _by_name(name: str) -> tuple[Of, Span]:
    attribute = name.partition("@")[0].partition(":")[2] or "genres"

    def diversity(
        items: Sequence[str],
        asked: Asked,
        context: Context,
        depth: int,
    ) -> Scored:
        offered = {item.id: item for item in asked.request.candidates or ()}
        known = [offered.get(item) or context.items.get(item) for item in items]
        of = [item.attributes.get(attribute) if item else None for item in known]
        sets: list[set[Any]] = [
            {x} if isinstance(x, str | int) else {*(x or ())} for x in of
        ]
        if ":" in name and not any(sets):
            kinds = {
                each for item in context.items.values() for each in item.attributes
            }
            one_of(name, "attribute", attribute, sorted(kinds) or [attribute])
        if depth < 2:
            raise NotApplicable("a list of one item has no diversity")
        if not any(sets) and not any(
            item.attributes.get(attribute) for item in _all(asked, context)
        ):
            raise NotApplicable(f"no offered item has {attribute}")
        return intra_list_diversity(sets), sum(not each for each in sets)

    return listed(diversity, unit)(name)


def _all(asked: Asked, context: Context) -> Collection[Item]:
    candidates = asked.request.candidates
    return context.items.values() if candidates is None else candidates


SCORES_AT = {"intra_list_diversity": _by_name, "intra_list_diversity:": _by_name}
"""Of the genres of the items, or of the attribute behind a colon:
``intra_list_diversity:cast@5``.
"""
