"""The dataset: a catalogue, interactions, a rating scale, and the neighbours of an
item, which the same users have.
"""

from __future__ import annotations

import copy
import dataclasses
import hashlib
import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pandas as pd

from pytest_recsys_mt.datasets.neighbours import Neighbours
from pytest_recsys_mt.datasets.row_order import row_order
from pytest_recsys_mt.requests import Item, Rating, Scale
from pytest_recsys_mt.safety.errors import DataError

COLUMNS = ("user", "item", "rating", "timestamp")


@dataclass(frozen=True)
class Dataset:
    """Interactions with a catalogue.

    Attributes:
        name: The value of ``--recsys-data``.
        items: The catalogue by item id.
        interactions: One row per interaction, columns `COLUMNS` (str, str, float64,
            int64 Unix seconds), sorted by user, timestamp and item; no user rates an
            item twice.
        scale: The scale of the ratings.
        users: Attributes of users (age, occupation), if the data have them.
        offered: The items that each user could choose from, in their order, if the data
            contain them.
        family: That of its format: ``movielens``, ``netflix``, ``amazon``, ``lastfm``;
            else empty.
        as_is: Whether the interactions are neither checked nor sorted. For relations on
            data in another order or form, or with invalid ratings.
        thing: The word for an item in prompts, questions and reports: ``book``; empty
            for ``item``.
        withheld: The items of each user that the data keep from training, by user; None
            if they do not say so, and the latest item of each user is held out. See
            `held_out`.

    Raises:
        DataError: If an interaction names an item outside the catalogue, a rating is
            off the scale, a user rates an item twice, or there is no interaction at
            all.
    """

    name: str
    items: Mapping[str, Item]
    interactions: pd.DataFrame
    scale: Scale
    users: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    offered: Mapping[str, tuple[Item, ...]] = field(default_factory=dict)
    family: str = ""
    as_is: bool = False
    thing: str = ""
    withheld: Mapping[str, frozenset[str]] | None = None

    def __post_init__(self) -> None:
        if self.as_is:
            return
        self._require_columns_and_rows()
        users, user_names = self._ranks("user")
        items, item_names = self._ranks("item")
        ratings = self.interactions["rating"].to_numpy(dtype=np.float64)
        timestamps = self.interactions["timestamp"].to_numpy(dtype=np.int64)
        self._require_catalogued(item_names)
        off_scale = ~((ratings >= self.scale.low) & (ratings <= self.scale.high))
        if off_scale.any():
            row = int(off_scale.argmax())
            raise DataError(
                f"dataset {self.name!r}: user {user_names[users[row]]!r} rates item "
                f"{item_names[items[row]]!r} with {float(ratings[row])!r}, outside the scale "
                f"{self.scale.low:g} to {self.scale.high:g}",
            )
        pairs = np.sort(users * len(item_names) + items)
        repeated = pairs[1:][pairs[1:] == pairs[:-1]]
        if len(repeated):
            user, item = divmod(int(repeated[0]), len(item_names))
            raise DataError(
                f"dataset {self.name!r}: user {user_names[user]!r} rates item "
                f"{item_names[item]!r} twice",
            )
        order = row_order(users, timestamps, items)
        columns = {
            "user": user_names.take(users[order]),
            "item": item_names.take(items[order]),
            "rating": ratings[order],
            "timestamp": timestamps[order],
        }
        object.__setattr__(self, "interactions", pd.DataFrame(columns))

    def _require_columns_and_rows(self) -> None:
        missing = [
            column for column in COLUMNS if column not in self.interactions.columns
        ]
        if missing:
            raise DataError(
                f"dataset {self.name!r} lacks the columns {missing!r}; interactions need {COLUMNS!r}",
            )
        if self.interactions.empty:
            raise DataError(f"dataset {self.name!r} has no interactions")

    def _require_catalogued(self, item_names: pd.Index[Any]) -> None:
        unknown = item_names[~item_names.isin(list(self.items))]
        if len(unknown):
            raise DataError(
                f"dataset {self.name!r}: {len(unknown)} items have interactions but are not in "
                f"the catalogue, the first is {unknown[0]!r}",
            )

    def _ranks(self, column: str) -> tuple[npt.NDArray[np.int64], pd.Index[Any]]:
        """Of each row the rank of its id among the sorted ones,
        shape (rows,), and the sorted ids.
        """
        series = self.interactions[column]
        codes, uniques = pd.factorize(series)
        names = pd.Index(uniques).astype(str)
        if not names.is_unique:  # the number 1 as well as the text "1"
            codes, texts = pd.factorize(series.astype(str))
            names = pd.Index(texts)
        if (codes < 0).any():
            raise DataError(f"dataset {self.name!r} has interactions without {column}")
        order = names.argsort()
        rank_by_code = order.argsort()
        return rank_by_code[codes], names.take(order)

    @cached_property
    def popularity(self) -> Mapping[str, int]:
        """Interactions by item id; items without interactions have 0."""
        counts = self.interactions["item"].value_counts()
        return {item: int(counts.get(item, 0)) for item in self.items}

    @cached_property
    def first_times(self) -> Mapping[str, float]:
        """When each item was first rated, in Unix seconds, by item id; empty without
        times. Items without interactions are missing.
        """
        rows = self.interactions
        if "timestamp" not in rows or rows["timestamp"].isna().all():
            return {}
        first = rows.groupby("item", observed=True)["timestamp"].min().dropna()
        return {str(item): float(second) for item, second in first.items()}

    @cached_property
    def neighbours(self) -> Mapping[str, tuple[str, ...]]:
        """The items that the same users have, nearest
        first, by item id; see `Neighbours`.
        """
        return Neighbours(self.items, self.interactions)

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the catalogue, the interactions, the scale, the word for an item
        and what is withheld, in hexadecimal.
        """
        frame = self.interactions
        digest = hashlib.sha256()
        digest.update(repr((self.scale.low, self.scale.high)).encode())
        digest.update(self.thing.encode())  # other words are other prompts
        for item in self.items.values():
            fields = (item.id, item.title, item.year, item.attributes)
            digest.update(repr(fields).encode())
        for column in ("user", "item"):
            codes, names = pd.factorize(frame[column])
            digest.update(json.dumps(names.tolist()).encode())
            digest.update(codes.astype("<i4").tobytes())
        # With a fixed byte order, so that the digest is the same on every machine.
        digest.update(frame["rating"].to_numpy(dtype="<f8").tobytes())
        digest.update(frame["timestamp"].to_numpy(dtype="<i8").tobytes())
        if self.as_is:  # a recommender may read the form of the table, too
            form = (frame.dtypes.astype(str).to_dict(), frame.index.tolist())
            digest.update(repr(form).encode())
        if self.withheld is not None:
            pairs = [
                (user, sorted(self.withheld[user])) for user in sorted(self.withheld)
            ]
            digest.update(json.dumps(pairs).encode())
        return digest.hexdigest()

    @cached_property
    def histories(self) -> Mapping[str, tuple[Rating, ...]]:
        """Every user's interactions, oldest first, by user in the order of their names."""
        ratings_by_user: dict[str, list[Rating]] = {}
        cells = self.interactions[list(COLUMNS)].itertuples(index=False)
        for user, item, rating, timestamp in cells:
            event = Rating(self.items[item], float(rating), int(timestamp))
            ratings_by_user.setdefault(user, []).append(event)
        return {user: tuple(ratings) for user, ratings in ratings_by_user.items()}

    @cached_property
    def known(self) -> Dataset:
        """This dataset without what is withheld: all of it if nothing is."""
        if self.withheld is None:
            return self
        return self.without(self.withheld, withheld=None)

    def replace(self, **changes: Any) -> Dataset:
        """This dataset with some fields changed; raises `DataError`
        if it is invalid, unless it is `as_is`.
        """
        return dataclasses.replace(self, **changes)

    def apart(self) -> Dataset:
        """This dataset with a table of its own, which may be
        changed without changing this one's.
        """
        other = copy.copy(self)
        # From version 3 on, pandas copies data when they are changed; a shallow copy is
        # enough.
        pandas_version = int(pd.__version__.partition(".")[0])
        table = self.interactions.copy(deep=pandas_version < 3)
        object.__setattr__(other, "interactions", table)
        return other

    def adding(
        self,
        rows: Iterable[tuple[str, str, float, int]],
        **changes: Any,
    ) -> Dataset:
        """This dataset with further rows of user, item, rating and Unix seconds, and
        other `changes`; raises `DataError` if the result is invalid, unless it is taken
        `as_is`.
        """
        further = pd.DataFrame(rows, columns=pd.Index(COLUMNS))
        frame = pd.concat([self.interactions, further], ignore_index=True)
        return self.replace(interactions=frame, **changes)

    def renamed(
        self,
        column: Literal["user", "item"],
        names: Mapping[str, str],
    ) -> Renamed:
        """This dataset with other ids of users or of items, given by the old ones."""
        new_ids = self.interactions[column].map(names)
        frame = self.interactions.assign(**{column: new_ids})
        if column == "user":
            return self._with_renamed_users(frame, names)
        return self._with_renamed_items(frame, names)

    def _with_renamed_users(
        self,
        frame: pd.DataFrame,
        names: Mapping[str, str],
    ) -> Renamed:
        users = {names.get(user, user): facts for user, facts in self.users.items()}
        offered = {names.get(user, user): items for user, items in self.offered.items()}
        changed = self.replace(interactions=frame, users=users, offered=offered)
        if self.withheld is not None:
            withheld = {
                names.get(user, user): own for user, own in self.withheld.items()
            }
            changed = changed.replace(withheld=withheld)
        return Renamed(changed, users=names)

    def _with_renamed_items(
        self,
        frame: pd.DataFrame,
        names: Mapping[str, str],
    ) -> Renamed:
        items = [
            dataclasses.replace(item, id=names[key]) for key, item in self.items.items()
        ]
        items.sort(key=lambda item: item.id)
        items_by_id = {item.id: item for item in items}
        offered = {}
        for user, listed in self.offered.items():
            offered[user] = tuple(items_by_id[names[item.id]] for item in listed)
        changed = self.replace(interactions=frame, items=items_by_id, offered=offered)
        if self.withheld is not None:
            withheld = {
                user: frozenset(names[item] for item in own)
                for user, own in self.withheld.items()
            }
            changed = changed.replace(withheld=withheld)
        return Renamed(changed, items=names)

    def latest(self, number: int) -> Dataset:
        """This dataset with only the latest `number` interactions of each user."""
        latest = self.interactions.groupby("user", sort=False).tail(number)
        return self.replace(interactions=latest, as_is=False)

    def core(self, least: int) -> Dataset:
        """This dataset without rare users and items: the k-core of its interactions.

        Removing rare users makes items rare, and the reverse, so both are removed until
        all have `least` interactions. Removed items leave the catalogue too. What is
        withheld does not count, and stays with the users and items that stay.

        Raises:
            DataError: If nothing stays.
        """
        is_withheld = self.rows_of(self.withheld or {})
        frame = self.interactions[~is_withheld]
        apart = self.interactions[is_withheld]
        rows_before = -1
        while len(frame) != rows_before:
            rows_before = len(frame)
            for column in ("user", "item"):
                rows_by_id = frame[column].value_counts()
                rows_of_its_id = frame[column].map(rows_by_id)
                frame = frame[rows_of_its_id >= least]
        if frame.empty:
            raise DataError(
                f"dataset {self.name!r} has no {least}-core: no users and items have {least} "
                f"interactions each with one another; lower recsys_core",
            )
        kept_ids = set(frame["item"])
        items = {key: item for key, item in self.items.items() if key in kept_ids}
        changes: dict[str, Any] = {}
        if self.withheld is not None:
            is_user_kept = apart["user"].isin(set(frame["user"]))
            apart = apart[apart["item"].isin(kept_ids) & is_user_kept]
            frame = pd.concat([frame, apart])
            changes["withheld"] = items_by_user(apart)
        return self.replace(interactions=frame, items=items, as_is=False, **changes)

    def without(
        self,
        held_out: Mapping[str, Collection[str]],
        **changes: Any,
    ) -> Dataset:
        """This dataset without some interactions, and with other `changes`.

        Args:
            held_out: The ids of the items to take from each user, by user.
            **changes: Fields that change.

        Raises:
            DataError: If nothing stays.
        """
        kept = self.interactions[~self.rows_of(held_out)].reset_index(drop=True)
        if self.as_is or kept.empty:
            return self.replace(interactions=kept, as_is=False, **changes)
        # A part of sorted and checked rows is sorted and sound: to check it again would
        # take time.
        part = self.replace(interactions=kept, as_is=True, **changes)
        object.__setattr__(part, "as_is", False)
        return part

    def rows_of(
        self, items_by_user: Mapping[str, Collection[str]]
    ) -> npt.NDArray[np.bool_]:
        """Which rows are of some items of each user, shape (rows,)."""
        if not items_by_user:
            return np.zeros(len(self.interactions), dtype=np.bool_)
        wanted: list[tuple[str, str]] = []
        for user, items in items_by_user.items():
            wanted += [(user, item) for item in items]
        columns = pd.Index(["user", "item"])
        wanted_pairs = pd.MultiIndex.from_frame(pd.DataFrame(wanted, columns=columns))
        pairs = pd.MultiIndex.from_frame(self.interactions[["user", "item"]])
        is_wanted: npt.NDArray[np.bool_] = pairs.isin(wanted_pairs)
        return is_wanted


def items_by_user(rows: pd.DataFrame) -> Mapping[str, frozenset[str]]:
    """The items of each user in some rows."""
    groups = rows.groupby("user", observed=True)["item"]
    return {str(user): frozenset(map(str, items)) for user, items in groups}


@dataclass(frozen=True)
class Renamed:
    """A dataset in which users or items have other ids than in requests, each given by
    the old one.

    Requests to a recommender fitted to it get the new ids, and its answers the old
    ones.
    """

    dataset: Dataset
    users: Mapping[str, str] = field(default_factory=dict)
    items: Mapping[str, str] = field(default_factory=dict)
