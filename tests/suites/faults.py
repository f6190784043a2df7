"""Recommenders with one planted fault each, around a sound one, for the suites to find."""

from __future__ import annotations

import itertools
import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from pytest_recsys_mt import Item, NotApplicable, Rating, Recommendation, Request, Scale
from pytest_recsys_mt.datasets import Dataset
from tests.support.recommenders import ItemKNN


class Sound:
    """ItemKNN as it is; the faults change its question or its answer."""

    deterministic = True

    def fit(self, dataset: Dataset, seed: int) -> None:
        self._inner = ItemKNN()
        self._inner.fit(dataset, seed)

    def question(self, request: Request) -> Request:
        return request

    def answer(self, request: Request, items: tuple[str, ...]) -> tuple[str, ...]:
        return items

    def recommend(self, requests: Sequence[Request]) -> list[Recommendation]:
        answers = self._inner.recommend(
            [self.question(request) for request in requests],
        )
        return [
            Recommendation(self.answer(request, answer.items))
            for request, answer in zip(requests, answers, strict=True)
        ]


@dataclass(eq=False)
class _NoisyKNN(ItemKNN):
    key: ClassVar[str] = "noisy"

    def score(self, requests: Sequence[Request]) -> NDArray[np.float64]:
        scores = super().score(requests)
        deviation = scores.std(axis=1, keepdims=True)
        return np.asarray(scores + deviation * self._noise.gumbel(size=scores.shape))

    def learn(self, dataset: Dataset, seed: int) -> None:
        self._noise = np.random.default_rng(seed)
        super().learn(dataset, seed)


class Varies(Sound):
    """No fault: its scores have noise of one deviation,
    which hides more among many candidates.
    """

    deterministic = False

    def fit(self, dataset: Dataset, seed: int) -> None:
        self._inner = _NoisyKNN()
        self._inner.fit(dataset, seed)


class ReadsRawRatings(Sound):
    """Takes 4 and more for a liked film, on whatever scale."""

    def question(self, request: Request) -> Request:
        liked = tuple(
            replace(rating, value=5.0 if rating.value >= 4 else 1.0)
            for rating in request.history
        )
        return request.replace(history=liked, scale=Scale(1, 5))


class ReadsTheLatestOnly(Sound):
    """Reads nothing but the last two items of the history."""

    def question(self, request: Request) -> Request:
        return request.replace(history=request.history[-2:])


class CutsRatings(Sound):
    """Reads 3.5 as 3, as whoever keeps ratings in whole numbers."""

    def question(self, request: Request) -> Request:
        history = tuple(
            replace(rating, value=float(int(rating.value)))
            for rating in request.history
        )
        return request.replace(history=history)


class LosesTitles(Sound):
    """Never names a film whose title is not plain ASCII."""

    def fit(self, dataset: Dataset, seed: int) -> None:
        super().fit(dataset, seed)
        self._lost = {
            item.id for item in dataset.items.values() if not item.title.isascii()
        }

    def question(self, request: Request) -> Request:
        return request.replace(k=request.k + len(self._lost))

    def answer(self, request: Request, items: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(item for item in items if item not in self._lost)[: request.k]


class LosesTheBest(Sound):
    """Begins with the second best item."""

    def question(self, request: Request) -> Request:
        return request.replace(k=request.k + 1)

    def answer(self, request: Request, items: tuple[str, ...]) -> tuple[str, ...]:
        return items[1 : request.k + 1]


class FallsBack(Sound):
    """Takes who has rated fewer than five films for somebody without a history."""

    def question(self, request: Request) -> Request:
        return request if len(request.history) >= 5 else request.replace(history=())


class ServesHalf(Sound):
    """Gives the films in the order of their ids to half of the users, by the film of
    theirs that comes first there.
    """

    def answer(self, request: Request, items: tuple[str, ...]) -> tuple[str, ...]:
        first = min(rating.item.id for rating in request.history)
        if ord(first[-1]) % 2 or request.candidates is None:
            return items
        return tuple(sorted(item.id for item in request.candidates))[: request.k]


class CountsRepeats(Sound):
    """Reads the second half of a history only where something stands in it twice."""

    def question(self, request: Request) -> Request:
        ids = [rating.item.id for rating in request.history]
        if len(set(ids)) == len(ids):
            return request
        return request.replace(history=request.history[-3:])


class AnswersByName(Sound):
    """Turns the list round for users whose name it has not met in training."""

    def fit(self, dataset: Dataset, seed: int) -> None:
        super().fit(dataset, seed)
        self._known = set(dataset.interactions["user"])

    def answer(self, request: Request, items: tuple[str, ...]) -> tuple[str, ...]:
        return items if request.user in self._known else items[::-1]


class FirstCandidatesFirst(Sound):
    """Puts the first five candidates on top."""

    def answer(self, request: Request, items: tuple[str, ...]) -> tuple[str, ...]:
        if request.candidates is None:
            return items
        first = tuple(item.id for item in request.candidates[:5])
        return (*first, *(item for item in items if item not in first))[: request.k]


class MindsTheCompany(Sound):
    """Turns the list round where there are more than the usual candidates."""

    def answer(self, request: Request, items: tuple[str, ...]) -> tuple[str, ...]:
        return items[::-1] if len(request.candidates or ()) > 20 else items


class MindsTheLength(Sound):
    """Turns the list round where more than ten items are asked for."""

    def answer(self, request: Request, items: tuple[str, ...]) -> tuple[str, ...]:
        return items[::-1] if request.k > 10 else items


class IgnoresTheUser(Sound):
    """Answers everybody as if they had no history."""

    def question(self, request: Request) -> Request:
        return request.replace(history=())


class MindsOddLengths(Sound):
    """Turns the list round for histories of an odd length."""

    def answer(self, request: Request, items: tuple[str, ...]) -> tuple[str, ...]:
        return items[::-1] if len(request.history) % 2 else items


class RepeatsItself(Sound):
    """Names its best item twice."""

    def answer(self, request: Request, items: tuple[str, ...]) -> tuple[str, ...]:
        return (items[0], *items)[: request.k]


class NamesOthers(Sound):
    """Ends its list with an item nobody offered."""

    def answer(self, request: Request, items: tuple[str, ...]) -> tuple[str, ...]:
        return (*items[:-1], "elsewhere")


class StopsEarly(Sound):
    """Gives two items fewer than it was asked for."""

    def answer(self, request: Request, items: tuple[str, ...]) -> tuple[str, ...]:
        return items[:-2]


class StopsOnRawRatings(Sound):
    """Gives one item where the scale is not the usual one."""

    def answer(self, request: Request, items: tuple[str, ...]) -> tuple[str, ...]:
        return items if request.scale.high == 5 else items[:1]


class InventsInCompany(Sound):
    """Names nothing but its two best and inventions where
    there are more than the usual candidates.
    """

    def answer(self, request: Request, items: tuple[str, ...]) -> tuple[str, ...]:
        if len(request.candidates or ()) <= 20:
            return items
        return (*items[:2], *(f"unknown:film{place}" for place in items[2:]))


class NamesOne(Sound):
    """Never gives more than one item."""

    def answer(self, request: Request, items: tuple[str, ...]) -> tuple[str, ...]:
        return items[:1]


class GetsWorseWithHistory(Sound):
    """Answers long histories with the worst it has."""

    def question(self, request: Request) -> Request:
        if len(request.history) <= 5 or request.candidates is None:
            return request
        return request.replace(k=len(request.candidates))

    def answer(self, request: Request, items: tuple[str, ...]) -> tuple[str, ...]:
        return items[::-1][: request.k] if len(request.history) > 5 else items


class CannotKeepStill(Sound):
    """Says it is deterministic, and turns every second answer round."""

    def __init__(self) -> None:
        self._turn = itertools.cycle((1, 1, -1))

    def answer(self, request: Request, items: tuple[str, ...]) -> tuple[str, ...]:
        return items[:: next(self._turn)]


class OffersFirstInLongLists(Sound):
    """Lists what it was offered in the order offered,
    where more than 15 items are asked for.
    """

    def answer(self, request: Request, items: tuple[str, ...]) -> tuple[str, ...]:
        if request.k <= 15 or request.candidates is None:
            return items
        return tuple(item.id for item in request.candidates)[: request.k]


class HurriesInBatches(Sound):
    """Takes everything for liked where it is asked several requests at once."""

    def recommend(self, requests: Sequence[Request]) -> list[Recommendation]:
        if len(requests) > 1:
            requests = [each.replace(history=self._liked(each)) for each in requests]
        return super().recommend(requests)

    def _liked(self, request: Request) -> tuple[Rating, ...]:
        return tuple(
            replace(rating, value=request.scale.high) for rating in request.history
        )


class SaysItIsSteady(Sound):
    """Says it is deterministic, and turns 4 % of its answers round."""

    def __init__(self) -> None:
        self._draw = random.Random(0)

    def answer(self, request: Request, items: tuple[str, ...]) -> tuple[str, ...]:
        return items[::-1] if self._draw.random() < 0.04 else items


class Remembers(Sound):
    """Answers the first request of a call for the last user of the call before as well."""

    _before: tuple[Rating, ...] = ()

    def recommend(self, requests: Sequence[Request]) -> list[Recommendation]:
        first = requests[0].replace(history=(*self._before, *requests[0].history))
        self._before = requests[-1].history
        return super().recommend([first, *requests[1:]])


class BreaksTiesByHash(Sound):
    """Counts the films of the same ten years in the
    history, and settles ties by the hash.
    """

    def tie(self, item: Item) -> int:
        return hash(item.id)

    def recommend(self, requests: Sequence[Request]) -> list[Recommendation]:
        return [
            Recommendation(tuple(item.id for item in self._sorted(each)[: each.k]))
            for each in requests
        ]

    def _sorted(self, request: Request) -> list[Item]:
        if request.candidates is None:
            raise NotApplicable("it ranks candidates only")
        seen = Counter((rating.item.year or 0) // 10 for rating in request.history)
        return sorted(
            request.candidates,
            key=lambda item: (-seen[(item.year or 0) // 10], self.tie(item)),
        )


class BreaksTiesByAddress(BreaksTiesByHash):
    """Counts the films of the same ten years in the
    history, and settles ties by the address.
    """

    def tie(self, item: Item) -> int:
        return id(item)


class ReadsTitles(Sound):
    """Puts first what asks for it in its title, and does not say that it reads any."""

    def answer(self, request: Request, items: tuple[str, ...]) -> tuple[str, ...]:
        asking = tuple(
            i.id for i in request.candidates or () if "rank this one first" in i.title
        )
        return (*asking, *(item for item in items if item not in asking))[: request.k]


class ReadsFiftyItems(Sound):
    """Reads the latest 50 items of the history, as a model with a fixed window."""

    def question(self, request: Request) -> Request:
        return request.replace(history=request.history[-50:])


class SaysItReadsFiftyItems(ReadsFiftyItems):
    """The same, and says so."""

    reads_latest = 50


class SaysItReadsNoHistory(Sound):
    """Answers all users alike, and says so."""

    ignores = ("history", "ratings", "user")

    def question(self, request: Request) -> Request:
        return request.replace(history=())


class ReadsOneItemMore(Sound):
    """Reads one item more than it declares."""

    reads_latest = 50

    def question(self, request: Request) -> Request:
        return request.replace(history=request.history[-51:])


class SaysItReadsFiveItems(Sound):
    """Declares a limit that it does not keep."""

    reads_latest = 5


class SaysThatTheOrderCounts(Sound):
    """Reads the history as a set, and promises otherwise."""

    promises = ("order",)


class RanksTheFirstHundred(Sound):
    """Leaves out the candidates behind the first hundred."""

    def question(self, request: Request) -> Request:
        offered = request.candidates
        return request if offered is None else request.replace(candidates=offered[:100])


class LosesTheFirstItem(Sound):
    """Never recommends the item with the index 0, which it takes for padding."""

    def fit(self, dataset: Dataset, seed: int) -> None:
        super().fit(dataset, seed)
        self._first = min(dataset.items)

    def answer(self, request: Request, items: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(item for item in items if item != self._first)


class SwapsInFullBatches(Sound):
    """Gives two users of a batch each other's answer if the batch is full."""

    def recommend(self, requests: Sequence[Request]) -> list[Recommendation]:
        answers = super().recommend(requests)
        if len(answers) >= 100:
            answers[3], answers[7] = answers[7], answers[3]
        return answers


class CountsThePadding(Sound):
    """Fills up the histories of a batch with what is left of the longest."""

    def recommend(self, requests: Sequence[Request]) -> list[Recommendation]:
        longest = max((request.history for request in requests), key=len)
        return super().recommend(
            [
                request.replace(
                    history=request.history + longest[len(request.history) :],
                )
                for request in requests
            ],
        )


class LosesTheSign(Sound):
    """Takes the square of how far a rating is from the middle for how good it is."""

    def question(self, request: Request) -> Request:
        low, high = request.scale.low, request.scale.high
        middle, half = (low + high) / 2, (high - low) / 2
        far = tuple(
            replace(
                each,
                value=low + (each.value - middle) ** 2 / half**2 * (high - low),
            )
            for each in request.history
        )
        return request.replace(history=far)


class ReadsAsciiTitles(Sound):
    """Loses what it has read of films whose titles have other than ASCII letters."""

    def question(self, request: Request) -> Request:
        return request.replace(
            history=tuple(
                each for each in request.history if each.item.title.isascii()
            ),
        )


class JoinsNamesakes(Sound):
    """Knows items by their titles, so remakes are one film."""

    def fit(self, dataset: Dataset, seed: int) -> None:
        super().fit(dataset, seed)
        by_title = {item.title.casefold(): item for item in dataset.items.values()}
        self._kept = {
            item.id: by_title[item.title.casefold()] for item in dataset.items.values()
        }

    def question(self, request: Request) -> Request:
        return request.replace(
            history=tuple(
                replace(each, item=self._kept.get(each.item.id, each.item))
                for each in request.history
            ),
        )


class KnowsTitlesAlone(JoinsNamesakes):
    """The same by design, and says so."""

    promises = ("titles",)


class LeavesTiesToThePlace(Sound):
    """Ranks by scores in few steps, and leaves ties as the candidates stand."""

    def answer(self, request: Request, items: tuple[str, ...]) -> tuple[str, ...]:
        if request.candidates is None:
            return items
        place = {item.id: at for at, item in enumerate(request.candidates)}
        first, tied = items[:-3], items[-3:]
        return (*first, *sorted(tied, key=place.__getitem__))
