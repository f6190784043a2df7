"""Scores for the popularity of an answer, alone and compared with the user's past."""

import math
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

from pytest_recsys_mt.answers import Asked, Context
from pytest_recsys_mt.oracles.scores.gini import gini_difference
from pytest_recsys_mt.oracles.scores.herfindahl import herfindahl_difference
from pytest_recsys_mt.oracles.scores.log_popularity_difference import log_popularity_difference
from pytest_recsys_mt.oracles.scores.popularity_lift import popularity_lift
from pytest_recsys_mt.oracles.scores.popularity_rank_correlation import popularity_rank_correlation
from pytest_recsys_mt.requests import Recommendation

Scored = tuple[float | None, int]
"""A score, or None if there is none, and how many items were left out of it."""

Of = Callable[[Recommendation, Asked, Context], Scored]
Span = Callable[[Asked, Context], tuple[float, float]]


def _recommended(answer: Recommendation, asked: Asked) -> list[str]:
    return list(dict.fromkeys(answer.items))[: asked.request.k]


def _popularity(items: Sequence[str], context: Context) -> list[int]:
    """Popularities of the items with any interaction."""
    return [count for item in items if (count := context.popularity.get(item, 0)) > 0]


def _log_popularity(answer: Recommendation, asked: Asked, context: Context) -> Scored:
    """Mean ln of the training interactions of the items; items without any are left out."""
    items = _recommended(answer, asked)
    logs = [math.log(count) for count in _popularity(items, context)]
    value = math.fsum(logs) / len(logs) if logs else None
    return value, len(items) - len(logs)


def _own(asked: Asked) -> Sequence[str]:
    """The user's own items: the whole past, even if the request shows only a part."""
    return asked.past or [rating.item.id for rating in asked.request.history]


def _against_past(metric: Callable[[list[int], list[int]], float]) -> Of:
    """The score that compares an answer's items with the user's own.

    Invalid recommendations (items already seen or unknown) say nothing about taste and are left out.
    Items without interactions in the training data are left out on both sides. The left-out items of
    the answer are counted.
    """

    def of(answer: Recommendation, asked: Asked, context: Context) -> Scored:
        known = asked.request.known
        items = _recommended(answer, asked)
        ours = _popularity([item for item in items if item not in known], context)
        theirs = _popularity(_own(asked), context)
        value = metric(ours, theirs) if ours and theirs else None
        return value, len(items) - len(ours)

    return of


def _rank_correlation(answer: Recommendation, asked: Asked, context: Context) -> Scored:
    items = [item for item in _recommended(answer, asked) if item in context.popularity]
    return popularity_rank_correlation(items, _own(asked), context.popularity), 0


def _extremes(context: Context) -> tuple[int, int]:
    counts = [count for count in context.popularity.values() if count > 0]
    return (min(counts), max(counts)) if counts else (1, 1)


def _log_span(asked: Asked, context: Context) -> tuple[float, float]:
    low, high = _extremes(context)
    return math.log(low), math.log(high)


def _difference_span(asked: Asked, context: Context) -> tuple[float, float]:
    low, high = _log_span(asked, context)
    return low - high, high - low


def _absolute_span(asked: Asked, context: Context) -> tuple[float, float]:
    return 0.0, _difference_span(asked, context)[1]


def _lift_span(asked: Asked, context: Context) -> tuple[float, float]:
    low, high = _extremes(context)
    return low / high - 1, high / low - 1


def _unit_span(asked: Asked, context: Context) -> tuple[float, float]:
    return -1.0, 1.0


SCORES: Mapping[str, tuple[Of, Span]] = MappingProxyType(
    {
        "log_popularity": (_log_popularity, _log_span),
        "log_popularity_difference": (
            _against_past(log_popularity_difference),
            _difference_span,
        ),
        "absolute_log_popularity_difference": (
            _against_past(lambda ours, theirs: abs(log_popularity_difference(ours, theirs))),
            _absolute_span,
        ),
        "popularity_lift": (_against_past(popularity_lift), _lift_span),
        "gini_difference": (_against_past(gini_difference), _unit_span),
        "herfindahl_difference": (_against_past(herfindahl_difference), _unit_span),
        "popularity_rank_correlation": (_rank_correlation, _unit_span),
    }
)
