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
        floors: For each log, the agreement of its two answers, ``(n,)``: NaN where it
            has one answer, and answers vary. A recommender whose two answers never vary
            agrees with itself: 1; so does one of two without two answers to anything.
    """

    before: Integers
    after: Integers
    agreement: Floats
    floors: tuple[Floats, Floats]

    @classmethod
    def of(cls, first: Log, second: Log, chosen: Integers) -> Lists:
        """The lists of the chosen requests."""
        places = places_of(first, second)
        answers = [
            [log.lists(answer, chosen, places) for answer in range(1 + log.varies)]
            for log in (first, second)
        ]
        twice = [log.answered(1)[chosen] for log in (first, second)]
        any_varies = first.varies or second.varies
        floors = []
        for log, own, has_two in zip((first, second), answers, twice, strict=True):
            alike = np.ones(len(chosen))
            if len(own) == 2:
                alike = np.where(has_two, _agreement(own[0], own[1]), np.nan)
            elif any_varies and not log.has_doubles:
                alike = np.full(len(chosen), np.nan)
            floors.append(alike)
        across = []
        for place, one in enumerate(answers[0]):
            for other_place, other in enumerate(answers[1]):
                there = np.ones(len(chosen), bool)
                there &= twice[0] if place else True
                there &= twice[1] if other_place else True
                across.append(np.where(there, _agreement(one, other), np.nan))
        return cls(
            answers[0][0],
            answers[1][0],
            np.nanmean(across, axis=0),
            (floors[0], floors[1]),
        )

    @property
    def unknown(self) -> tuple[bool, bool]:
        """For each log, whether nothing is known of its noise, though the other varies:
        it has no two answers to a request.
        """
        one, other = (bool(len(each) and np.isnan(each).all()) for each in self.floors)
        return one, other

    def floor(self, unknown: float | None = None) -> Floats:
        """The mean agreement of two answers of one log, ``(n,)``; NaN where a log has
        one answer.

        Args:
            unknown: The agreement of a log of whose noise nothing is known; None takes
                that of the other log.
        """
        floors = list(self.floors)
        for place, is_unknown in enumerate(self.unknown):
            if is_unknown:
                other = self.floors[1 - place]
                floors[place] = (
                    other if unknown is None else np.full(len(other), unknown)
                )
        mean: Floats = (floors[0] + floors[1]) / 2
        return mean

    def take(self, chosen: NDArray[np.bool_]) -> Lists:
        """Those of some requests."""
        return Lists(
            self.before[chosen],
            self.after[chosen],
            self.agreement[chosen],
            (self.floors[0][chosen], self.floors[1][chosen]),
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

    def effects(self, noisy: bool) -> tuple[Floats, Floats]:
        """The least and the most that the effect of each request can be, ``(n,)``:
        whether its list differs, or with noise, the loss of agreement beyond it.

        The two differ where nothing is known of the noise of one log: it may vary as the
        other one does, or not at all.
        """
        if not noisy:
            differs = self.differs.astype(np.float64)
            return differs, differs
        return self.floor() - self.agreement, self.floor(1.0) - self.agreement


def places_of(first: Log, second: Log) -> int:
    """How many places of each list are compared."""
    return max(1, min(MOST_PLACES, max(first.longest, second.longest)))


def _agreement(a: Integers, b: Integers) -> Floats:
    """How alike two lists are, ``(n,)``: 1 if both are empty, 0 if one is."""
    found = rbo(a, b)
    both_empty = (a[:, 0] < 0) & (b[:, 0] < 0)
    return np.where(np.isnan(found), both_empty.astype(np.float64), found)
