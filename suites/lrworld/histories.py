"""Interactions as sparse arrays, and the texts of items and users."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.sparse import csr_array

from pytest_recsys_mt.datasets.dataset import Dataset
from pytest_recsys_mt.requests import Item
from pytest_recsys_mt.suites.lrworld.same import form

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]

# A text, because only types of SciPy from 1.16 on can be indexed when a program runs.
Counts: TypeAlias = "csr_array[np.int32]"

SEPARATOR = "; "
"""Separator of the items of a history that is one option, as in the paper's prompts."""


@dataclass(frozen=True, eq=False)
class Histories:
    """Every user's items, oldest first: users in rows, items in
    columns, one for all items of one label.
    """

    items: tuple[Item, ...]  # by column; of one label the most popular one
    columns: Ints  # of all interactions, shape (n,), by user, then by time
    starts: Ints  # of each user, and the end, shape (users + 1,)
    least: int  # interactions of a user or an item in a question
    namesakes: Mapping[int, tuple[Item, ...]] = field(default_factory=dict)

    @classmethod
    def of(cls, dataset: Dataset, least: int) -> Histories:
        """The histories of a dataset; of a user's interactions
        with items of one label the latest counts.
        """
        groups = _by_label(dataset)
        place = {
            item.id: column for column, group in enumerate(groups) for item in group
        }
        frame = dataset.interactions
        # The rows are sorted by user: a user's first row is where the name changes.
        users = pd.factorize(frame["user"])[0]
        codes, names = pd.factorize(frame["item"])
        columns = np.array([place[str(name)] for name in names], dtype=np.int64)[codes]
        if len(groups) < len(dataset.items):
            pairs = users.astype(np.int64) * len(groups) + columns
            latest = ~pd.Series(pairs).duplicated(keep="last").to_numpy()
            users, columns = users[latest], columns[latest]
        starts = np.concatenate([[0], np.cumsum(np.bincount(users))]).astype(np.int64)
        items = tuple(_together(group) for group in groups)
        namesakes = {at: group[1:] for at, group in enumerate(groups) if len(group) > 1}
        return cls(items, columns, starts, least, namesakes)

    @property
    def users(self) -> int:
        """The number of users."""
        return len(self.starts) - 1

    @cached_property
    def lengths(self) -> Ints:
        """Interactions of each user, shape (users,)."""
        return np.diff(self.starts)

    @cached_property
    def popularity(self) -> Ints:
        """Interactions of each item, shape (items,)."""
        return np.bincount(self.columns, minlength=len(self.items)).astype(np.int64)

    @property
    def mean_log_popularity(self) -> float:
        """The mean logarithm of the popularity of the items that anyone has."""
        return float(np.log(self.popularity[self.popularity > 0]).mean())

    @cached_property
    def by_user(self) -> Counts:
        """A one for each interaction, users in rows, columns sorted."""
        # Indices of 32 bits halve the memory that products move.
        index: Any = np.int32 if len(self.columns) < 2**31 else np.int64
        ones = np.ones(len(self.columns), dtype=np.int32)
        matrix: Counts = csr_array(
            (ones, self.columns.astype(index), self.starts.astype(index)),
            shape=(self.users, len(self.items)),
        )
        matrix.sort_indices()
        return matrix

    @cached_property
    def named(self) -> Mask:
        """Items that a reader can identify, shape (items,): those with a title."""
        return np.array(
            [bool(item.title.strip()) for item in self.items],
            dtype=np.bool_,
        )

    @cached_property
    def asked_items(self) -> Mask:
        """Items that a question may be about, shape (items,)."""
        return self.named & (self.popularity >= self.least)

    @cached_property
    def asked_users(self) -> Mask:
        """Users whom a question may be about, shape (users,)."""
        before = np.concatenate([[0], np.cumsum(self.named[self.columns])])
        enough: Mask = before[self.starts[1:]] - before[self.starts[:-1]] >= self.least
        return enough

    def of_user(self, user: int) -> Ints:
        """Columns of a user's items, oldest first."""
        return self.columns[self.starts[user] : self.starts[user + 1]]

    def latest(self, user: int, length: int, without: int = -1) -> Ints:
        """Columns of a user's latest items with a title, oldest first."""
        own = self.of_user(user)
        shown: Ints = own[self.named[own] & (own != without)][-length:]
        return shown

    def item_text(self, column: int) -> str:
        """The text of an item in questions about taste."""
        return text_of(self.items[column])

    def user_texts(self, user: int, length: int, without: int = -1) -> tuple[str, ...]:
        """The texts of a user: those of the latest items, see `latest`."""
        return tuple(
            self.item_text(column) for column in self.latest(user, length, without)
        )

    def user_text(self, user: int, length: int, without: int = -1) -> str:
        """These texts as one option."""
        return SEPARATOR.join(self.user_texts(user, length, without))


def _by_label(dataset: Dataset) -> list[tuple[Item, ...]]:
    groups: dict[tuple[str, ...], list[Item]] = {}
    for key in sorted(dataset.items):
        item = dataset.items[key]
        label = ("", form(item.label)) if item.title.strip() else (key,)
        groups.setdefault(label, []).append(item)
    popularity = dataset.popularity
    sorted_groups = [
        tuple(sorted(group, key=lambda item: -popularity[item.id]))
        for group in groups.values()
    ]
    return sorted(sorted_groups, key=lambda group: group[0].id)


def _together(group: tuple[Item, ...]) -> Item:
    if len(group) == 1:
        return group[0]
    attributes: dict[str, Any] = {}
    for item in group:
        for name, value in item.attributes.items():
            if names_of(value):
                attributes.setdefault(name, value)
    return replace(group[0], attributes=attributes)


def text_of(item: Item) -> str:
    """An item with its genre: ``Training Day (2001), Crime Drama``."""
    genres = names_of(item.attributes.get("genres"))
    hint = " ".join(genres) or "".join(names_of(item.attributes.get("categories"))[-1:])
    return f"{item.label}, {hint}" if hint else item.label


def names_of(value: Any) -> tuple[str, ...]:
    """An attribute as a tuple of texts: of one text,
    several, an object, or a missing one.
    """
    if value is None:
        return ()
    if isinstance(value, Mapping):
        return (json.dumps(value, ensure_ascii=False, default=list),) if value else ()
    several = (
        value
        if isinstance(value, Collection) and not isinstance(value, str)
        else (value,)
    )
    return tuple(text for one in several if (text := str(one).strip()))
