"""Jain's index: how evenly accuracy is distributed over users.

Source:
    Equation 22 of https://arxiv.org/abs/2411.00331 (Jain, Chiu and Hawe 1984,
    DEC-TR-301).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from pytest_recsys_mt.oracles import arguments
from pytest_recsys_mt.oracles.aggregates.aggregate import none_for_nan, of_ndcg
from pytest_recsys_mt.oracles.arrays import Floats, quotients


def jain(values: ArrayLike) -> float | None:
    """``(sum x)^2 / (n sum x^2)``.

    Example:
        >>> round(jain([0.5, 0.5, 0.1]), 2)
        0.79

    Args:
        values: One number of at least 0 per user, such as an nDCG, ``(n,)``.

    Returns:
        From 1/n (one user has all) to 1 (all are equal); None if all values are 0.
    """
    numbers = arguments.flat("jain", "values", values, 0)
    squares = float(len(numbers) * (numbers**2).sum())
    return float(numbers.sum() ** 2 / squares) if squares else None


def _without_each(values: Floats, lengths: Floats) -> list[float | None]:
    squares = np.array(
        [float((np.delete(values**2, row)).sum()) for row in range(len(values))],
    )
    return none_for_nan(
        quotients((values.sum() - values) ** 2, squares * (len(values) - 1)),
    )


AGGREGATES = {
    "jain": of_ndcg(
        lambda values, lengths: jain(values),
        "if no list contains a held-out item",
        _without_each,
    ),
}
