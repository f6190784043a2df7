"""The k largest values of each row; at ties the lower column wins."""

from collections.abc import Iterable
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

# A text, because only types of SciPy from 1.16 on can be indexed when a program runs.
Sparse: TypeAlias = "csr_array[np.float64]"

BLOCK_CELLS = 2**22
"""Cells of the largest block of scores in memory: 32 MiB of float64."""

DECIMALS = 10
"""Scores that differ only by rounding errors must tie, or the order of a sum decides a ranking."""


def settle(values: Floats) -> Floats:
    """`values` rounded to `DECIMALS`, so that mathematically equal values are equal."""
    return np.round(values, DECIMALS)


def block_rows(columns: int) -> int:
    """How many rows of `columns` cells fit into `BLOCK_CELLS`; at least one."""
    return max(1, BLOCK_CELLS // max(1, columns))


def largest(scores: Floats, k: int) -> tuple[Ints, Ints, Floats]:
    """The entries of a dense block (n, m) that are among the `k` largest of their row; never -inf.

    Returns:
        Rows, columns and values, sorted by row, then value (descending), then column.
    """
    bar = _kth_largest(scores, k)
    rows, columns = np.nonzero(scores >= bar[:, None])
    rows, columns, values = _choose(rows, columns, scores[rows, columns], bar, k)
    finite = values > -np.inf
    return rows[finite], columns[finite], values[finite]


def keep_largest(matrix: Sparse, k: int) -> Sparse:
    """`matrix` without the stored entries that are not among the `k` largest of their row."""
    bar = _kth_largest(np.split(matrix.data, matrix.indptr[1:-1]), k)
    rows = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    # Sorting the entries above the bar is cheap; sorting the whole matrix is not.
    passed = np.flatnonzero(matrix.data >= bar[rows])
    passed = passed[np.lexsort((matrix.indices[passed], rows[passed]))]
    columns = matrix.indices[passed].astype(np.int64)
    rows, columns, values = _choose(rows[passed], columns, matrix.data[passed], bar, k)
    kept = csr_array((values, (rows, columns)), shape=matrix.shape)
    kept.sort_indices()
    return kept


def _kth_largest(rows: Iterable[Floats], k: int) -> Floats:
    return np.array([np.partition(row, -k)[-k] if row.size > k else -np.inf for row in rows])


def _choose(
    rows: Ints, columns: Ints, values: Floats, bar: Floats, k: int
) -> tuple[Ints, Ints, Floats]:
    limits = bar[rows]
    above = np.flatnonzero(values > limits)
    level = np.flatnonzero(values == limits)
    room = k - np.bincount(rows[above], minlength=bar.size)
    place = np.arange(level.size) - np.searchsorted(rows[level], rows[level])
    chosen = np.concatenate([above, level[place < room[rows[level]]]])
    chosen = chosen[np.lexsort((columns[chosen], -values[chosen], rows[chosen]))]
    return rows[chosen], columns[chosen], values[chosen]
