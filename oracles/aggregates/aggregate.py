"""Aggregates: numbers for all users' answers together that are not means over users.

For example, no single user has a share of the catalogue shown, or an evenness.
`at_least`, `at_most` and `within` judge aggregates like scores; see
`aggregate_effects`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from pytest_recsys_mt.oracles.aggregates.exposure import Answered, Exposure, exposure
from pytest_recsys_mt.oracles.arrays import Floats
from pytest_recsys_mt.oracles.scores.metrics import depth_of, metric_named
from pytest_recsys_mt.oracles.scores.popularity_scores import own_items
from pytest_recsys_mt.verdict.answers import Context

__all__ = ["Aggregate"]


@dataclass(frozen=True)
class Aggregate:
    """A number for one answer of every user.

    Example:
        def reached(answered, context):
            return len({item for _, answer in answered for item in answer.items}) / len(context.items)

        assert at_least(recsys.run(), Aggregate("reached", reached, span=(0, 1)), 0.3)

    Attributes:
        name: As reports print it.
        of: Returns the number, from each user's request and one of the answers; None if
            it is undefined.
        span: The smallest and the largest possible number.
        undefined: When it is undefined, in words that follow "is undefined".
        without_each: Returns the number without the first user, without the second and
            so on, if this is faster than calling `of` for each.
        note: Returns what a reader of the number should know about these answers, or
            "".
    """

    name: str
    of: Callable[[Sequence[Answered], Context], float | None]
    span: tuple[float, float]
    undefined: str = "for these answers"
    without_each: (
        Callable[[Sequence[Answered], Context], Sequence[float | None]] | None
    ) = None
    note: Callable[[Sequence[Answered], Context], str] = lambda answered, context: ""

    def leaving_out(
        self,
        answered: Sequence[Answered],
        context: Context,
    ) -> Sequence[float | None]:
        """The number without the first user, without the second and so on, ``(n,)``."""
        if self.without_each is not None:
            return self.without_each(answered, context)
        rows = range(len(answered))
        return [
            self.of([*answered[:row], *answered[row + 1 :]], context) for row in rows
        ]


def of_exposure(
    of: Callable[[Exposure], float | None],
    without: Callable[[Exposure], Floats],
    undefined: str,
) -> Callable[[str], Aggregate]:
    """The maker of an aggregate of the recommended items
    that were offered; see `Aggregate`.
    """

    def make(name: str) -> Aggregate:
        depth = depth_of(name)

        def without_each(
            answered: Sequence[Answered],
            context: Context,
        ) -> list[float | None]:
            return none_for_nan(without(exposure(answered, context, name, depth)))

        return Aggregate(
            name,
            lambda answered, context: of(exposure(answered, context, name, depth)),
            (0.0, 1.0),
            undefined,
            without_each,
        )

    return make


def of_ndcg(
    of: Callable[[Floats, Floats], float | None],
    undefined: str,
    without: Callable[[Floats, Floats], Sequence[float | None]] | None = None,
) -> Callable[[str], Aggregate]:
    """The maker of an aggregate of the users' nDCG at the depth and
    how many items they have; see `Aggregate`.
    """

    def leaving_out(values: Floats, lengths: Floats) -> list[float | None]:
        rows = range(len(values))
        return [of(np.delete(values, row), np.delete(lengths, row)) for row in rows]

    def make(name: str) -> Aggregate:
        metric = metric_named(name.replace(name.partition("@")[0], "ndcg", 1))

        def facts(answered: Sequence[Answered]) -> tuple[Floats, Floats]:
            served = [(asked, answer) for asked, answer in answered if asked.relevant]
            values = [metric.of(answer, asked) for asked, answer in served]
            lengths = [len(own_items(asked)) for asked, _ in served]
            return np.array(values, np.float64), np.array(lengths, np.float64)

        def without_each(
            answered: Sequence[Answered],
            context: Context,
        ) -> list[float | None]:
            values, lengths = facts(answered)
            left = iter((without or leaving_out)(values, lengths))
            same = of(values, lengths)
            return [next(left) if asked.relevant else same for asked, _ in answered]

        return Aggregate(
            name,
            lambda answered, context: of(*facts(answered)),
            (0.0, 1.0),
            undefined,
            without_each,
        )

    return make


def none_for_nan(values: Floats) -> list[float | None]:
    """The numbers, None for NaN."""
    return [None if np.isnan(value) else float(value) for value in values]
