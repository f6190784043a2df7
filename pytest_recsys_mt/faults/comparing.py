"""How far the answers of a recommender with a fault differ
from those without it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain

import numpy as np
import numpy.typing as npt

from pytest_recsys_mt.calls.call import AGAIN, request_digest
from pytest_recsys_mt.gate.document import Differing
from pytest_recsys_mt.oracles.arrays import Floats
from pytest_recsys_mt.oracles.similarities.rbo import rbo
from pytest_recsys_mt.requests import Request

Lists = tuple[tuple[str, ...], tuple[str, ...]]
"""Two lists of item ids that are compared, best first."""


class Compared:
    """Answers with and without the fault, to the same calls; if
    `exact`, any difference comes from it.
    """

    def __init__(self, exact: bool) -> None:
        self._exact = exact
        self._answers = 0
        self._differing: list[Lists] = []
        self._differs_by_user: dict[str, bool] = {}
        # By digest of the request and number of the replicate; for the test against the
        # noise.
        self._lists_by_request: dict[str, dict[int, Lists]] = {}

    def add(
        self,
        request: Request,
        sound: tuple[str, ...],
        faulty: tuple[str, ...],
    ) -> None:
        """Add both answers to one call.

        Args:
            request: The request of the call.
            sound: The item ids without the fault, best first.
            faulty: The item ids with it.
        """
        differs = sound != faulty
        self._answers += 1
        if differs:
            self._differing.append((sound, faulty))
        differed_before = self._differs_by_user.get(request.user, False)
        self._differs_by_user[request.user] = differed_before or differs
        if request.replicate < AGAIN and not self._exact:
            lists = self._lists_by_request.setdefault(request_digest(request), {})
            lists[request.replicate] = (sound, faulty)

    @property
    def differs(self) -> bool:
        """Whether any answer differed."""
        return bool(self._differing)

    def __len__(self) -> int:
        return self._answers

    def plain(self) -> Differing:
        """The sums; with the numbers of a test against the
        recommender's noise where answers vary.
        """
        differing_users = [
            user for user, differs in self._differs_by_user.items() if differs
        ]
        return {
            "exact": self._exact,
            "answers": self._answers,
            "differing": len(self._differing),
            "lost": float((1 - agreement(self._differing)).sum()),
            "users": sorted(self._differs_by_user),
            "hit": sorted(differing_users),
            "beyond_noise": [] if self._exact else self._beyond_noise(),
        }

    def _beyond_noise(self) -> list[float]:
        """By how much less the faulty answer agrees with a second sound one than the
        first sound one does.

        One number for each request with two replicates whose first answer the fault
        changed. Without an effect beyond the recommender's noise, their mean is 0.
        """
        sound_pairs: list[Lists] = []
        faulty_pairs: list[Lists] = []
        for lists in self._lists_by_request.values():
            if len(lists) < 2:
                continue
            first, second = sorted(lists)[:2]
            sound, faulty = lists[first]
            sound_again, _ = lists[second]
            if sound != faulty:
                sound_pairs.append((sound, sound_again))
                faulty_pairs.append((faulty, sound_again))
        differences = agreement(sound_pairs) - agreement(faulty_pairs)
        return [float(difference) for difference in differences]


def agreement(pairs: Sequence[Lists]) -> Floats:
    """The RBO of pairs of lists; a repeated item counts once, and an empty list agrees
    with an empty one only.

    Returns:
        Numbers in [0, 1], shape (pairs,).
    """
    if not pairs:
        return np.zeros(0)
    first_lists = [tuple(dict.fromkeys(first)) for first, _ in pairs]
    second_lists = [tuple(dict.fromkeys(second)) for _, second in pairs]
    number_by_item: dict[str, int] = {}
    depth = 1
    for items in chain(first_lists, second_lists):
        depth = max(depth, len(items))
        for item in items:
            number_by_item.setdefault(item, len(number_by_item))
    values = rbo(
        _padded(first_lists, number_by_item, depth),
        _padded(second_lists, number_by_item, depth),
    )
    # RBO is not defined for an empty list.
    for place in np.flatnonzero(np.isnan(values)):
        values[place] = float(first_lists[place] == second_lists[place])
    return values


def _padded(
    lists: Sequence[tuple[str, ...]],
    number_by_item: Mapping[str, int],
    depth: int,
) -> npt.NDArray[np.int64]:
    """The lists as numbers, shape (lists, depth), with -1 behind the end of each."""
    array = np.full((len(lists), depth), -1)
    for row, items in zip(array, lists, strict=True):
        row[: len(items)] = [number_by_item[item] for item in items]
    return array
