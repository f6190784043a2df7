"""Sound recommenders whose noise no seed gives back, over the built-in neighbours and
BM25.

Each changes the scores of one of them, of shape ``(requests, items)``, anew for each
request.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from pytest_recsys_mt.recommenders.bm25 import BM25
from pytest_recsys_mt.recommenders.knn import ItemKNN, UserKNN
from pytest_recsys_mt.recommenders.scoring import Floats
from pytest_recsys_mt.requests import Request

Noise = Callable[[Floats, np.random.Generator], Floats]
"""The scores with noise, of the scores and a generator without a fixed seed."""


def _spread(scores: Floats) -> Floats:
    """The standard deviation of the scores of each request,
    ``(requests, 1)``; 1 where all are equal.
    """
    deviation: Floats = scores.std(axis=1, keepdims=True)
    return np.where(deviation > 0, deviation, 1.0)


def _gumbel(share: float) -> Noise:
    return lambda scores, rng: (
        scores + share * _spread(scores) * rng.gumbel(size=scores.shape)
    )


def _normal(scores: Floats, rng: np.random.Generator) -> Floats:
    return scores + 0.2 * _spread(scores) * rng.normal(size=scores.shape)


def _heavy_tails(scores: Floats, rng: np.random.Generator) -> Floats:
    return scores + 0.05 * _spread(scores) * rng.standard_t(2, size=scores.shape)


def _factors(scores: Floats, rng: np.random.Generator) -> Floats:
    return scores * np.exp(0.15 * rng.normal(size=scores.shape))


def _by_request(scores: Floats, rng: np.random.Generator) -> Floats:
    """Some requests have much noise, others little."""
    size = 0.09 * rng.gumbel(size=(len(scores), 1))
    return scores + size * _spread(scores) * rng.gumbel(size=scores.shape)


def _dropped(scores: Floats, rng: np.random.Generator) -> Floats:
    """A retrieval misses each item with a probability of 5 %."""
    return np.where(rng.random(scores.shape) < 0.05, scores - 1e3, scores)


def _approximate(scores: Floats, rng: np.random.Generator) -> Floats:
    """An approximate index knows only a mean of a tenth of the items."""
    means = scores.mean(axis=1, keepdims=True)
    return np.where(rng.random(scores.shape) < 0.1, means, scores)


def _explores(scores: Floats, rng: np.random.Generator) -> Floats:
    """Of all items 3 % are shown first, to learn about them."""
    first = scores.max(axis=1, keepdims=True) + 1
    return np.where(rng.random(scores.shape) < 0.03, first, scores)


def _ties(step: float) -> Noise:
    """Scores in steps of so many deviations, and ties at random."""
    return lambda scores, rng: (
        np.round(scores / (step * _spread(scores))) + 0.5 * rng.random(scores.shape)
    )


KINDS: Mapping[str, tuple[type[Any], Noise]] = {
    "gumbel_10": (ItemKNN, _gumbel(0.1)),
    "gumbel_30": (ItemKNN, _gumbel(0.3)),
    "normal": (UserKNN, _normal),
    "heavy_tails": (ItemKNN, _heavy_tails),
    "factors": (ItemKNN, _factors),
    "by_request": (UserKNN, _by_request),
    "dropped": (ItemKNN, _dropped),
    "approximate": (BM25, _approximate),
    "explores": (ItemKNN, _explores),
    "ties": (ItemKNN, _ties(0.5)),
    "fine_ties": (BM25, _ties(0.3)),
}
"""The recommender that is changed, and its noise, by name."""


def noisy(name: str) -> object:
    """A recommender of that kind, not fitted."""
    base, noise = KINDS[name]
    rng = np.random.default_rng()

    class Noisy(base):  # type: ignore[misc, valid-type]
        """The recommender with noise."""

        key = name
        deterministic = False

        def score(self, requests: Sequence[Request]) -> Floats:
            return noise(super().score(requests), rng)

    return Noisy()
