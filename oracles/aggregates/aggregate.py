"""Aggregates: numbers for all users' answers together that are not means over users.

For example, no single user has a share of the catalogue shown, or an evenness. `at_least`, `at_most` and
`within` judge aggregates like scores; see `aggregate_effects`.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from pytest_recsys_mt.answers import Context
from pytest_recsys_mt.oracles.aggregates.dpd import dpd, dpd_without_each
from pytest_recsys_mt.oracles.aggregates.exposure import Answered, Exposure, exposure
from pytest_recsys_mt.oracles.aggregates.exposure_gini import (
    exposure_gini_of,
    exposure_gini_without_each,
)
from pytest_recsys_mt.oracles.aggregates.item_coverage import (
    item_coverage_of,
    item_coverage_without_each,
)
from pytest_recsys_mt.oracles.aggregates.jain import jain, jain_without_each
from pytest_recsys_mt.oracles.aggregates.oic import oic_of, oic_without_each
from pytest_recsys_mt.oracles.aggregates.popreo import (
    GROUPS,
    groups_left_out,
    popreo_of,
    popreo_without_each,
)
from pytest_recsys_mt.oracles.arrays import Floats
from pytest_recsys_mt.oracles.scores.metrics import depth_of, metric_named
from pytest_recsys_mt.oracles.scores.popularity_groups import Threshold
from pytest_recsys_mt.oracles.scores.score import Score, score_named


@dataclass(frozen=True)
class Aggregate:
    """A number for one answer of every user.

    Attributes:
        name: As reports print it.
        of: Returns the number, from each user's request and one of the answers; None if it is
            undefined.
        span: The smallest and the largest possible number.
        undefined: When it is undefined, in words that follow "is undefined".
        without_each: Returns the number without the first user, without the second and so on, if
            this is faster than calling `of` for each.
        note: Returns what a reader of the number should know about these answers, or "".
    """

    name: str
    of: Callable[[Sequence[Answered], Context], float | None]
    span: tuple[float, float]
    undefined: str = "for these answers"
    without_each: Callable[[Sequence[Answered], Context], Sequence[float | None]] | None = None
    note: Callable[[Sequence[Answered], Context], str] = lambda answered, context: ""

    def leaving_out(self, answered: Sequence[Answered], context: Context) -> Sequence[float | None]:
        """The number without the first user, without the second and so on, ``(n,)``."""
        if self.without_each is not None:
            return self.without_each(answered, context)
        everyone = list(answered)
        return [
            self.of(everyone[:row] + everyone[row + 1 :], context) for row in range(len(everyone))
        ]


def measure_named(name: str | Score | Aggregate) -> Score | Aggregate:
    """The score or the aggregate of that name, or the given one itself.

    Args:
        name: A name from `score.SCORES` or `AGGREGATES`, such as ``item_coverage@10``; without
            ``@k`` at the depth of the request.
    """
    if isinstance(name, Aggregate):
        return name
    kind = str(name).partition("@")[0]
    if not isinstance(name, Score) and kind in AGGREGATES:
        return AGGREGATES[kind](str(name))
    return score_named(name, also=AGGREGATES)


def _of_exposure(
    of: Callable[[Exposure], float | None], without: Callable[[Exposure], Floats], undefined: str
) -> Callable[[str], Aggregate]:
    def make(name: str) -> Aggregate:
        depth = depth_of(name)

        def without_each(answered: Sequence[Answered], context: Context) -> list[float | None]:
            return _none_for_nan(without(exposure(answered, context, name, depth)))

        return Aggregate(
            name,
            lambda answered, context: of(exposure(answered, context, name, depth)),
            (0.0, 1.0),
            undefined,
            without_each,
        )

    return make


def _of_ndcg(
    of: Callable[[Floats, Floats], float | None],
    without: Callable[[Floats, Floats], Floats],
    undefined: str,
) -> Callable[[str], Aggregate]:
    """Aggregates of the users' nDCG and history lengths."""

    def make(name: str) -> Aggregate:
        metric = metric_named(name.replace(name.partition("@")[0], "ndcg", 1))

        def facts(answered: Sequence[Answered]) -> tuple[Floats, Floats]:
            served = [(asked, answer) for asked, answer in answered if asked.relevant]
            values = [metric.of(answer, asked) for asked, answer in served]
            lengths = [len(asked.request.history) for asked, _ in served]
            return np.array(values, np.float64), np.array(lengths, np.float64)

        def without_each(answered: Sequence[Answered], context: Context) -> list[float | None]:
            values, lengths = facts(answered)
            left = iter(_none_for_nan(without(values, lengths)))
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


def _popreo(threshold: Threshold) -> Callable[[str], Aggregate]:
    def make(name: str) -> Aggregate:
        depth = depth_of(name)
        return Aggregate(
            name,
            lambda answered, context: popreo_of(answered, context, name, depth, threshold),
            (0.0, (GROUPS - 1) ** 0.5),
            "if no held-out item is found, or all of them are equally popular",
            lambda answered, context: popreo_without_each(
                answered, context, name, depth, threshold
            ),
            lambda answered, context: groups_left_out(answered, context, threshold),
        )

    return make


def _none_for_nan(values: Floats) -> list[float | None]:
    return [None if np.isnan(value) else float(value) for value in values]


AGGREGATES: Mapping[str, Callable[[str], Aggregate]] = MappingProxyType(
    {
        "item_coverage": _of_exposure(
            item_coverage_of, item_coverage_without_each, "if nothing is offered"
        ),
        "oic": _of_exposure(
            oic_of, oic_without_each, "if no two users are offered an item in common"
        ),
        "exposure_gini": _of_exposure(
            exposure_gini_of,
            exposure_gini_without_each,
            "if no offered item is recommended to any user",
        ),
        "dpd": _of_ndcg(dpd, dpd_without_each, "if no history is longer than the median of all"),
        "jain": _of_ndcg(
            lambda values, lengths: jain(values),
            lambda values, lengths: jain_without_each(values),
            "if no list contains a held-out item",
        ),
        "popreo": _popreo("rank"),
        "popreo_by_value": _popreo("value"),
    }
)
"""All use the first k places for ``name@k``, or all requested places for ``name``.

* ``item_coverage``, ``oic``, ``exposure_gini``: computed from the recommended items that were offered.
* ``dpd``, ``jain``: computed from the users' nDCG at that depth.
* ``popreo``: computed from the found held-out items, by popularity. ``popreo_by_value`` divides the
  catalogue as the paper's code does.
"""
