"""The items whose columns of interactions are nearest to each other's."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csr_array

from pytest_recsys_mt.recommenders.ranking import DECIMALS, Floats, Ints, block_rows, settle

DENSE = 0.01
"""Share of users from which on an item's column is multiplied as a dense one. A cell of it takes half a
nanosecond, one of a sparse product three and more. And each product serves both of its items: the most
popular come first, so that dense columns are multiplied with those of fewer and fewer ratings."""

CHUNK = 32
"""Dense columns that are multiplied at once: the rows of so few are still in the processor's cache."""

CELLS = 2**25
"""Most cosines of dense columns in memory: 256 MiB of float64."""

BLOCKS = 4
"""Into how many parts a block of sparse cosines is divided: memory of such a size is used again."""


def nearest(by_item: csr_array[np.float64], k: int) -> csr_array[np.float64]:
    """The `k` items with the largest cosine to each item, itself left out; at ties the first win.

    Every cosine is the sum of the same products in the same order, the users', whether its columns
    are dense or sparse. So that choice changes no bit of it.

    Args:
        by_item: The items' columns as rows of length 1, of positive values in the order of their
            users, the most popular item first. Shape (items, users).
        k: At least 1.

    Returns:
        Positive cosines, rounded as `settle` does, shape (items, items).
    """
    items, users = by_item.shape
    frequent = np.diff(by_item.indptr) >= max(1.0, DENSE * users)
    first = min(int(np.logical_and.accumulate(frequent).sum()), CELLS // max(1, items))
    popular = np.empty((items, first))  # to each item its cosines with those before it
    chosen: list[tuple[Ints, Floats]] = []
    everything = np.arange(items)
    for start in range(0, first, CHUNK):
        end = min(start + CHUNK, first)
        columns = by_item[start:end].T.toarray(order="C")
        block: Floats = np.asarray(_from(by_item, start) @ columns)
        popular[start:, start:end] = block
        for item, later in enumerate(block.T.copy(), start):
            values = np.concatenate([popular[item, :start], later])
            chosen.append(_largest(values, everything, item, k))
    others = _from(by_item, first)
    by_user = others.T.tocsr()
    size = -(-block_rows(items) // BLOCKS)
    for start in range(0, items - first, size):
        sparse = others[start : start + size] @ by_user
        for row in range(sparse.shape[0]):
            part, item = slice(sparse.indptr[row], sparse.indptr[row + 1]), first + start + row
            values = np.concatenate([popular[item], sparse.data[part]])
            further: Ints = first + sparse.indices[part].astype(np.int64)
            near = np.concatenate([everything[:first], further])
            chosen.append(_largest(values, near, item, k))
    starts = np.cumsum([0, *(len(columns) for columns, _ in chosen)])
    data = np.concatenate([values for _, values in chosen] or [np.empty(0)])
    indices = np.concatenate([columns for columns, _ in chosen] or [np.empty(0, dtype=np.int64)])
    parts: Any = (data, indices, starts)
    similarity: csr_array[np.float64] = csr_array(parts, shape=(items, items))
    similarity.sort_indices()
    return similarity


def _from(matrix: csr_array[np.float64], row: int) -> csr_array[np.float64]:
    """The rows from that one on; a slice would copy them."""
    cells = matrix.indptr[row]
    parts: Any = (matrix.data[cells:], matrix.indices[cells:], matrix.indptr[row:] - cells)
    shape = (matrix.shape[0] - row, matrix.shape[1])
    return csr_array(parts, shape=shape)


def _largest(values: Floats, columns: Ints, item: int, k: int) -> tuple[Ints, Floats]:
    """Columns and rounded values of the `k` largest, without that of `item` and what rounds to 0.

    Only values near the least that counts are rounded: rounding keeps the order.
    """
    if values.size > k + 1:  # one more, as `item` may be among them
        bar = np.partition(values, values.size - k - 1)[values.size - k - 1]
        near = np.flatnonzero(values >= max(bar - 2 * 10.0**-DECIMALS, 0.0))
        values, columns = values[near], columns[near]
    values = settle(values)
    kept = np.flatnonzero((values > 0) & (columns != item))
    kept = kept[np.lexsort((columns[kept], -values[kept]))[:k]]
    return columns[kept], values[kept]
