"""Scores: a number per answer, for directional promises and for benchmark values."""

import pkgutil
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import lru_cache, partial
from importlib import import_module
from inspect import signature
from numbers import Integral, Real
from pathlib import Path
from types import MappingProxyType
from typing import Any

from pytest_recsys_mt.oracles.scores.metrics import (
    METRICS,
    NOTHING_HELD_OUT,
    Metric,
    auc,
    metric_named,
)
from pytest_recsys_mt.oracles.scores.popularity_scores import Span
from pytest_recsys_mt.oracles.similarities.similarity import choices
from pytest_recsys_mt.requests import Recommendation
from pytest_recsys_mt.safety.errors import NotApplicable, OracleError
from pytest_recsys_mt.verdict.answers import Asked, Context, Pairs, Sample, offer_of

__all__ = ["Score"]


@dataclass(frozen=True)
class Score:
    """A number per answer, in a known range.

    Example:
        def recent(answer, asked, context):
            years = [context.items[item].year or 0 for item in answer.items if item in context.items]
            share = sum(year >= 1990 for year in years) / len(years) if years else None
            return share, len(answer.items) - len(years)

        assert at_least(recsys.run(), Score("recent", recent, span=(0, 1)), 0.2)

    Attributes:
        name: The name in reports.
        of: Returns the score of one answer and how many of its items were left out. The
            score is None if nothing is left to score: the user counts at both ends of
            the span. It raises `NotApplicable` if it is not defined for a user,
            whatever the answer is: such users are left out, and the verdict says why.
        span: The smallest and the largest possible score: a pair for all users, a
            function of the context, or a function of a user without answers and the
            context. The last is called for all users of the data, asked or not, since a
            verdict is about them.
        silent: Whether an empty answer also has this score. If not, users whose answers
            are all empty are errors.
        unread: Whether an answer of which nothing could be read has this score too,
            since it is about the form. If not, such users count against every claim.
    """

    name: str
    of: Callable[[Recommendation, Asked, Context], tuple[float | None, int]]
    span: Span
    silent: bool = False
    unread: bool = False

    def span_for(self, asked: Asked, context: Context) -> tuple[float, float]:
        """The smallest and the largest possible score of one user."""
        span: Any = self.span
        if callable(span):
            span = span(asked, context) if _is_of_users(span) else span(context)
        match span:
            case (Real() as low, Real() as high) if low <= high:
                return float(low), float(high)
        raise OracleError(
            f"{self.name}: the span is {span!r}; it must be the smallest and the largest possible score, such as "
            f"(0, 1), or a function that returns them",
        )


def score_named(score: str | Score, also: Collection[str] = ()) -> Score:
    """The score of that name, or the score itself."""
    if isinstance(score, Score):
        return score
    name = str(score)
    if name in SCORES:
        return SCORES[name]
    kind = "".join(name.partition("@")[0].partition(":")[:2])
    if kind in SCORES_AT:
        return Score(name, *SCORES_AT[kind](name))
    if kind in METRICS:
        metric = metric_named(name)
        return Score(name, partial(_accuracy, metric=metric), (0.0, 1.0))
    raise OracleError(
        f"there is no score {score!r}; {choices(name, [*SCORES, *SCORES_AT, *METRICS, *also])}",
    )


def _accuracy(
    answer: Recommendation,
    asked: Asked,
    context: Context,
    *,
    metric: Metric,
) -> tuple[float, int]:
    if not asked.relevant:
        raise NotApplicable(NOTHING_HELD_OUT)
    return metric.of(answer, asked), 0


def _auc(answer: Recommendation, asked: Asked, context: Context) -> tuple[float, int]:
    value = auc(answer.items, offer_of(asked, context.items), asked.relevant)
    if value is None:
        raise NotApplicable(NOTHING_HELD_OUT)
    return value, 0


def mean_score(
    asked: Asked,
    context: Context,
    score: Score,
) -> tuple[float | None, int]:
    """The mean score of a user's answers, and how many items were left out.

    None if any answer has no score: the others must not stand for it. It raises
    `NotApplicable` if the score says so of every answer.
    """
    scored, reasons = [], []
    for answer in asked.answers:
        try:
            scored.append(_scored(score, answer, asked, context))
        except NotApplicable as reason:
            reasons.append(reason)
    if reasons and len(reasons) == len(asked.answers):
        raise reasons[0]
    values = [value for value, _ in scored if value is not None]
    missing = sum(count for _, count in scored)
    if len(values) < len(asked.answers) or not values:
        return None, missing
    low, high = score.span_for(asked, context)
    slack = 1e-9 * max(1.0, high - low)
    outside = [value for value in values if not low - slack <= value <= high + slack]
    if outside:
        raise OracleError(
            f"{score.name}: an answer to user {asked.user} scores {outside[0]:g}, but the span of this score "
            f"is from {low:g} to {high:g}; verdicts depend on the span, so Score.span must return the true ends",
        )
    return sum(values) / len(values), missing


def span_of(
    score: Score,
    sample: Sample | Pairs,
    context: Context,
) -> tuple[float, float]:
    """The smallest and the largest possible score of all users of the data, on all
    sides, whether asked or not.
    """
    everyone = sample.everyone
    if callable(score.span) and _is_of_users(score.span):
        if sample.ends is not None:
            return sample.ends(score.span_for)
    else:
        everyone = everyone[:1]
    spans = [score.span_for(asked, context) for asked in everyone] or [(0.0, 0.0)]
    return min(low for low, _ in spans), max(high for _, high in spans)


@lru_cache(maxsize=1024)
def _is_of_users(span: Callable[..., Any]) -> bool:
    return len(signature(span).parameters) > 1


def _scored(
    score: Score,
    answer: Recommendation,
    asked: Asked,
    context: Context,
) -> tuple[float | None, int]:
    found = score.of(answer, asked, context)
    match found:
        case (None | Real(), Integral()):
            return found
    raise OracleError(
        f"{score.name}: Score.of returned {found!r} for an answer to user {asked.user}; it must return a "
        f"number and how many items it left out, such as (0.5, 0), or (None, 0) if nothing is left to score",
    )


_MODULES = [
    import_module(f"{__package__}.{found.name}")
    for found in pkgutil.iter_modules([str(Path(__file__).parent)])
]

SCORES: Mapping[str, Score] = MappingProxyType(
    {
        name: Score(name, *of_and_span)
        for module in _MODULES
        for name, of_and_span in getattr(module, "SCORES", {}).items()
    }
    | {"auc": Score("auc", _auc, (0.0, 1.0))},
)
"""Scores without a depth: those that modules of this folder declare in ``SCORES``, and
``auc``, the share of the other candidates that rank below the held-out one; see
`metrics.auc`. The metrics ``hit@k``, ``ndcg@k`` and ``mrr@k`` are scores too.
"""

SCORES_AT: Mapping[str, Callable[[str], tuple[Any, ...]]] = MappingProxyType(
    {
        name: make
        for module in _MODULES
        for name, make in getattr(module, "SCORES_AT", {}).items()
    },
)
"""Scores of the first k places for ``name@k``, or of all requested places for ``name``:
from the name to the other fields of a `Score`. The modules of this folder declare them
in ``SCORES_AT``.
"""
