"""The items that the same users have, computed when they are first read."""

from __future__ import annotations

import math
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
"""Users that an item and its neighbour share at least: one
user alone says nothing about two items.
"""

MOST_USERS = 2000
"""Users of an item that are read at most, at even distances:
more would cost time, and hardly move a cosine.
"""


class Neighbours(Mapping[str, tuple[str, ...]]):
    """The nearest items of every item, nearest first, by item id; each is computed when
    it is first read, and cached.

    They have the largest cosines to it of the columns of users, without ratings (Sarwar
    et al. 2001, https://doi.org/10.1145/371920.372071). This needs no metadata, so
    every dataset has it. Equal cosines are ordered by item id. Less than `LEAST_SHARED`
    shared users make no neighbour.

    Args:
        items: The ids of the catalogue.
        interactions: See `Dataset.interactions`.
    """

    def __init__(self, items: Collection[str], interactions: pd.DataFrame) -> None:
        self._items = items
        self._interactions = interactions
        self._cached: dict[str, tuple[str, ...]] = {}

    def __eq__(self, other: object) -> bool:
        return self is other  # to compare two would find the neighbours of every item

    def __hash__(self) -> int:
        return id(self)

    def __getitem__(self, item: str) -> tuple[str, ...]:
        if item not in self._cached:
            self._cached[item] = self._nearest(self._row[item])
        return self._cached[item]

    def __iter__(self) -> Iterator[str]:
        return iter(self._ids)

    def __len__(self) -> int:
        return len(self._items)

    def _nearest(self, row: int) -> tuple[str, ...]:
        """The ids of the nearest items to that of a row of `_tables`."""
        by_user, by_item = self._tables
        start, end = by_item.indptr[row : row + 2]
        users = by_item.indices[start:end]
        step = math.ceil(len(users) / MOST_USERS) or 1
        users = users[::step]
        shared_users = np.bincount(by_user[users].indices, minlength=len(self._ids))
        shared_users[row] = 0
        near = np.flatnonzero(shared_users >= LEAST_SHARED)
        # The length of the item's own column divides all cosines, and so does not
        # change their order.
        lengths = by_item.indptr[near + 1] - by_item.indptr[near]
        # Rounded, as equal cosines may differ in the last digit, and then are not
        # ordered by id.
        cosines = np.round(shared_users[near] / np.sqrt(lengths), 10)
        if len(near) > NEAREST:  # to sort only items that may be among them
            least = np.partition(cosines, -NEAREST)[-NEAREST]
            may_be_nearest = cosines >= least
            near = near[may_be_nearest]
            cosines = cosines[may_be_nearest]
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
        """Ones where a user has an item: shapes (users, items) and (items, users)."""
        from scipy.sparse import (
            csr_array,
        )  # its import takes time, and few runs use neighbours

        user_codes, user_names = pd.factorize(self._interactions["user"])
        item_codes, item_ids = pd.factorize(
            self._interactions["item"],
            use_na_sentinel=False,
        )
        row_by_code = pd.Index(item_ids).map(self._row).to_numpy(dtype=np.int32)
        columns = row_by_code[item_codes]
        rows = user_codes.astype(np.int32)
        ones: npt.NDArray[np.int8] = np.ones(len(rows), dtype=np.int8)
        shape = (len(user_names), len(self._ids))
        by_user = csr_array((ones, (rows, columns)), shape)
        return by_user, by_user.T.tocsr()
