"""Impressions: the items shown to a user at one moment, and which of them the user clicked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import overload

import numpy as np
import numpy.typing as npt

from pytest_recsys_mt.requests import Item, Rating, Request, Scale

CLICKS = Scale(0, 1)
"""The scale of clicks: 1 is a click."""


@dataclass(frozen=True, slots=True)
class Impression:
    """Items shown together, in the order of the file, whether each was clicked, and the clicks
    before.
    """

    id: int
    user: str
    timestamp: int
    history: tuple[Item, ...]
    shown: tuple[Item, ...]
    clicked: tuple[bool, ...]

    @property
    def relevant(self) -> frozenset[str]:
        """The ids of the clicked items."""
        return frozenset(
            item.id for item, label in zip(self.shown, self.clicked, strict=True) if label
        )

    def request(self, k: int | None = None) -> Request:
        """The request that this impression answers: rank the shown items, all of them for an AUC."""
        history = tuple(Rating(item, CLICKS.high) for item in self.history)
        return Request(self.user, history, CLICKS, self.shown, k or len(self.shown))


@dataclass(frozen=True)
class Lists:
    """Lists of items of different lengths, end to end."""

    columns: npt.NDArray[np.int64]  # positions in the catalogue, shape (entries,)
    starts: npt.NDArray[np.int64]  # of each list, and the end, shape (lists + 1,)

    def part(self, place: int) -> slice:
        """The slice of `columns` that holds the list at `place`."""
        return slice(int(self.starts[place]), int(self.starts[place + 1]))


@dataclass(frozen=True)
class Impressions(Sequence[Impression]):
    """All impressions of a dataset, in the order of its file; stored as columns to save memory."""

    items: tuple[Item, ...]
    ids: npt.NDArray[np.int64]  # shape (n,)
    users: tuple[str, ...]
    timestamps: npt.NDArray[np.int64]  # Unix seconds, shape (n,)
    history: Lists  # clicks before each impression
    shown: Lists
    clicked: npt.NDArray[np.bool_]  # the label of each entry of `shown`

    def __len__(self) -> int:
        return len(self.users)

    @overload
    def __getitem__(self, place: int) -> Impression: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[Impression]: ...
    def __getitem__(self, place: int | slice) -> Impression | Sequence[Impression]:
        if isinstance(place, slice):
            return [self[number] for number in range(len(self))[place]]
        number = range(len(self))[place]
        shown = self.shown.part(number)
        return Impression(
            int(self.ids[number]),
            self.users[number],
            int(self.timestamps[number]),
            self._named(self.history.columns[self.history.part(number)]),
            self._named(self.shown.columns[shown]),
            tuple(self.clicked[shown].tolist()),
        )

    def _named(self, columns: npt.NDArray[np.int64]) -> tuple[Item, ...]:
        return tuple(self.items[column] for column in columns.tolist())


def joined(parts: Sequence[Impressions]) -> Impressions:
    """Impressions of one catalogue, which all parts share, those of the first part first."""
    return Impressions(
        items=parts[0].items,
        ids=np.concatenate([part.ids for part in parts]),
        users=tuple(user for part in parts for user in part.users),
        timestamps=np.concatenate([part.timestamps for part in parts]),
        history=_end_to_end([part.history for part in parts]),
        shown=_end_to_end([part.shown for part in parts]),
        clicked=np.concatenate([part.clicked for part in parts]),
    )


def _end_to_end(parts: Sequence[Lists]) -> Lists:
    lengths = np.concatenate([np.diff(part.starts) for part in parts])
    return Lists(
        np.concatenate([part.columns for part in parts]), np.concatenate([[0], np.cumsum(lengths)])
    )
