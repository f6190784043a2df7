"""Scores: a number for an answer, for directional promises and for benchmark values."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from pytest_recsys_mt.answers import Asked, Context
from pytest_recsys_mt.errors import OracleError
from pytest_recsys_mt.oracles import popularity_scores, validity_scores
from pytest_recsys_mt.oracles.metrics import METRICS, metric_named
from pytest_recsys_mt.oracles.similarities import choices
from pytest_recsys_mt.requests import Recommendation


@dataclass(frozen=True)
class Score:
    """A number for an answer, in a known range.

    Attributes:
        name: As reports print it.
        of: The score of one answer and how many of its items it had to leave out; a score of None
            where nothing is left to score.
        span: The smallest and the largest score there can be for a user in this run.
    """

    name: str
    of: Callable[[Recommendation, Asked, Context], tuple[float | None, int]]
    span: Callable[[Asked, Context], tuple[float, float]]


def score_named(score: str | Score, also: Collection[str] = ()) -> Score:
    """The score of that name, or the score itself.

    Args:
        score: A name of `SCORES`, ``hit@k``, ``ndcg@k``, ``mrr@k``, or a `Score`.
        also: What else could have been named, for errors.

    Raises:
        OracleError: If there is none of that name; the text gives the choice and the nearest match.
    """
    if isinstance(score, Score):
        return score
    name = str(score)
    if name in SCORES:
        return SCORES[name]
    if name.partition("@")[0] in METRICS:
        metric = metric_named(name)
        return Score(
            name,
            lambda answer, asked, context: (
                metric.of(answer, asked) if asked.relevant else None,
                0,
            ),
            lambda asked, context: (0.0, 1.0),
        )
    raise OracleError(f"there is no score {score!r}; {choices(name, [*SCORES, *METRICS, *also])}")


def mean_score(asked: Asked, context: Context, score: Score) -> tuple[float | None, int]:
    """The mean score of a user's answers, and how many items were left out of them.

    Args:
        asked: One user's answers.
        context: Knows what scores need.
        score: Of one answer.

    Returns:
        The mean over the answers that have a score; None where none has.
    """
    scored = [score.of(answer, asked, context) for answer in asked.answers]
    values = [value for value, _ in scored if value is not None]
    missing = sum(count for _, count in scored)
    return (sum(values) / len(values) if values else None), missing


def width(span: tuple[float, float]) -> float:
    """How far apart two scores can be."""
    return span[1] - span[0]


SCORES: Mapping[str, Score] = MappingProxyType(
    {
        name: Score(name, of, span)
        for name, (of, span) in {**popularity_scores.SCORES, **validity_scores.SCORES}.items()
    }
)
"""Besides them, the accuracy metrics ``hit@k``, ``ndcg@k`` and ``mrr@k`` are scores.

* ``log_popularity``: mean natural logarithm of popularity over an answer's items. Differences of it
  do not depend on how many interactions there are in all.
* ``log_popularity_difference``, ``absolute_log_popularity_difference``, ``popularity_lift``,
  ``gini_difference``, ``herfindahl_difference``, ``popularity_rank_correlation``: the answer's items
  against the user's history.
* ``invalid``: entries of the first k that are no valid recommendation; ``malformed``,
  ``already_seen``, ``unknown_title`` and ``outside_catalogue`` are its parts.
"""
