"""An item-kNN as a shop would write it, and small faults of it: one a class.

Each class changes one step of `Sound`. `Titled` and `Cached` are sound.
"""

import atexit
import json
import os
import re
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from pytest_recsys_mt.datasets.dataset import Dataset
from pytest_recsys_mt.requests import Item, Rating, Recommendation, Request, Scale

Floats = NDArray[np.float64]
COUNTS = "SMALL_FAULTS_COUNTS"
"""Environment variable with the file for how many answers differ from those of `Sound`."""

_counted = {"answers": 0, "differing": 0}


@atexit.register
def _write_counts() -> None:
    if path := os.environ.get(COUNTS):
        Path(path).write_text(json.dumps(_counted), encoding="utf-8")


class Sound:
    """Sums the cosine similarities to the history, weighted by
    the ratings; ties go to the smaller id.
    """

    deterministic = True
    # What a failure says if it names the cause: a regular expression.
    cause: ClassVar[str] = ""

    def fit(self, dataset: Dataset, seed: int) -> None:
        """Find the similarities of all items."""
        self.items = dict(dataset.items)
        self.place = {item: number for number, item in enumerate(sorted(self.items))}
        self.popularity = dataset.popularity
        self.learn(dataset)

    def learn(self, dataset: Dataset) -> None:
        """Cosines of the items' columns."""
        self.cosines(dataset.interactions, dataset.scale)

    def cosines(self, table: Any, scale: Scale) -> None:
        """Set the similarities from these rows, each rating on the scale 0 to 1."""
        rows = np.unique(table["user"].to_numpy(dtype=str), return_inverse=True)[1]
        columns = np.array([self.place[item] for item in table["item"]])
        values = 0.1 + (table["rating"].to_numpy() - scale.low) / (
            scale.high - scale.low
        )
        matrix = csr_array((values, (rows, columns)), (rows.max() + 1, len(self.place)))
        lengths = np.sqrt(np.asarray(matrix.multiply(matrix).sum(axis=0)).ravel())
        self.known = lengths > 0
        lengths[~self.known] = 1.0
        # Rounded, so that no order of a sum decides between two items.
        self.similarity = np.round(
            (matrix.T @ matrix).toarray() / np.outer(lengths, lengths),
            9,
        )
        np.fill_diagonal(self.similarity, 0)

    def recommend(self, requests: Sequence[Request]) -> list[Recommendation]:
        """One answer a request, each for itself."""
        answers = self.answers(requests)
        if type(self) is not Sound and os.environ.get(COUNTS):
            sound = [Sound.answer(_Plain(self), request) for request in requests]
            _counted["answers"] += len(answers)
            pairs = zip(answers, sound, strict=True)
            _counted["differing"] += sum(mine != true for mine, true in pairs)
        return [Recommendation(answer) for answer in answers]

    def answers(self, requests: Sequence[Request]) -> list[tuple[str, ...]]:
        """The lists of ids."""
        return [self.answer(request) for request in requests]

    def answer(self, request: Request) -> tuple[str, ...]:
        """The ids for one request."""
        offered = self.offered(request)
        return self.best(request, offered, self.scores(request, offered))

    def offered(self, request: Request) -> list[Item]:
        """What can be recommended."""
        if request.candidates is not None:
            return list(request.candidates)
        return [item for item in self.items.values() if item.id not in request.known]

    def read(self, request: Request) -> tuple[Rating, ...]:
        """The ratings that count."""
        return request.history

    def weight(self, rating: Rating, scale: Scale) -> float:
        """How much a rating counts, whatever the scale."""
        return 0.1 + (rating.value - scale.low) / (scale.high - scale.low)

    def find(self, item: Item) -> int | None:
        """The place of an item of the history; None if it is unknown."""
        return self.place.get(item.id)

    def profile(self, request: Request) -> Floats:
        """The score of each known item."""
        weights = np.zeros(len(self.place))
        for rating in self.read(request):
            number = self.find(rating.item)
            if number is not None:
                weights[number] += self.weight(rating, request.scale)
        read = weights.nonzero()[0]
        return np.asarray(np.round(weights[read] @ self.similarity[read], 6))

    def scores(self, request: Request, offered: Sequence[Item]) -> Floats:
        """The score of each item on offer; nothing is known of a new one."""
        profile = self.profile(request)
        places = [self.place.get(item.id) for item in offered]
        return np.array([0.0 if place is None else profile[place] for place in places])

    def best(
        self,
        request: Request,
        offered: Sequence[Item],
        scores: Floats,
    ) -> tuple[str, ...]:
        """The first k by score."""
        ranked = sorted(
            zip((-scores).tolist(), (item.id for item in offered), strict=True),
        )
        return tuple(item for _, item in ranked[: request.k])

    def popular(self, offered: Sequence[Item]) -> Floats:
        """The popularity of each item on offer."""
        return np.array([float(self.popularity.get(item.id, 0)) for item in offered])


class _Plain(Sound):
    """What `Sound` would have learned from the same data, to compare with."""

    def __init__(self, faulty: Sound) -> None:
        vars(self).update(vars(faulty))
        self.similarity = getattr(faulty, "sound_similarity", faulty.similarity)


class Titled(Sound):
    """Sound: finds the items of the history by title and
    year, and by id what has neither.
    """

    def learn(self, dataset: Dataset) -> None:
        """See `Sound`."""
        super().learn(dataset)
        self.titles = {
            (item.title, item.year): self.place[item.id] for item in self.items.values()
        }

    def find(self, item: Item) -> int | None:
        """See `Sound`."""
        return self.titles.get((item.title, item.year), self.place.get(item.id))


class Cached(Sound):
    """Sound: keeps answers by all that they depend on."""

    def __init__(self) -> None:
        self.kept: dict[Any, tuple[str, ...]] = {}

    def key(self, request: Request) -> Any:
        """What an answer is kept by."""
        said = tuple((rating.item.id, rating.value) for rating in request.history)
        return self.partial_key(request), said, request.scale, request.seen

    def partial_key(self, request: Request) -> Any:
        """All but the past."""
        offered = request.candidates
        ids = None if offered is None else tuple(item.id for item in offered)
        return request.user, ids, request.k

    def answer(self, request: Request) -> tuple[str, ...]:
        """See `Sound`."""
        key = self.key(request)
        if key not in self.kept:
            self.kept[key] = super().answer(request)
        return self.kept[key]


class WholeRatings(Sound):
    """1: ratings are cut to whole numbers."""

    cause = "half|whole"

    def weight(self, rating: Rating, scale: Scale) -> float:
        """See `Sound`."""
        return super().weight(Rating(rating.item, int(rating.value)), scale)


class AsciiTitles(Titled):
    """2: items of the history whose title is not ASCII are lost."""

    cause = "title|ascii|accent|unicode"

    def read(self, request: Request) -> tuple[Rating, ...]:
        """See `Sound`."""
        return tuple(
            rating for rating in request.history if rating.item.title.isascii()
        )


class OddUsers(Sound):
    """3: users with an odd id get what is popular."""

    cause = r"\bids?\b|rename_user"

    def scores(self, request: Request, offered: Sequence[Item]) -> Floats:
        """See `Sound`."""
        number = re.sub(r"\D", "", request.user)
        odd = bool(number) and int(number) % 2 == 1
        return self.popular(offered) if odd else super().scores(request, offered)


class TimeZone(Sound):
    """4: what was rated in the last 8 hours is dropped."""

    cause = r"\btime|hours|latest"

    def read(self, request: Request) -> tuple[Rating, ...]:
        """See `Sound`."""
        end = (
            max((rating.timestamp or 0 for rating in request.history), default=0)
            - 8 * 3600
        )
        return tuple(
            rating for rating in request.history if (rating.timestamp or 0) <= end
        )


class LastOnly(Sound):
    """5: only the last item of the history counts."""

    cause = "history|last|order"

    def read(self, request: Request) -> tuple[Rating, ...]:
        """See `Sound`."""
        return request.history[-1:]


class PlaceBonus(Sound):
    """6: early candidates get a bonus."""

    cause = "candidate|order|shuffle"

    def scores(self, request: Request, offered: Sequence[Item]) -> Floats:
        """See `Sound`."""
        scores = super().scores(request, offered)
        return np.asarray(scores + 0.3 * scores.std() * np.linspace(1, 0, len(scores)))


class FiftyOnly(Sound):
    """7: only the last 50 items of the history count."""

    cause = "history"

    def read(self, request: Request) -> tuple[Rating, ...]:
        """See `Sound`."""
        return request.history[-50:]


class FoldedTitles(Titled):
    """8: remakes whose titles differ in case alone, or not at all, are one item."""

    cause = "title|case"

    def learn(self, dataset: Dataset) -> None:
        """See `Sound`."""
        super().learn(dataset)
        self.folded = {
            item.title.casefold(): self.place[item.id] for item in self.items.values()
        }

    def find(self, item: Item) -> int | None:
        """See `Sound`."""
        return self.folded.get(item.title.casefold(), self.place.get(item.id))


class CachedWithoutHistory(Cached):
    """9: answers are kept by user and candidates, whatever the history says."""

    cause = "cache|kept|remember|no.history.changes|another.history"

    def key(self, request: Request) -> Any:
        """See `Cached`."""
        return self.partial_key(request)


class StaleProfile(Sound):
    """10: the history of a user's first request counts for ever."""

    cause = "remember|stale|no.history.changes|another.history"

    def __init__(self) -> None:
        self.first: dict[str, tuple[Rating, ...]] = {}

    def read(self, request: Request) -> tuple[Rating, ...]:
        """See `Sound`."""
        return self.first.setdefault(request.user, request.history)


class PopularFromFifteen(Sound):
    """11: who has more than 15 items in the history gets what is popular."""

    cause = "popular|length|longer"

    def scores(self, request: Request, offered: Sequence[Item]) -> Floats:
        """See `Sound`."""
        many = len(request.history) > 15
        return self.popular(offered) if many else super().scores(request, offered)


class BestMissing(Sound):
    """12: one item too few, and the best is the one that is missing."""

    cause = "few|short|length|number of items|k="

    def best(
        self,
        request: Request,
        offered: Sequence[Item],
        scores: Floats,
    ) -> tuple[str, ...]:
        """See `Sound`."""
        return super().best(request, offered, scores)[1:]


class HundredOnly(Sound):
    """13: candidates behind the first 100 are ignored."""

    cause = "candidate|catalogue"

    def offered(self, request: Request) -> list[Item]:
        """See `Sound`."""
        return super().offered(request)[:100]


class NanScores(Sound):
    """14: what nobody rated has the score 0/0, which sorts anyhow."""

    cause = "candidate|order|nan"

    def scores(self, request: Request, offered: Sequence[Item]) -> Floats:
        """See `Sound`."""
        scores = super().scores(request, offered)
        return np.where(scores == 0, np.nan, scores)


class SwappedInBatch(Sound):
    """15: in a batch of 32 or more, the first two requests get each other's histories."""

    cause = "batch|company|alone|together|swap"

    def answers(self, requests: Sequence[Request]) -> list[tuple[str, ...]]:
        """See `Sound`."""
        asked = list(requests)
        if len(asked) >= 32:
            one, other = asked[:2]
            asked[0] = one.replace(history=other.history, scale=other.scale)
            asked[1] = other.replace(history=one.history, scale=one.scale)
        return super().answers(asked)


class RowOrder(Sound):
    """16: the last tenth of the training rows is lost, so their order counts."""

    cause = "row|training|permute"

    def learn(self, dataset: Dataset) -> None:
        """See `Sound`."""
        super().learn(dataset)
        self.sound_similarity = self.similarity
        table = dataset.interactions
        self.cosines(table.iloc[: len(table) * 9 // 10], dataset.scale)


class TiesByPlace(Sound):
    """17: of equal scores, the earlier candidate comes
    first, as a dictionary keeps them.
    """

    cause = "candidate|order|tie"

    def best(
        self,
        request: Request,
        offered: Sequence[Item],
        scores: Floats,
    ) -> tuple[str, ...]:
        """See `Sound`."""
        by_score: dict[float, list[str]] = defaultdict(list)
        for item, score in zip(offered, scores.tolist(), strict=True):
            by_score[score].append(item.id)
        ranked = [
            item for score in sorted(by_score, reverse=True) for item in by_score[score]
        ]
        return tuple(ranked[: request.k])


class PaddingItem(Sound):
    """18: the item of index 0 is taken for padding, and never recommended."""

    cause = "never|item|missing"

    def offered(self, request: Request) -> list[Item]:
        """See `Sound`."""
        return [
            item for item in super().offered(request) if self.place.get(item.id) != 0
        ]


class NewestMissing(Sound):
    """19: the item that was rated last for the first time is not in the index."""

    cause = "new|never|item|missing"

    def learn(self, dataset: Dataset) -> None:
        """See `Sound`."""
        super().learn(dataset)
        self.newest = dataset.interactions.groupby("item")["timestamp"].min().idxmax()

    def offered(self, request: Request) -> list[Item]:
        """See `Sound`."""
        return [item for item in super().offered(request) if item.id != self.newest]


SOUND: tuple[type[Sound], ...] = (Sound, Titled, Cached)
FAULTS: tuple[type[Sound], ...] = (
    WholeRatings, AsciiTitles, OddUsers, TimeZone, LastOnly, PlaceBonus, FiftyOnly, FoldedTitles, CachedWithoutHistory,
    StaleProfile, PopularFromFifteen, BestMissing, HundredOnly, NanScores, SwappedInBatch, RowOrder, TiesByPlace,
    PaddingItem, NewestMissing,
)  # fmt: skip
