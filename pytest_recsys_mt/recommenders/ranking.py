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
"""Scores that differ only by rounding errors must tie, or
the order of a sum decides a ranking.
"""


def settle(values: Floats) -> Floats:
    """`values` rounded to `DECIMALS`, so that mathematically equal values are equal."""
    return np.round(values, DECIMALS)


def block_rows(columns: int) -> int:
    """How many rows of `columns` cells fit into `BLOCK_CELLS`; at least one."""
    return max(1, BLOCK_CELLS // max(1, columns))


def largest(scores: Floats, k: int) -> tuple[Ints, Ints, Floats]:
    """The entries of a dense block that are among the `k` largest of their row; never
    -inf.

    Args:
        scores: The block, ``(rows, columns)``.
        k: How many entries of each row to choose at most; at least 1.

    Returns:
        Rows, columns and values, each ``(entries,)``, sorted by row, then value
        (descending), then column.
    """
    bars = _kth_largest(scores, k)
    # Row by row, and in each row from the left, as `_choose` needs them.
    rows, columns = np.nonzero(scores >= bars[:, None])
    values = scores[rows, columns]
    rows, columns, values = _choose(rows, columns, values, bars, k)
    finite = values > -np.inf
    return rows[finite], columns[finite], values[finite]


def keep_largest(matrix: Sparse, k: int) -> Sparse:
    """`matrix` without the stored entries that are not among the `k` largest of their
    row.

    Args:
        matrix: Any sparse matrix, ``(rows, columns)``.
        k: How many stored entries of each row to keep at most; at least 1.

    Returns:
        A matrix of the same shape, whose column numbers are sorted in each row.
    """
    stored_by_row = np.split(matrix.data, matrix.indptr[1:-1])
    bars = _kth_largest(stored_by_row, k)
    rows = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))

    # Sorting the entries that reach the bar is cheap; sorting the whole matrix is not.
    reaching = np.flatnonzero(matrix.data >= bars[rows])
    by_row_and_column = np.lexsort((matrix.indices[reaching], rows[reaching]))
    reaching = reaching[by_row_and_column]

    columns = matrix.indices[reaching].astype(np.int64)
    values = matrix.data[reaching]
    rows, columns, values = _choose(rows[reaching], columns, values, bars, k)
    kept = csr_array((values, (rows, columns)), shape=matrix.shape)
    kept.sort_indices()
    return kept


def _kth_largest(rows: Iterable[Floats], k: int) -> Floats:
    """The bar of each row, ``(rows,)``: its `k`-th largest
    value; -inf if it has no more than `k` values.
    """
    bars = []
    for row in rows:
        has_more = row.size > k
        bars.append(np.partition(row, -k)[-k] if has_more else -np.inf)
    return np.array(bars)


def _choose(
    rows: Ints,
    columns: Ints,
    values: Floats,
    bars: Floats,
    k: int,
) -> tuple[Ints, Ints, Floats]:
    """The `k` largest entries of each row, of those that reach its bar; of entries at
    the bar, the leftmost.

    Args:
        rows: Of each entry, sorted.
        columns: Of each entry, ``(entries,)``, sorted within each row.
        values: Of each entry, none below the bar of its row.
        bars: The `k`-th largest value of each row, ``(number of rows,)``.
        k: How many entries of each row to choose at most.

    Returns:
        Rows, columns and values, sorted by row, then value (descending), then column.
    """
    bar_of_entry = bars[rows]
    above = np.flatnonzero(values > bar_of_entry)
    at_bar = np.flatnonzero(values == bar_of_entry)

    # All entries above the bar are chosen; those at it tie, and share the places that
    # are left.
    places_left = k - np.bincount(rows[above], minlength=bars.size)
    rows_at_bar = rows[at_bar]
    first_of_row = np.searchsorted(rows_at_bar, rows_at_bar)
    rank_in_row = np.arange(at_bar.size) - first_of_row
    still_fits = rank_in_row < places_left[rows_at_bar]

    chosen = np.concatenate([above, at_bar[still_fits]])
    order = np.lexsort((columns[chosen], -values[chosen], rows[chosen]))
    chosen = chosen[order]
    return rows[chosen], columns[chosen], values[chosen]
