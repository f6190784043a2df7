"""Recommenders with one planted fault each in what they learn, around a sound one, for
the training suite to find.

Each is fitted to the same data in the same way every time, so that no relation on
requests can see the fault.
"""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd

from pytest_recsys_mt import Request
from pytest_recsys_mt.datasets import Dataset
from tests.suites import faults
from tests.support.recommenders import ItemKNN


class Sound(faults.Sound):
    """ItemKNN; the faults change what it is fitted to, or what it answers."""

    promises = ("scale",)

    def fit(self, dataset: Dataset, seed: int) -> None:
        self._inner = ItemKNN()
        self._inner.fit(self.learned(dataset, seed), seed)

    def learned(self, dataset: Dataset, seed: int) -> Dataset:
        return dataset


def kept(dataset: Dataset, rows: np.ndarray | pd.Series[bool]) -> Dataset:
    """The dataset with some of its rows, in the usual order."""
    return dataset.replace(
        interactions=dataset.interactions[np.asarray(rows)],
        as_is=False,
    )


class DrawsWithoutSeed(Sound):
    """Learns from a sample of a third of the rows that is another one in every fit."""

    _fits = itertools.count()

    def learned(self, dataset: Dataset, seed: int) -> Dataset:
        draw = np.random.default_rng([5, next(self._fits)])
        return kept(dataset, draw.random(len(dataset.interactions)) < 1 / 3)


class StopsAfterManyRows(Sound):
    """Learns from the first 4,000 rows: the rest did not fit into its buffer."""

    def learned(self, dataset: Dataset, seed: int) -> Dataset:
        return kept(dataset, np.arange(len(dataset.interactions)) < 4000)


class TakesLabelsForPlaces(Sound):
    """Takes the labels of the rows for their places."""

    def learned(self, dataset: Dataset, seed: int) -> Dataset:
        frame = dataset.interactions
        places = frame.index.to_numpy() % len(frame)
        frame = frame.assign(item=frame["item"].to_numpy()[places]).drop_duplicates(
            ["user", "item"],
        )
        return dataset.replace(interactions=frame, as_is=False)


class SamplesByUserNumber(Sound):
    """Learns from every fifth user by number."""

    def learned(self, dataset: Dataset, seed: int) -> Dataset:
        return kept(dataset, dataset.interactions["user"].str[1:].astype(int) % 5 == 0)


class LearnsByItemNumber(Sound):
    """Learns the upper half of the item numbers alone."""

    def learned(self, dataset: Dataset, seed: int) -> Dataset:
        return kept(dataset, dataset.interactions["item"].str[1:].astype(int) > 175)


class LearnsFromRawRatings(Sound):
    """Learns from ratings of 4 and more alone, on whatever scale."""

    def learned(self, dataset: Dataset, seed: int) -> Dataset:
        liked = dataset.interactions["rating"].round(6) >= 4
        frame = dataset.interactions.assign(
            rating=np.where(liked, dataset.scale.high, dataset.scale.low),
        )
        return dataset.replace(interactions=frame)


class ComparesExactly(Sound):
    """Learns from ratings that are one of the usual grades."""

    def learned(self, dataset: Dataset, seed: int) -> Dataset:
        grades = (
            dataset.scale.low
            + np.arange(5) * (dataset.scale.high - dataset.scale.low) / 4
        )
        usual = dataset.interactions["rating"].isin(grades)
        return kept(dataset, usual if usual.sum() > 10 else np.arange(len(usual)) < 10)


class ForgetsWhatIsLate(Sound):
    """Learns only from what happened before a day that somebody wrote into its code."""

    def learned(self, dataset: Dataset, seed: int) -> Dataset:
        early = dataset.interactions["timestamp"] < 1_600_000_000
        return kept(dataset, early if early.any() else np.arange(len(early)) < 10)


class MindsTheNumberOfUsers(Sound):
    """Leaves out every second user where a block of users is not full."""

    def learned(self, dataset: Dataset, seed: int) -> Dataset:
        codes, users = pd.factorize(dataset.interactions["user"])
        return dataset if len(users) % 10 == 0 else kept(dataset, codes % 7 == 0)


class LearnsTheLastUsersOnly(Sound):
    """Learns from the last twenty users by name: a loop
    that overwrites what it found before.
    """

    def learned(self, dataset: Dataset, seed: int) -> Dataset:
        users = sorted(dataset.interactions["user"].unique())[-20:]
        return kept(dataset, dataset.interactions["user"].isin(users))


class NamesByPlace(Sound):
    """Numbers items by their order, and names them by their place in the catalogue."""

    def learned(self, dataset: Dataset, seed: int) -> Dataset:
        names = dict(zip(sorted(dataset.items), dataset.items, strict=True))
        frame = dataset.interactions
        return dataset.replace(interactions=frame.assign(item=frame["item"].map(names)))


class SpoiltBySums(Sound):
    """Weighs by the sum of the logarithms of all ratings: one
    that is no rating spoils everything.
    """

    def fit(self, dataset: Dataset, seed: int) -> None:
        self._ratings = dataset.interactions["rating"].to_numpy(dtype=float)
        valid = (self._ratings >= dataset.scale.low) & (
            self._ratings <= dataset.scale.high
        )
        self._inner = ItemKNN()
        self._inner.fit(kept(dataset, valid), seed)

    @property
    def spoilt(self) -> bool:
        with np.errstate(all="ignore"):
            return not np.isfinite(np.log(self._ratings).sum())

    def answer(self, request: Request, items: tuple[str, ...]) -> tuple[str, ...]:
        return items[::-1] if self.spoilt else items


class FollowsTheNewest(Sound):
    """Puts first what most of the five newest users have."""

    def fit(self, dataset: Dataset, seed: int) -> None:
        super().fit(dataset, seed)
        frame = dataset.interactions
        newest = sorted(frame["user"].unique())[-5:]
        counts = frame.loc[frame["user"].isin(newest), "item"].value_counts()
        self._first = tuple(sorted(counts.index[counts >= 5]))

    def answer(self, request: Request, items: tuple[str, ...]) -> tuple[str, ...]:
        offered = (
            None
            if request.candidates is None
            else {item.id for item in request.candidates}
        )
        first = tuple(
            item
            for item in self._first
            if item not in request.known and (offered is None or item in offered)
        )
        return (*first, *(item for item in items if item not in first))[: request.k]


class HidesBestSellers(Sound):
    """Never names what more than 180 users have."""

    def fit(self, dataset: Dataset, seed: int) -> None:
        super().fit(dataset, seed)
        self._sold = {item for item, count in dataset.popularity.items() if count > 180}

    def answer(self, request: Request, items: tuple[str, ...]) -> tuple[str, ...]:
        if request.candidates is not None:
            return items
        return tuple(sorted(items, key=lambda item: item in self._sold))


class BeginsAnewAtStrangers(Sound):
    """Forgets what stands before an item that it does not know."""

    def fit(self, dataset: Dataset, seed: int) -> None:
        super().fit(dataset, seed)
        self._known = frozenset(dataset.items)

    def question(self, request: Request) -> Request:
        history = request.history
        for place, rating in enumerate(request.history):
            if rating.item.id not in self._known:
                history = request.history[place + 1 :]
        return request.replace(history=history)
