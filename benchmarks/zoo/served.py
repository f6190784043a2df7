"""A recommender as it was trained, and as it is served with one skew: one a class.

`Trained` ranks by similar items, by what users of an age like, and by the hour of the
last rating. Each other class changes one step of it, as a service that was meant to be
equal does.
"""

from __future__ import annotations

import os
from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from pytest_recsys_mt import Recommendation, Request
from pytest_recsys_mt.datasets import Dataset

Floats = NDArray[np.float64]

DAY = 86_400
NEW_ITEMS = 15
"""The items of the data with the latest first rating, which an old catalogue lacks."""


class Trained:
    """The recommender as it was trained.

    Attributes:
        cause: What a report says if it names the cause: a regular expression.
        asked: Options of the command that the skew needs to be seen.
    """

    deterministic = True
    cause: ClassVar[str] = ""
    asked: ClassVar[Sequence[str]] = ()

    def fit(self, dataset: Dataset, seed: int) -> None:
        """Learn similarities, and what users of an age like."""
        self.ids = sorted(dataset.items)
        self.place = {item: place for place, item in enumerate(self.ids)}
        self.items = dataset.items
        rows = dataset.interactions
        self.similarity = self.cosines(rows)
        # Half of the rows are the older snapshot, which a stale index was built of.
        by_time = rows.sort_values("timestamp")
        self.older = self.cosines(by_time.iloc[: len(rows) // 2])
        first = rows.groupby("item")["timestamp"].min()
        newest = first.sort_values().index[-NEW_ITEMS:]
        self.is_new = np.array([item in set(newest) for item in self.ids])
        self.last_second = int(rows["timestamp"].max())
        genres = sorted({genre for item in self.ids for genre in self.genres(item)})
        self.genre_place = {genre: place for place, genre in enumerate(genres)}
        liked: dict[str, Counter[str]] = defaultdict(Counter)
        for user, item, rating in rows[["user", "item", "rating"]].itertuples(
            index=False
        ):
            if rating >= 4:
                age = dataset.users.get(user, {}).get("age", 0)
                liked[self.age_group(age)].update(self.genres(item))
        self.liked_by_age = {
            group: {
                genre: count / max(1, found.total()) for genre, count in found.items()
            }
            for group, found in liked.items()
        }

    def genres(self, item: str) -> Sequence[str]:
        """The genres of an item."""
        found: Sequence[str] = self.items[item].attributes.get("genres", ())
        return found

    @staticmethod
    def age_group(age: float) -> str:
        """The group of users whose taste counts."""
        return "young" if age < 30 else "middle" if age < 45 else "old"

    def cosines(self, rows: Any) -> Floats:
        """The similarities of all items."""
        users = np.unique(rows["user"].to_numpy(dtype=str), return_inverse=True)[1]
        columns = np.array([self.place[item] for item in rows["item"]])
        values = np.ones(len(columns))
        matrix = csr_array((values, (users, columns)), (users.max() + 1, len(self.ids)))
        lengths = np.sqrt(np.asarray(matrix.multiply(matrix).sum(axis=0)).ravel())
        lengths[lengths == 0] = 1
        found = (matrix.T @ matrix).toarray() / np.outer(lengths, lengths)
        np.fill_diagonal(found, 0)
        rounded: Floats = np.round(found, 9)
        return rounded

    def recommend(self, requests: Sequence[Request]) -> list[Recommendation]:
        """One list for each request."""
        return [self.answer(request) for request in requests]

    def answer(self, request: Request) -> Recommendation:
        """The items with the highest scores; of equal ones the smaller id first."""
        scores = self.scores(request)
        if request.candidates is None:
            offered = [
                place
                for item, place in self.place.items()
                if item not in self.hidden(request)
            ]
        else:
            offered = [self.place[item.id] for item in request.candidates]
        offered = [place for place in offered if self.has(place)]
        best = sorted(offered, key=lambda place: self.order(scores, place))
        return Recommendation(tuple(self.ids[place] for place in best[: request.k]))

    def hidden(self, request: Request) -> set[str]:
        """The items that are not recommended."""
        return {rating.item.id for rating in request.history}

    def has(self, place: int) -> bool:
        """Whether the catalogue has an item."""
        return True

    def order(self, scores: Floats, place: int) -> tuple[float, int]:
        """By what items are sorted."""
        return -scores[place], place

    def history(self, request: Request) -> Sequence[tuple[int, float, int]]:
        """Place, weight and second of each item of the history, the latest last."""
        return [
            (self.place[rating.item.id], rating.value / 5, rating.timestamp or 0)
            for rating in request.history
        ]

    def index(self) -> Floats:
        """The similarities that scores are made of."""
        return self.similarity

    def age(self, request: Request) -> float:
        """The age of the user."""
        return float(request.attributes.get("age", 0))

    def hour(self, second: int) -> int:
        """The hour of a rating."""
        return second // 3600 % 24

    def scores(self, request: Request) -> Floats:
        """The score of each item, rounded so that equal ones are equal."""
        index = self.index()
        scores = np.zeros(len(self.ids))
        history = self.history(request)
        for place, weight, _ in history:
            scores += weight * index[place]
        liked = self.liked_by_age.get(self.age_group(self.age(request)), {})
        # In the evening users want what is light.
        light = bool(history) and self.hour(history[-1][2]) >= 18
        for place, item in enumerate(self.ids):
            genres = self.genres(item)
            scores[place] += 2 * sum(liked.get(genre, 0) for genre in genres)
            scores[place] += 0.5 * (light and "Comedy" in genres)
        return self.rounded(scores)

    def rounded(self, scores: Floats) -> Floats:
        """The scores as they are compared."""
        return np.round(scores, 2)


class StaleShard(Trained):
    """30 % of the items, a shard, have the index of the older snapshot."""

    cause = r"id above"

    def stale(self, place: int) -> bool:
        """Whether an item was left out when the index was built again."""
        return place >= 0.7 * len(self.ids)

    def index(self) -> Floats:
        """The stale columns are those of the older snapshot."""
        stale = np.array([self.stale(place) for place in range(len(self.ids))])
        return np.where(stale[None, :], self.older, self.similarity)


class StaleBucket(StaleShard):
    """5 % of the items, one bucket of 20 by their number, are stale."""

    cause = r"7 modulo 20"

    def stale(self, place: int) -> bool:
        return int(self.ids[place][1:]) % 20 == 7


class StaleNewest(StaleShard):
    """The newest 1 % of the items have no place in the index yet."""

    cause = r"newest"

    def index(self) -> Floats:
        found = self.similarity.copy()
        found[:, np.flatnonzero(self.is_new)[-4:]] = 0
        return found


class FeatureDefault(Trained):
    """The age of users of 45 and more is served as its default."""

    cause = r"age"

    def age(self, request: Request) -> float:
        age = super().age(request)
        return 35 if age >= 45 else age


class Float16(Trained):
    """Scores are served as numbers of 16 bits."""

    cause = r"neighbour"

    def rounded(self, scores: Floats) -> Floats:
        return scores.astype(np.float16).astype(np.float64)


class OtherTies(Trained):
    """Of equal scores, the larger id comes first."""

    cause = r"equal scores by id"

    def order(self, scores: Floats, place: int) -> tuple[float, int]:
        return -scores[place], -place


class HistoryCut(Trained):
    """The service reads the last ten items of a history alone."""

    cause = r"last 10 items of the history"

    def history(self, request: Request) -> Sequence[tuple[int, float, int]]:
        return super().history(request)[-10:]


class OtherScale(Trained):
    """Ratings below 3 count as nothing: they are read as on a scale from -5 to 5."""

    cause = r"from the middle of the scale"

    def history(self, request: Request) -> Sequence[tuple[int, float, int]]:
        return [
            (place, weight if weight >= 0.6 else 0.0, second)
            for place, weight, second in super().history(request)
        ]


class OldCatalogue(Trained):
    """The service does not know the newest items."""

    cause = r"newest"

    def has(self, place: int) -> bool:
        return not self.is_new[place]


class NoFilter(Trained):
    """The service recommends what a user has rated already."""

    cause = r"in the user's history"
    asked = ("--open",)

    def hidden(self, request: Request) -> set[str]:
        return set()


class Cached(Trained):
    """Users who came in the last 180 days get answers to their history of before."""

    cause = r"without its last 5|latest rating"

    def history(self, request: Request) -> Sequence[tuple[int, float, int]]:
        history = super().history(request)
        came_lately = history[-1][2] > self.last_second - 180 * DAY
        return history[:-5] if came_lately else history


class TimeZone(Trained):
    """The hour is that of another time zone, six hours behind."""

    cause = r"o'clock|6 hours"

    def hour(self, second: int) -> int:
        return super().hour(second - 6 * 3600)


SKEWS = (
    StaleShard, StaleBucket, StaleNewest, FeatureDefault, Float16, OtherTies,
    HistoryCut, OtherScale, OldCatalogue, NoFilter, Cached, TimeZone,
)  # fmt: skip


class Copy(Trained):
    """A sound service."""


class Noisy(Trained):
    """Scores with noise, of the strength that an environment variable says."""

    deterministic = False
    strength: ClassVar[str] = "SKEWS_NOISE_A"

    def fit(self, dataset: Dataset, seed: int) -> None:
        super().fit(dataset, seed)
        draw = int(os.environ.get("SKEWS_SEED", "0"))
        self.rng = np.random.default_rng(
            [draw, len(self.strength), ord(self.strength[-1])]
        )

    def rounded(self, scores: Floats) -> Floats:
        noise = float(os.environ.get(self.strength, "0"))
        return super().rounded(scores) + self.rng.normal(0, noise, len(scores))


class NoisyCopy(Noisy):
    """Its service, with noise of its own."""

    strength = "SKEWS_NOISE_B"
