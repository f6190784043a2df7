"""The two recommenders that ignore the user: a random
order, and the most popular items.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from pytest_recsys_mt.datasets.dataset import Dataset
from pytest_recsys_mt.recommenders.scoring import Floats, ScoringRecommender
from pytest_recsys_mt.requests import Request


@dataclass(eq=False)
class Random(ScoringRecommender):
    """A uniformly random order, different for every user and replicate.

    Each item gets a key from (seed, user, replicate, item id), and the largest keys
    win. So the same request with the same replicate gets the same answer, in any batch
    and process. Offering more items or shuffling them keeps the order of the others.
    """

    key: ClassVar[str] = "random"
    deterministic: ClassVar[bool] = False
    seeded: ClassVar[bool] = True

    def learn(self, dataset: Dataset, seed: int) -> None:
        self._seed = seed
        self._items = np.array(
            [_hash(item) for item in self.catalogue.ids],
            dtype=np.uint64,
        )

    def score(self, requests: Sequence[Request]) -> Floats:
        calls = [
            _hash(self._seed, request.user, request.replicate) for request in requests
        ]
        keys = _mix(np.array(calls, dtype=np.uint64)[:, None] ^ self._items)
        return (keys >> np.uint64(11)).astype(np.float64) * 2.0**-53


def _hash(*parts: object) -> int:
    return int.from_bytes(
        blake2b(repr(parts).encode("utf-8", "surrogatepass"), digest_size=8).digest(),
    )


def _mix(keys: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """The finaliser of SplitMix64 (Steele, Lea and Flood,
    OOPSLA 2014): scatters 64-bit keys.
    """
    keys = (keys ^ (keys >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    keys = (keys ^ (keys >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return keys ^ (keys >> np.uint64(31))


@dataclass(eq=False)
class MostPop(ScoringRecommender):
    """The items with the most training interactions; ratings and history do not matter."""

    key: ClassVar[str] = "mostpop"

    def learn(self, dataset: Dataset, seed: int) -> None:
        """Does nothing: the catalogue counts the interactions."""

    def score(self, requests: Sequence[Request]) -> Floats:
        return np.tile(self.catalogue.popularity.astype(np.float64), (len(requests), 1))
