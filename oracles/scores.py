"""Scores of an answer for directional promises."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from pytest_recsys_mt.answers import Asked, Context
from pytest_recsys_mt.errors import OracleError
from pytest_recsys_mt.oracles.similarities import choices
from pytest_recsys_mt.requests import Recommendation


@dataclass(frozen=True)
class Score:
    """A number for an answer, in a known range.

    Attributes:
        name: As reports print it.
        of: The score of one answer and how many of its items it had to leave out; a score of None
            where nothing is left to score.
        span: The smallest and the largest score there can be in this run.
    """

    name: str
    of: Callable[[Recommendation, Asked, Context], tuple[float | None, int]]
    span: Callable[[Context], tuple[float, float]]


def score_named(score: str | Score) -> Score:
    """The score of that name, or the score itself.

    Raises:
        OracleError: If there is none of that name; the text gives the choice and the nearest match.
    """
    if isinstance(score, Score):
        return score
    if score not in SCORES:
        raise OracleError(f"there is no score {score!r}; {choices(score, SCORES)}")
    return SCORES[score]


def _log_popularity(
    answer: Recommendation, asked: Asked, context: Context
) -> tuple[float | None, int]:
    """Mean ln of the training interactions of the items; those without any have no logarithm."""
    items = list(dict.fromkeys(answer.items))[: asked.request.k]
    logs = [math.log(count) for item in items if (count := context.popularity.get(item, 0)) > 0]
    value = math.fsum(logs) / len(logs) if logs else None
    return value, len(items) - len(logs)


def _log_popularity_span(context: Context) -> tuple[float, float]:
    counts = [count for count in context.popularity.values() if count > 0]
    return (math.log(min(counts)), math.log(max(counts))) if counts else (0.0, 0.0)


SCORES: Mapping[str, Score] = MappingProxyType(
    {"log_popularity": Score("log_popularity", _log_popularity, _log_popularity_span)}
)
"""``log_popularity``: mean natural logarithm of popularity over an answer's items. Differences of
it do not depend on how many interactions there are in all."""
