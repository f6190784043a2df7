"""Ranking-based equal opportunity by popularity (PopREO): are popular items found more
often?

Source:
    Equations 16 and 17 of https://arxiv.org/abs/2411.00331, after Zhu, Wang and
    Caverlee (2020, SIGIR). Groups are fifths of the catalogue by rank
    (`popularity_groups`). In the paper's code, an empty group makes the number NaN;
    here, groups without a held-out item are left out and listed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import ArrayLike

from pytest_recsys_mt.oracles.aggregates.aggregate import Aggregate
from pytest_recsys_mt.oracles.aggregates.exposure import Answered
from pytest_recsys_mt.oracles.arrays import Floats
from pytest_recsys_mt.oracles.scores.metrics import depth_of, leading
from pytest_recsys_mt.oracles.scores.popularity_groups import (
    Threshold,
    popularity_groups_of,
)
from pytest_recsys_mt.safety.errors import OracleError
from pytest_recsys_mt.verdict.answers import Context

GROUPS = 5


def popreo(found: ArrayLike, wanted: ArrayLike) -> float | None:
    """Standard deviation of the groups' true positive rates over their mean.

    Example:
        >>> round(popreo(found=[8, 2], wanted=[10, 10]), 2)
        0.6

    Args:
        found: Number of held-out items of each group that are in their user's list,
            ``(groups,)``.
        wanted: Number of held-out items of each group, ``(groups,)``, not below
            `found`; groups with 0 do not count.

    Returns:
        From 0 (all found equally often) to ``sqrt(groups - 1)``; None if fewer than two
        groups have a held-out item, or if none is found.
    """
    hits, targets = np.asarray(found, np.float64), np.asarray(wanted, np.float64)
    if (
        hits.shape != targets.shape
        or hits.ndim != 1
        or (hits > targets).any()
        or (hits < 0).any()
    ):
        raise OracleError(
            f"popreo: no group can have more found than wanted, got {found!r} of {wanted!r}",
        )
    counted = targets > 0
    if counted.sum() < 2 or not hits.any():
        return None
    rates = hits[counted] / targets[counted]
    return float(rates.std() / rates.mean())


def _left_out(
    answered: Sequence[Answered],
    context: Context,
    threshold: Threshold,
) -> str:
    group_of = popularity_groups_of(context, GROUPS, threshold)
    held_out = {group_of.get(item) for asked, _ in answered for item in asked.relevant}
    empty = [str(group + 1) for group in range(GROUPS) if group not in held_out]
    if not empty:
        return ""
    which = "popularity group" if len(empty) == 1 else "popularity groups"
    return f"{which} {', '.join(empty)} of {GROUPS} without a held-out item left out (1 is the least popular)"


def _popreo(threshold: Threshold) -> Callable[[str], Aggregate]:
    def make(name: str) -> Aggregate:
        depth = depth_of(name)

        def by_user(
            answered: Sequence[Answered],
            context: Context,
        ) -> tuple[Floats, Floats]:
            """Numbers of items found and wanted, ``(n, groups)`` each."""
            group_of = popularity_groups_of(context, GROUPS, threshold)
            found, wanted = (
                np.zeros((len(answered), GROUPS)),
                np.zeros((len(answered), GROUPS)),
            )
            for row, (asked, answer) in enumerate(answered):
                items = set(leading(name, answer, asked, depth))
                for item in asked.relevant & group_of.keys():
                    wanted[row, group_of[item]] += 1
                    found[row, group_of[item]] += item in items
            return found, wanted

        def of(answered: Sequence[Answered], context: Context) -> float | None:
            found, wanted = by_user(answered, context)
            return popreo(found.sum(axis=0), wanted.sum(axis=0))

        def without_each(
            answered: Sequence[Answered],
            context: Context,
        ) -> list[float | None]:
            found, wanted = by_user(answered, context)
            left = zip(
                found.sum(axis=0) - found,
                wanted.sum(axis=0) - wanted,
                strict=True,
            )
            return [popreo(hits, targets) for hits, targets in left]

        return Aggregate(
            name,
            of,
            (0.0, (GROUPS - 1) ** 0.5),
            "if no held-out item is found, or all of them are equally popular",
            without_each,
            lambda answered, context: _left_out(answered, context, threshold),
        )

    return make


AGGREGATES = {"popreo": _popreo("rank"), "popreo_by_value": _popreo("value")}
"""``popreo_by_value`` divides the catalogue as the paper's code does."""
