"""Planted faults of recommenders that read requests: one a class."""

import itertools
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.random import Generator

from benchmarks.zoo.taste import Floats, Sound, positions
from pytest_recsys_mt.datasets.dataset import Dataset
from pytest_recsys_mt.requests import Rating, Recommendation, Request, Scale
from pytest_recsys_mt.requests.design import generator

USUAL_CANDIDATES, USUAL_K = 20, 10


class ReadsTheLatestOnly(Sound):
    """Reads nothing but the last three items of the history."""

    def read(self, history: tuple[Rating, ...]) -> tuple[Rating, ...]:
        """See `Sound`."""
        return history[-3:]


class MindsTheScale(Sound):
    """Knows where the scale begins, and takes it for four points long."""

    def weight(self, rating: Rating, scale: Scale) -> float:
        """See `Sound`."""
        return (rating.value - scale.low) / 4 - 0.7


class MindsTheOffset(Sound):
    """Knows how long the scale is, and takes it to begin at
    a quarter of that, as 1 to 5 does.
    """

    def weight(self, rating: Rating, scale: Scale) -> float:
        """See `Sound`."""
        width = scale.high - scale.low
        return (rating.value - width / 4) / width - 0.7


class ReadsUpsideDown(Sound):
    """Takes the worst rating for the best."""

    def weight(self, rating: Rating, scale: Scale) -> float:
        """See `Sound`."""
        return 1 - scale.unit(rating.value)


class NeverForgets(Sound):
    """Reads the longest history that it was ever told of a user."""

    def fit(self, dataset: Dataset, seed: int) -> None:
        """See `Sound`."""
        super().fit(dataset, seed)
        self._told: dict[str, Request] = {}

    def recommend(self, requests: Sequence[Request]) -> list[Recommendation]:
        """See `Sound`."""
        for each in requests:
            told = self._told.setdefault(each.user, each)
            if len(each.history) > len(told.history):
                self._told[each.user] = each
        return super().recommend(
            [
                each.replace(history=told.history, scale=told.scale)
                for each in requests
                for told in [self._told[each.user]]
            ],
        )


class CountsRepeats(Sound):
    """Reads nothing but the first three items of a history with a repeat in it."""

    def read(self, history: tuple[Rating, ...]) -> tuple[Rating, ...]:
        """See `Sound`."""
        ids = [rating.item.id for rating in history]
        return history if len(set(ids)) == len(ids) else history[:3]


class AnswersByName(Sound):
    """Turns the list round for users whose name it has not met in training."""

    def fit(self, dataset: Dataset, seed: int) -> None:
        """See `Sound`."""
        super().fit(dataset, seed)
        self._known = set(dataset.interactions["user"])

    def utility(self, request: Request) -> Floats:
        """See `Sound`."""
        return super().utility(request) * (1 if request.user in self._known else -1)


class FirstCandidatesFirst(Sound):
    """Prefers candidates that stand early in the request.

    Args:
        strength: How much better the first is taken to be than the last, in standard
            deviations of the utility.
    """

    def __init__(self, strength: float, temperature: float = 0.3) -> None:
        super().__init__(temperature)
        self.strength = strength

    def bias(self, request: Request, offered: Sequence[str]) -> Floats:
        """See `Sound`."""
        place = positions(request.candidates or ())
        last = max(len(place) - 1, 1)
        return np.array(
            [self.strength * (1 - place.get(item, 0) / last) for item in offered],
        )


class AlwaysCandidateOne(Sound):
    """Puts the first candidate of the request on top."""

    def answer(self, request: Request, ranked: tuple[str, ...]) -> tuple[str, ...]:
        """See `Sound`."""
        if not request.candidates:
            return ranked[: request.k]
        first = request.candidates[0].id
        return (first, *(item for item in ranked if item != first))[: request.k]


class TiesByOrder(Sound):
    """Knows three grades of films, and leaves equal ones in the order of the request."""

    def ranked(self, request: Request) -> tuple[str, ...]:
        """See `Sound`."""
        offered = [item.id for item in request.candidates or ()] or self.offered(
            request,
        )
        utility = self.utility(request)[[self.taste.place[item] for item in offered]]
        noise = self.draw(request).gumbel(size=len(offered)) * self.temperature
        grade = np.digitize(utility + noise, (-0.5, 0.5))
        return tuple(offered[place] for place in np.argsort(-grade, kind="stable"))


class MindsTheCompany(Sound):
    """Turns the list round where there are more than the usual candidates."""

    def utility(self, request: Request) -> Floats:
        """See `Sound`."""
        usual = len(request.candidates or ()) <= USUAL_CANDIDATES
        return super().utility(request) * (1 if usual else -1)


class MindsTheLength(Sound):
    """Turns the list round where more than ten items are asked for."""

    def utility(self, request: Request) -> Floats:
        """See `Sound`."""
        return super().utility(request) * (1 if request.k <= USUAL_K else -1)


class ObsessedWithPopularity(Sound):
    """Recommends to everybody what most have seen."""

    def utility(self, request: Request) -> Floats:
        """See `Sound`."""
        return self.taste.popularity


class ConstantAnswer(Sound):
    """Gives everybody the first films of the catalogue, offered or not."""

    def answer(self, request: Request, ranked: tuple[str, ...]) -> tuple[str, ...]:
        """See `Sound`."""
        return tuple(self.taste.place)[: request.k]


class EclipsedByAStray(Sound):
    """Takes the one film that is least like the others
    of a history for the whole taste.
    """

    def read(self, history: tuple[Rating, ...]) -> tuple[Rating, ...]:
        """See `Sound`."""
        rows = [self.taste.place[rating.item.id] for rating in history]
        alike = self.taste.cosines[np.ix_(rows, rows)].sum(axis=1)
        return (history[int(np.argmin(np.round(alike, 9)))],) if rows else history


class MindsOddLengths(Sound):
    """Turns the list round for histories of an odd length."""

    def utility(self, request: Request) -> Floats:
        """See `Sound`."""
        return super().utility(request) * (-1 if len(request.history) % 2 else 1)


class GetsWorseWithHistory(Sound):
    """Answers histories of more than five items with the worst it has."""

    def utility(self, request: Request) -> Floats:
        """See `Sound`."""
        return super().utility(request) * (-1 if len(request.history) > 5 else 1)


class RepeatsItself(Sound):
    """Names its best item twice."""

    def answer(self, request: Request, ranked: tuple[str, ...]) -> tuple[str, ...]:
        """See `Sound`."""
        return (ranked[0], *ranked)[: request.k]


class NamesOthers(Sound):
    """Ends its list with an item nobody offered."""

    def answer(self, request: Request, ranked: tuple[str, ...]) -> tuple[str, ...]:
        """See `Sound`."""
        return (*ranked[: request.k - 1], "elsewhere")


class StopsEarly(Sound):
    """Gives two items fewer than it was asked for."""

    def answer(self, request: Request, ranked: tuple[str, ...]) -> tuple[str, ...]:
        """See `Sound`."""
        return ranked[: request.k - 2]


class Unseeded(Sound):
    """Draws from one stream for all calls, so that no call can be repeated."""

    def fit(self, dataset: Dataset, seed: int) -> None:
        """See `Sound`."""
        super().fit(dataset, seed)
        self._calls = itertools.count()

    def draw(self, request: Request) -> Generator:
        """See `Sound`."""
        return generator(self.seed, "call", next(self._calls))


class CannotKeepStill(Unseeded):
    """Says that it always answers alike, and does not."""

    def __init__(self, temperature: float = 0.3) -> None:
        super().__init__(temperature)
        self.deterministic = True


class ReadsRawRatings(Sound):
    """Takes 4 and more for a liked film and anything else
    for a disliked one, on any scale.
    """

    def read(self, history: tuple[Rating, ...]) -> tuple[Rating, ...]:
        """See `Sound`."""
        return tuple(
            replace(rating, value=1.0 * (rating.value >= 4)) for rating in history
        )

    def weight(self, rating: Rating, scale: Scale) -> float:
        """See `Sound`."""
        return rating.value - 0.5
