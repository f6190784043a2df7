"""Log-popularity of an answer, and what scores of popularity share.

``log_popularity`` is the mean natural logarithm of popularity over an answer's items.
Its differences do not depend on the total number of interactions. The other scores
compare the answer's items with all items of the user in the training data, whether the
request shows them or not.
"""

import math
from collections.abc import Callable, Sequence

from pytest_recsys_mt.requests import Recommendation
from pytest_recsys_mt.safety.errors import NotApplicable
from pytest_recsys_mt.verdict.answers import Asked, Context

Scored = tuple[float | None, int]
"""A score, or None if there is none, and how many items were left out of it."""

Of = Callable[[Recommendation, Asked, Context], Scored]
Span = (
    tuple[float, float]
    | Callable[[Context], tuple[float, float]]
    | Callable[[Asked, Context], tuple[float, float]]
)
"""The ends of a score, as `Score` takes them."""


def recommended(answer: Recommendation, asked: Asked) -> list[str]:
    """The counted items of an answer; repeats count at their first place."""
    return list(dict.fromkeys(answer.items))[: asked.request.k]


def _popularity(items: Sequence[str], context: Context) -> list[int]:
    return [count for item in items if (count := context.popularity.get(item, 0)) > 0]


def _log_popularity(answer: Recommendation, asked: Asked, context: Context) -> Scored:
    """Mean ln of the training interactions of the items;
    items without any are left out.
    """
    items = recommended(answer, asked)
    logs = [math.log(count) for count in _popularity(items, context)]
    value = math.fsum(logs) / len(logs) if logs else None
    return value, len(items) - len(logs)


def own_items(asked: Asked) -> Sequence[str]:
    """The user's own items: the whole past, even if the request shows only a part."""
    return asked.past or [rating.item.id for rating in asked.request.history]


def against_past(metric: Callable[[list[int], list[int]], float | None]) -> Of:
    """The score that compares an answer's items with the user's own, and how many of
    the answer are left out.

    These are items already seen, which say nothing about taste, and, on both sides,
    those without interactions.
    """

    def of(answer: Recommendation, asked: Asked, context: Context) -> Scored:
        known = asked.request.known
        items = recommended(answer, asked)
        ours = _popularity([item for item in items if item not in known], context)
        theirs = _popularity(own_items(asked), context)
        if not theirs:
            raise NotApplicable(
                "no item of the user's own has interactions to compare with",
            )
        value = metric(ours, theirs) if ours else None
        if ours and value is None:
            raise NotApplicable("all of the user's own items are equally popular")
        return value, len(items) - len(ours)

    return of


def extremes(context: Context) -> tuple[int, int]:
    """The smallest and the largest popularity above 0."""
    counts = [count for count in context.popularity.values() if count > 0]
    return (min(counts), max(counts)) if counts else (1, 1)


def _log_span(context: Context) -> tuple[float, float]:
    low, high = extremes(context)
    return math.log(low), math.log(high)


def difference_span(context: Context) -> tuple[float, float]:
    """The ends of a difference of mean logarithms of popularity."""
    low, high = _log_span(context)
    return low - high, high - low


signed_unit = (-1.0, 1.0)


SCORES = {"log_popularity": (_log_popularity, _log_span)}
