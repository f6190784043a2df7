"""The lists of two logs that are compared, and how alike they are."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pytest_recsys_mt.oracles.arrays import Floats, Integers
from pytest_recsys_mt.oracles.similarities.rbo import rbo
from pytest_recsys_mt.parity.request_logs import Log

MOST_PLACES = 100
"""Places of a list that are compared."""


@dataclass(frozen=True)
class Lists:
    """The lists of the requests that count, all ``(n, ...)``, and how alike they are.

    Attributes:
        before: The first answers of the first log.
        after: Those of the second one.
        agreement: The mean agreement of an answer of each log, ``(n,)``.
        floor: The mean agreement of two answers of one log, ``(n,)``. A recommender of
            one answer a request is taken to answer alike: its own agreement is 1.
    """

    before: Integers
    after: Integers
    agreement: Floats
    floor: Floats

    @classmethod
    def of(cls, first: Log, second: Log, chosen: Integers) -> Lists:
        """The lists of the chosen requests."""
        places = max(1, min(MOST_PLACES, max(first.longest, second.longest)))
        answers = [
            [log.lists(answer, chosen, places) for answer in range(1 + log.varies)]
            for log in (first, second)
        ]
        floors = []
        for own in answers:
            alike = np.ones(len(chosen))
            floors.append(_agreement(own[0], own[1]) if len(own) == 2 else alike)
        across = [_agreement(one, other) for one in answers[0] for other in answers[1]]
        return cls(
            answers[0][0],
            answers[1][0],
            np.mean(across, axis=0),
            np.mean(floors, axis=0),
        )

    @property
    def differs(self) -> NDArray[np.bool_]:
        """Which first answers differ, ``(n,)``."""
        differs: NDArray[np.bool_] = (self.before != self.after).any(axis=1)
        return differs

    @property
    def same_items(self) -> NDArray[np.bool_]:
        """Which first answers hold the same items, in any order, ``(n,)``."""
        before, after = np.sort(self.before, axis=1), np.sort(self.after, axis=1)
        same: NDArray[np.bool_] = (before == after).all(axis=1)
        return same

    def effect(self, noisy: bool) -> Floats:
        """The effect of each request, ``(n,)``: whether its list differs, or with
        noise, the loss of agreement beyond it.
        """
        return self.floor - self.agreement if noisy else self.differs.astype(np.float64)


def _agreement(a: Integers, b: Integers) -> Floats:
    """How alike two lists are, ``(n,)``: 1 if both are empty, 0 if one is."""
    found = rbo(a, b)
    both_empty = (a[:, 0] < 0) & (b[:, 0] < 0)
    return np.where(np.isnan(found), both_empty.astype(np.float64), found)
