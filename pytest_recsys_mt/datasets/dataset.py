"""The dataset: a catalogue, interactions, and a rating scale."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import pandas as pd

from pytest_recsys_mt.errors import DataError
from pytest_recsys_mt.requests import Item, Rating, Scale

COLUMNS = ("user", "item", "rating", "timestamp")


@dataclass(frozen=True)
class Dataset:
    """Interactions with a catalogue.

    Attributes:
        name: As given to ``--recsys-data``.
        items: The catalogue by item id.
        interactions: One row an interaction, columns `COLUMNS` (str, str, float64, int64 Unix
            seconds), sorted by user, timestamp and item; no user rates an item twice.
        scale: Of the ratings.
        users: Attributes of users (age, occupation), where the data have them.

    Raises:
        DataError: If an interaction names no item of the catalogue, a rating is off the scale, a
            user rates an item twice, or there is no interaction at all.
    """

    name: str
    items: Mapping[str, Item]
    interactions: pd.DataFrame
    scale: Scale
    users: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        frame = self.interactions
        missing = [column for column in COLUMNS if column not in frame.columns]
        if missing:
            raise DataError(
                f"dataset {self.name!r} lacks the columns {missing!r}; interactions need {COLUMNS!r}"
            )
        if frame.empty:
            raise DataError(f"dataset {self.name!r} has no interactions")
        frame = frame.loc[:, list(COLUMNS)].astype(
            {"user": str, "item": str, "rating": "float64", "timestamp": "int64"}
        )
        frame = frame.sort_values(["user", "timestamp", "item"], kind="stable", ignore_index=True)
        unknown = frame.loc[~frame["item"].isin(list(self.items)), "item"]
        if not unknown.empty:
            raise DataError(
                f"dataset {self.name!r}: {unknown.nunique()} items have interactions but are not in "
                f"the catalogue, the first is {unknown.iloc[0]!r}"
            )
        off = frame[~frame["rating"].between(self.scale.low, self.scale.high)]
        if not off.empty:
            row = off.iloc[0]
            raise DataError(
                f"dataset {self.name!r}: user {row['user']!r} rates item {row['item']!r} with "
                f"{row['rating']!r}, outside the scale {self.scale.low:g} to {self.scale.high:g}"
            )
        twice = frame[frame.duplicated(["user", "item"])]
        if not twice.empty:
            row = twice.iloc[0]
            raise DataError(
                f"dataset {self.name!r}: user {row['user']!r} rates item {row['item']!r} twice"
            )
        object.__setattr__(self, "interactions", frame)

    @cached_property
    def popularity(self) -> Mapping[str, int]:
        """Interactions by item id; items without any have 0."""
        counts = self.interactions["item"].value_counts()
        return {item: int(counts.get(item, 0)) for item in self.items}

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the catalogue, the interactions and the scale, in hexadecimal."""
        total = hashlib.sha256(repr((self.scale.low, self.scale.high)).encode())
        for item in self.items.values():
            total.update(repr((item.id, item.title, item.year, item.attributes)).encode())
        total.update(self.interactions.to_csv(index=False).encode())
        return total.hexdigest()

    @cached_property
    def histories(self) -> Mapping[str, tuple[Rating, ...]]:
        """Every user's interactions, oldest first, by user in the order of their names."""
        rows: dict[str, list[Rating]] = {}
        frame = self.interactions
        for user, item, rating, timestamp in zip(
            frame["user"], frame["item"], frame["rating"], frame["timestamp"], strict=True
        ):
            rows.setdefault(user, []).append(Rating(self.items[item], float(rating), int(timestamp)))
        return {user: tuple(ratings) for user, ratings in rows.items()}

    def without(self, held_out: Mapping[str, str]) -> Dataset:
        """This dataset less one interaction a user: the item held out for that user, by user."""
        frame = self.interactions
        hidden = frame["user"].map(held_out) == frame["item"]
        return Dataset(self.name, self.items, frame[~hidden], self.scale, self.users)
