"""The items that the same users have, found where they are asked for."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pandas as pd

if TYPE_CHECKING:
    from scipy.sparse import csr_array


NEAREST = 30
"""Most neighbours of an item."""

LEAST_SHARED = 2
"""Users that an item and its neighbour share at least: one user alone says nothing about two items."""

MOST_USERS = 2000
"""Users of an item that are read at most, at even distances: more would cost time, and hardly move a cosine."""


class Neighbours(Mapping[str, tuple[str, ...]]):
    """The nearest items of every item, nearest first, by item id; each is found when it is first read.

    They have the largest cosines to it of the columns of users, without ratings (Sarwar et al.
    2001, https://doi.org/10.1145/371920.372071). This needs no metadata, so every dataset has it.
    Equal cosines are ordered by item id. Less than `LEAST_SHARED` shared users make no neighbour.
    """

    def __init__(self, items: Collection[str], interactions: pd.DataFrame) -> None:
        self._items = items
        self._interactions = interactions
        self._found: dict[str, tuple[str, ...]] = {}

    def __eq__(self, other: object) -> bool:
        return self is other  # to compare two would find the neighbours of every item

    def __hash__(self) -> int:
        return id(self)

    def __getitem__(self, item: str) -> tuple[str, ...]:
        if item not in self._found:
            self._found[item] = self._nearest(self._row[item])
        return self._found[item]

    def __iter__(self) -> Iterator[str]:
        return iter(self._ids)

    def __len__(self) -> int:
        return len(self._items)

    def _nearest(self, row: int) -> tuple[str, ...]:
        by_user, by_item = self._tables
        users = by_item.indices[by_item.indptr[row] : by_item.indptr[row + 1]]
        users = users[:: -(-len(users) // MOST_USERS) or 1]
        shared = np.bincount(by_user[users].indices, minlength=len(self._ids))
        shared[row] = 0
        near = np.flatnonzero(shared >= LEAST_SHARED)
        # The length of the item's own column divides all cosines, and so does not change their order.
        lengths = by_item.indptr[near + 1] - by_item.indptr[near]
        cosines = np.round(shared[near] / np.sqrt(lengths), 10)
        if len(near) > NEAREST:  # to sort only what may be among them
            kept = cosines >= np.partition(cosines, -NEAREST)[-NEAREST]
            near, cosines = near[kept], cosines[kept]
        order = np.lexsort((near, -cosines))[:NEAREST]
        return tuple(self._ids[place] for place in near[order])

    @cached_property
    def _ids(self) -> list[str]:
        return sorted(self._items)

    @cached_property
    def _row(self) -> Mapping[str, int]:
        return {item: row for row, item in enumerate(self._ids)}

    @cached_property
    def _tables(self) -> tuple[csr_array[np.int8], csr_array[np.int8]]:
        from scipy.sparse import csr_array  # imported only where neighbours are asked for

        users, names = pd.factorize(self._interactions["user"])
        codes, items = pd.factorize(self._interactions["item"], use_na_sentinel=False)
        columns = pd.Index(items).map(self._row).to_numpy(dtype=np.int32)[codes]
        ones: npt.NDArray[np.int8] = np.ones(len(users), dtype=np.int8)
        by_user = csr_array((ones, (users.astype(np.int32), columns)), (len(names), len(self._ids)))
        return by_user, by_user.T.tocsr()
