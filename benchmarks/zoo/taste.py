"""Sound recommenders that answer by chance: rankings drawn around a fixed utility."""

from collections.abc import Sequence

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from pytest_recsys_mt.datasets.dataset import Dataset
from pytest_recsys_mt.requests import Item, Rating, Recommendation, Request, Scale
from pytest_recsys_mt.requests.design import generator

Floats = NDArray[np.float64]


class Taste:
    """Utility of every item for a history, by the cosines of items over the users who
    have them.

    Args:
        dataset: What it learns from.
    """

    def __init__(self, dataset: Dataset) -> None:
        self.items = dataset.items
        self.place = {item: place for place, item in enumerate(dataset.items)}
        users = {
            user: row
            for row, user in enumerate(dict.fromkeys(dataset.interactions["user"]))
        }
        had = np.zeros((len(users), len(self.place)))
        rows = [users[user] for user in dataset.interactions["user"]]
        had[rows, [self.place[item] for item in dataset.interactions["item"]]] = 1
        lengths = np.maximum(np.sqrt(had.sum(axis=0)), 1)
        self.cosines: Floats = (had.T @ had) / np.outer(lengths, lengths)
        np.fill_diagonal(self.cosines, 0)
        self.popularity = standard(np.log1p(had.sum(axis=0)))

    def utility(self, history: Sequence[tuple[str, float]]) -> Floats:
        """Mean and variance over the catalogue are 0 and 1; repeats in a history count
        once.

        Args:
            history: Item ids with the weight of each.

        Returns:
            One utility an item of the catalogue, ``(items,)``; all 0 without a history.
        """
        weights = dict(history)
        if not weights:
            return np.zeros(len(self.place))
        rows = [self.place[item] for item in weights]
        return standard(np.array(list(weights.values())) @ self.cosines[rows])


def standard(values: Floats) -> Floats:
    """`values` with mean 0 and variance 1; all 0 where they are equal."""
    spread = values.std()
    # Rounded, so that the order in which a sum was taken makes no difference of its
    # own.
    out: Floats = np.round(
        (values - values.mean()) / (spread if spread > 0 else 1.0),
        9,
    )
    return out


class Sound:
    """Plackett-Luce: Gumbel noise is added to utilities, and the best k are the answer.

    A fault overrides one of the methods. At temperature 0 it always answers alike.

    Args:
        temperature: Scale of the noise, in standard deviations of the utility over the
            catalogue.
        step: Utilities are rounded to multiples of it, which makes ties; 0 rounds
            nothing.
    """

    def __init__(self, temperature: float = 0.3, step: float = 0.0) -> None:
        self.temperature = temperature
        self.step = step
        self.deterministic = temperature == 0 and step == 0

    def fit(self, dataset: Dataset, seed: int) -> None:
        """Learn the taste, and take the run's seed for the noise."""
        self.taste = Taste(dataset)
        self.seed = seed

    def recommend(self, requests: Sequence[Request]) -> list[Recommendation]:
        """The best items of each request by utility and noise."""
        return [
            Recommendation(self.answer(request, self.ranked(request)))
            for request in requests
        ]

    def ranked(self, request: Request) -> tuple[str, ...]:
        """The candidates, best first; ties are broken by
        chance, or by id where there is none.
        """
        offered = self.offered(request)
        utility = self.utility(request)[[self.taste.place[item] for item in offered]]
        utility = utility + self.bias(request, offered)
        if self.step:
            utility = np.round(utility / self.step)
        draw = self.draw(request)
        noise = draw.gumbel(size=len(offered)) * self.temperature
        ties = draw.random(len(offered)) if self.step else np.zeros(len(offered))
        order = np.lexsort((ties, -(utility + noise)))
        return tuple(offered[place] for place in order)

    def offered(self, request: Request) -> list[str]:
        """Ids of the candidates, in an order that says
        nothing of theirs in the request.
        """
        if request.candidates is None:
            seen = request.known
            return [item for item in self.taste.place if item not in seen]
        return sorted(item.id for item in request.candidates)

    def draw(self, request: Request) -> Generator:
        """The noise of one call: a function of run, user and replicate."""
        return generator(self.seed, "noise", request.user, request.replicate)

    def utility(self, request: Request) -> Floats:
        """Of every item of the catalogue, ``(items,)``."""
        history = [
            (rating.item.id, self.weight(rating, request.scale))
            for rating in self.read(request.history)
        ]
        return self.taste.utility(history)

    def read(self, history: tuple[Rating, ...]) -> tuple[Rating, ...]:
        """The part of the history that counts."""
        return history

    def weight(self, rating: Rating, scale: Scale) -> float:
        """How much a rating counts: its share of the scale,
        and something for having seen it.
        """
        return 0.5 + scale.unit(rating.value)

    def bias(self, request: Request, offered: Sequence[str]) -> Floats:
        """What is added to the utility of each item offered, ``(n,)``."""
        return np.zeros(len(offered))

    def answer(self, request: Request, ranked: tuple[str, ...]) -> tuple[str, ...]:
        """The list, from all that was offered in order."""
        return ranked[: request.k]


def positions(candidates: Sequence[Item]) -> dict[str, int]:
    """The place of each candidate in the request, from 0."""
    return {item.id: place for place, item in enumerate(candidates)}
