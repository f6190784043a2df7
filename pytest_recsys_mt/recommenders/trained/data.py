"""Interactions as arrays: the training data, the histories
of requests, and the attributes of users.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from pytest_recsys_mt.datasets.dataset import Dataset
from pytest_recsys_mt.recommenders.scoring import Catalogue, Ints
from pytest_recsys_mt.requests import Item, Request

PAD = -1
"""Column of a missing item in a history."""

FEWEST = 3
"""Least interactions of a user whose latest one is held out for validation."""

Feature = tuple[str, str]
"""The name of an attribute and one of its values, as text."""


@dataclass(frozen=True, eq=False)
class Training:
    """Interactions by user, oldest first within each."""

    items: tuple[Item, ...]  # in the order of the catalogue's columns
    columns: Ints  # of items, shape (n,), by user, then by time
    starts: Ints  # of each user's rows, and the end, shape (users + 1,)
    people: Ints | None = None  # features, shape (users, width), padded by `PAD`

    @classmethod
    def of(cls, dataset: Dataset, catalogue: Catalogue) -> Training:
        """The interactions of a dataset, items in the catalogue's columns."""
        frame = dataset.interactions
        if dataset.as_is:  # rows of one user must stand together, oldest first
            frame = frame.astype({"user": str, "item": str})
            frame = frame.sort_values(["user", "timestamp", "item"], ignore_index=True)
        users = frame["user"].factorize()[0].astype(np.int64)
        return cls(
            tuple(dataset.items[item] for item in catalogue.ids),
            np.asarray(frame["item"].map(catalogue.column), dtype=np.int64),
            np.concatenate([[0], np.cumsum(np.bincount(users))]).astype(np.int64),
        )

    def __len__(self) -> int:
        return len(self.columns)

    @property
    def users(self) -> int:
        """The number of users."""
        return len(self.starts) - 1

    @cached_property
    def owners(self) -> Ints:
        """The user of each row, shape (n,)."""
        return np.repeat(np.arange(self.users), np.diff(self.starts))

    @cached_property
    def _pairs(self) -> Ints:
        return np.sort(self.owners * len(self.items) + self.columns)

    def holds(self, users: Ints, columns: Ints) -> NDArray[np.bool_]:
        """Whether each user has the item; the two arrays broadcast."""
        codes = users * len(self.items) + columns
        places = np.searchsorted(self._pairs, codes)
        found: NDArray[np.bool_] = (
            self._pairs[np.minimum(places, len(self._pairs) - 1)] == codes
        )
        return found

    def preceding(self, rows: Ints, length: int) -> Ints:
        """Rows of the `length` interactions before each of `rows`, of the same user.

        Shape (rows, length), oldest first, `PAD` on the left where there are fewer.
        """
        places = rows[:, None] + np.arange(-length, 0)
        return np.where(places >= self.starts[self.owners[rows]][:, None], places, PAD)

    def items_at(self, rows: Ints) -> Ints:
        """Item columns of rows; `PAD` stays `PAD`."""
        return np.where(rows == PAD, PAD, self.columns[rows])

    def negatives(self, users: Ints, count: int, rng: np.random.Generator) -> Ints:
        """Items drawn uniformly from those that each user does not have, shape (users,
        count).

        For a user who has every item, from all items.
        """
        drawn = rng.integers(len(self.items), size=(len(users), count))
        open_ = np.diff(self.starts)[users] < len(self.items)
        again = np.nonzero(self.holds(users[:, None], drawn) & open_[:, None])
        while len(again[0]):
            fresh = rng.integers(len(self.items), size=len(again[0]))
            drawn[again] = fresh
            wrong = self.holds(users[again[0]], fresh)
            again = (again[0][wrong], again[1][wrong])
        return drawn

    def split_validation(self) -> tuple[Training, Ints]:
        """The training without the latest interaction of each user who has `FEWEST` or
        more, and the rows of this training that were held out.
        """
        sizes = np.diff(self.starts)
        held_out = self.starts[1:][sizes >= FEWEST] - 1
        kept = np.ones(len(self), dtype=np.bool_)
        kept[held_out] = False
        starts = np.concatenate([[0], np.cumsum(sizes - (sizes >= FEWEST))]).astype(
            np.int64,
        )
        left = replace(self, columns=self.columns[kept], starts=starts)
        return left, held_out


def encode(
    requests: Sequence[Request],
    catalogue: Catalogue,
    length: int,
    *,
    ordered: bool = True,
) -> Ints:
    """The histories of requests as item columns, shape (requests, width), `PAD` on the
    left.

    Items outside the catalogue are left out. A repeated item of a history counts once,
    at its last place: no user of the training data has an item twice. Width is
    `length`, whose latest items are kept, or with 0 the longest. Histories are
    `ordered` oldest first, as the request gives them, or sorted by column, which hides
    their order.
    """
    lengths = [len(request.history) for request in requests]
    owners = np.repeat(np.arange(len(requests)), lengths)
    columns = np.array(
        [
            catalogue.column.get(rating.item.id, PAD)
            for request in requests
            for rating in request.history
        ],
        dtype=np.int64,
    )
    codes = np.where(columns == PAD, PAD, owners * len(catalogue) + columns)
    by_code = np.argsort(codes, kind="stable")
    is_last = np.diff(codes[by_code], append=-2) != 0
    kept = np.sort(by_code[is_last & (codes[by_code] != PAD)])
    from_end = _places(owners[kept], len(requests))
    if length:
        kept = kept[from_end < length]
    if not ordered:
        kept = kept[np.argsort(codes[kept])]
    from_end = _places(owners[kept], len(requests))
    width = length or int(from_end.max(initial=0)) + 1
    cells = (owners[kept], width - 1 - from_end)
    found = np.full((len(requests), width), PAD, dtype=np.int64)
    found[cells] = columns[kept]
    return found


def _places(owners: Ints, count: int) -> Ints:
    ends = np.cumsum(np.bincount(owners, minlength=count))
    return ends[owners] - 1 - np.arange(len(owners))


def numbered(texts: Sequence[Sequence[str]]) -> tuple[Ints, int]:
    """Rows of texts as rows of numbers, shape (rows, most),
    padded by `PAD`; and how many there are.
    """
    numbers = {text: number for number, text in enumerate(sorted(set().union(*texts)))}
    return padded([[numbers[text] for text in row] for row in texts]), len(numbers)


def padded(rows: Sequence[Sequence[int]]) -> Ints:
    """Rows of numbers as an array, shape (rows, most), padded by `PAD` at their ends."""
    table = np.full((len(rows), max([1, *map(len, rows)])), PAD, dtype=np.int64)
    for row, numbers in enumerate(rows):
        table[row, : len(numbers)] = numbers
    return table


@dataclass(frozen=True, eq=False)
class People:
    """The features of users that a network knows, in the order of their numbers.

    Each value of each attribute is a separate feature, even a number: 25 and 26 are as
    different as two occupations. An attribute with several values has a feature for
    each.
    """

    numbers: Mapping[Feature, int]

    @classmethod
    def of(cls, users: Iterable[Mapping[str, object]]) -> People:
        """All features that any of `users` has."""
        found = sorted({feature for user in users for feature in _features(user)})
        return cls({feature: number for number, feature in enumerate(found)})

    def table(self, users: Sequence[Mapping[str, object]]) -> Ints:
        """The numbers of each user's features, sorted,
        padded by `PAD`; shape (users, most).
        """
        known = [
            sorted(
                {
                    self.numbers[each]
                    for each in _features(user)
                    if each in self.numbers
                },
            )
            for user in users
        ]
        return padded(known)

    def digest(self, table: Ints) -> str:
        """SHA-256 of the features and of which user has which, in hexadecimal."""
        total = hashlib.sha256(json.dumps([list(self.numbers), table.shape]).encode())
        total.update(table.astype("<i8").tobytes())
        return total.hexdigest()


def _features(user: Mapping[str, object]) -> Iterator[Feature]:
    for name, found in user.items():
        values = found if isinstance(found, (tuple, list, set, frozenset)) else (found,)
        for value in values:
            if value is not None and value != "" and value == value:  # noqa: PLR0124 - NaN is not
                yield name, str(value)
