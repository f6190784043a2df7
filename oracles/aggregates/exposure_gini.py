"""Gini index over exposure: how unevenly recommendations are distributed over the
items.

It differs from `gini`, the inequality of popularity inside one list.

Source:
    Equation 20 of https://arxiv.org/abs/2411.00331. The universe is all items offered
    to any user, including items that are never recommended. The paper's code integrates
    a Lorenz curve that starts at the first recommended item and leaves all others out:
    0.275 for [1, 2, 3, 4], and 1 for a single item.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from pytest_recsys_mt.oracles.aggregates.aggregate import of_exposure
from pytest_recsys_mt.oracles.aggregates.exposure import Exposure
from pytest_recsys_mt.oracles.arrays import Floats, Integers
from pytest_recsys_mt.safety.errors import OracleError


def exposure_gini(exposures: ArrayLike) -> float | None:
    """``sum_ij |x_i - x_j| / (2 n sum_i x_i)``, over all pairs of items.

    Example:
        >>> exposure_gini([30, 10, 0, 0])
        0.625

    Args:
        exposures: How often each item of the universe is recommended, zeros included,
            ``(n,)``.

    Returns:
        From 0 (all equal) to ``(n - 1) / n`` (one item gets all); None if nothing is
        recommended.
    """
    numbers = np.asarray(exposures, np.float64)
    if numbers.ndim != 1 or not np.isfinite(numbers).all() or (numbers < 0).any():
        raise OracleError(
            f"exposure_gini: exposures must be a flat list of finite numbers of at least 0, got "
            f"{exposures!r}",
        )
    values, items = np.unique(numbers, return_counts=True)
    value = _of_histogram(values, items)
    return None if math.isnan(value) else value


def _without_each(exposure: Exposure) -> Floats:
    shown = exposure.shown
    users = len(exposure.all_but)
    levels = int(shown.max(initial=0)) + 1
    histogram = np.bincount(shown[exposure.offered > 0], minlength=levels)
    out = np.empty(users)
    values = np.arange(levels, dtype=np.float64)
    for user in range(users):
        mine = exposure.recommended.indices[
            slice(*exposure.recommended.indptr[user : user + 2])
        ]
        before = np.bincount(shown[mine], minlength=levels)
        rest = histogram - before
        rest[:-1] += before[1:]
        # Items offered only to this user leave the universe; without this user they are
        # never shown.
        rest[0] -= exposure.offered_to_one[user]
        out[user] = _of_histogram(values, rest)
    return out


def _of_histogram(values: Floats, items: Integers) -> float:
    """The index of ascending values with their numbers
    of items; NaN if all values are 0.
    """
    total = items.sum()
    # For each block of equal values, the sum of 2i - n - 1 over its ranks i.
    weights = items * (2 * (np.cumsum(items) - items) + items - total)
    scale = float(total * (items @ values))
    return float(weights @ values) / scale if scale else math.nan


AGGREGATES = {
    "exposure_gini": of_exposure(
        lambda exposure: exposure_gini(exposure.shown[exposure.offered > 0]),
        _without_each,
        "if no offered item is recommended to any user",
    ),
}
