"""Nearest neighbours: of the history's items, and of its user."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.sparse import csr_array

from pytest_recsys_mt.datasets.dataset import Dataset
from pytest_recsys_mt.recommenders.scoring import (
    DECIMALS,
    Floats,
    Ints,
    ScoringRecommender,
    Sparse,
    Weights,
    block_rows,
    keep_largest,
    settle,
)
from pytest_recsys_mt.requests import Request, specs


@dataclass(eq=False)
class _Neighbourhood(ScoringRecommender):
    """A number of neighbours, and weights; popularity and id,
    or the name, decide ties at the cut.
    """

    neighbours: int = 30
    weights: Weights = "ratings"

    def __post_init__(self) -> None:
        specs.check(self.key, *specs.at_least(1, self, "neighbours"))


@dataclass(eq=False)
class ItemKNN(_Neighbourhood):
    """Item-based nearest neighbours with cosine similarity.

    The score of item j is the sum over history items i of w_i s_ij, where s_ij is the
    cosine of the items' columns of training weights if j is among the `neighbours`
    nearest of i, else 0 (Deshpande and Karypis, "Item-based top-N recommendation
    algorithms", ACM TOIS 22(1), 2004, section 4, without its optional normalisation).
    """

    key: ClassVar[str] = "itemknn"

    def learn(self, dataset: Dataset, seed: int) -> None:
        by_item = _unit_rows(
            self.catalogue.interactions(dataset, self.weights).T.tocsr(),
        )
        self._similarity = nearest(by_item, self.neighbours)

    def score(self, requests: Sequence[Request]) -> Floats:
        profiles = self.catalogue.profiles(requests, self.weights)
        return settle((profiles @ self._similarity).toarray())


@dataclass(eq=False)
class UserKNN(_Neighbourhood):
    """User-based nearest neighbours with cosine similarity.

    The score of item j is the sum of s_v w_vj over the `neighbours` training users v
    nearest to the request's profile, with s_v the cosine of both profiles (Herlocker et
    al., "An algorithmic framework for performing collaborative filtering", SIGIR 1999:
    best-n neighbours; summed, not averaged, because it ranks items instead of
    predicting ratings).

    Names are not used, so a user of the training data is a neighbour of their own
    request. That neighbour has only items of the user. It takes one of the places, and
    lifts items that the history does not show, unless the request lists them as `seen`.
    """

    key: ClassVar[str] = "userknn"

    def learn(self, dataset: Dataset, seed: int) -> None:
        self._profiles = self.catalogue.interactions(dataset, self.weights)
        self._directions = _unit_rows(self._profiles).T.tocsr()

    def score(self, requests: Sequence[Request]) -> Floats:
        cosines = (
            _unit_rows(self.catalogue.profiles(requests, self.weights))
            @ self._directions
        )
        cosines.data = settle(cosines.data)
        return settle(
            (keep_largest(cosines, self.neighbours) @ self._profiles).toarray(),
        )


def _unit_rows(matrix: Sparse) -> Sparse:
    rows = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    # bincount adds one by one, in the order of storage: rows do not affect each other's
    # lengths.
    lengths = np.sqrt(
        np.bincount(rows, weights=matrix.data**2, minlength=matrix.shape[0]),
    )
    parts: Any = (matrix.data / lengths[rows], matrix.indices, matrix.indptr)
    return csr_array(parts, shape=matrix.shape)


DENSE = 0.01
"""Share of users from which on an item's column is multiplied as a dense one. A cell of
it takes half a nanosecond, one of a sparse product three and more. And each product
serves both of its items: the most popular come first, so that dense columns are
multiplied with those of fewer and fewer ratings.
"""

CHUNK = 32
"""Dense columns that are multiplied at once: the rows of so
few are still in the processor's cache.
"""

CELLS = 2**25
"""Most cosines of dense columns in memory: 256 MiB of float64."""

BLOCKS = 4
"""Into how many parts a block of sparse cosines is
divided: memory of such a size is used again.
"""


def nearest(by_item: Sparse, k: int) -> Sparse:
    """The `k` items with the largest cosine to each item, itself left out; at ties the
    first win.

    Every cosine is the sum of the same products in the same order, the users', whether
    its columns are dense or sparse. So that choice changes no bit of it.

    Args:
        by_item: The items' columns as rows of length 1, of positive values in the order
            of their users, the most popular item first. Shape (items, users).
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
            part, item = (
                slice(sparse.indptr[row], sparse.indptr[row + 1]),
                first + start + row,
            )
            values = np.concatenate([popular[item], sparse.data[part]])
            further: Ints = first + sparse.indices[part].astype(np.int64)
            near = np.concatenate([everything[:first], further])
            chosen.append(_largest(values, near, item, k))
    starts = np.cumsum([0, *(len(columns) for columns, _ in chosen)])
    data = np.concatenate([values for _, values in chosen] or [np.empty(0)])
    indices = np.concatenate(
        [columns for columns, _ in chosen] or [np.empty(0, dtype=np.int64)],
    )
    parts: Any = (data, indices, starts)
    similarity: Sparse = csr_array(parts, shape=(items, items))
    similarity.sort_indices()
    return similarity


def _from(matrix: Sparse, row: int) -> Sparse:
    cells = matrix.indptr[row]
    parts: Any = (
        matrix.data[cells:],
        matrix.indices[cells:],
        matrix.indptr[row:] - cells,
    )
    shape = (matrix.shape[0] - row, matrix.shape[1])
    return csr_array(parts, shape=shape)


def _largest(values: Floats, columns: Ints, item: int, k: int) -> tuple[Ints, Floats]:
    """Columns and rounded values of the `k` largest, without that of `item` and what
    rounds to 0. Only values near the least that counts are rounded: rounding keeps the
    order.
    """
    if values.size > k + 1:  # one more, as `item` may be among them
        bar = np.partition(values, values.size - k - 1)[values.size - k - 1]
        near = np.flatnonzero(values >= max(bar - 2 * 10.0**-DECIMALS, 0.0))
        values, columns = values[near], columns[near]
    values = settle(values)
    kept = np.flatnonzero((values > 0) & (columns != item))
    kept = kept[np.lexsort((columns[kept], -values[kept]))[:k]]
    return columns[kept], values[kept]
