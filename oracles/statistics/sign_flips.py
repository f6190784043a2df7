"""The sign-flip permutation test, for many relations or metrics at once."""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from pytest_recsys_mt.oracles.arguments import one_of
from pytest_recsys_mt.oracles.arrays import Floats
from pytest_recsys_mt.safety.errors import OracleError

__all__ = ["sign_flip_test"]

Alternative = Literal["two-sided", "greater", "less"]

_CELLS = 8_000_000  # signs in memory at a time


def sign_flip_test(
    differences: ArrayLike,
    alternative: Alternative = "two-sided",
    *,
    draws: int = 9_999,
    seed: int = 0,
) -> Floats:
    """P-values of the hypothesis that paired differences are symmetric about 0.

    All columns share the flips of each draw. This keeps their dependence, and a draw
    for all columns is one row of a matrix product (Fisher 1935, The Design of
    Experiments, section 21). The p-value is p = (c + 1) / (draws + 1) (Phipson and
    Smyth 2010, Stat. Appl. Genet. Mol. Biol. 9, 39). It counts the observed signs as
    one of the draws, so it is never 0.

    Example:
        >>> sign_flip_test([0.1, 0.2, 0.1, 0.3, 0.2, 0.1, 0.2, 0.1]).round(2).tolist()
        [0.01]

    Args:
        differences: One row per user, one column per relation, model or metric, ``(n,
            m)`` or ``(n,)``.
        alternative: The suspected direction of the mean difference.
        draws: Number of random sign patterns.
        seed: Seed of the draws.

    Returns:
        One p-value per column, ``(m,)``; 1 for a column of zeros.
    """
    numbers = np.asarray(differences, np.float64)
    columns = numbers[:, None] if numbers.ndim == 1 else numbers
    if columns.ndim != 2 or not len(columns) or not np.isfinite(columns).all():
        raise OracleError(
            f"sign_flip_test: differences must be finite numbers, one row per user, got an array of shape "
            f"{numbers.shape}",
        )
    one_of("sign_flip_test", "alternative", alternative, get_args(Alternative))
    if draws < 1:
        raise OracleError(f"sign_flip_test: draws must be at least 1, got {draws!r}")
    users = len(columns)
    observed = _statistic(columns.sum(axis=0), alternative)
    # Sums of the same numbers in another order differ in their last digits; they count
    # as equal.
    limit = observed - 1e-9 * np.abs(columns).sum(axis=0)
    rng = np.random.default_rng(seed)
    reached = np.zeros(columns.shape[1], np.int64)
    step = max(1, _CELLS // users)
    for start in range(0, draws, step):
        shape = (min(step, draws - start), users)
        signs = rng.integers(0, 2, size=shape, dtype=np.int8) * np.float64(2) - 1
        reached += (_statistic(signs @ columns, alternative) >= limit).sum(axis=0)
    return (reached + 1) / (draws + 1)


def _statistic(sums: Floats, alternative: Alternative) -> Floats:
    if alternative == "two-sided":
        return np.abs(sums)
    return sums if alternative == "greater" else -sums
