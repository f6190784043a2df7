"""How far the answers of a recommender with a planted fault differ from its own."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain
from typing import cast

import numpy as np

from pytest_recsys_mt.calls.call import AGAIN, request_digest
from pytest_recsys_mt.gate.document import Differing, Planted
from pytest_recsys_mt.oracles.arrays import Floats
from pytest_recsys_mt.oracles.similarities.rbo import rbo
from pytest_recsys_mt.requests import Request

Lists = tuple[tuple[str, ...], tuple[str, ...]]


class Compared:
    """Answers with and without the fault, to the same calls; if `exact`, any difference comes from it."""

    def __init__(self, exact: bool) -> None:
        self._exact = exact
        self._answers = 0
        self._differing: list[Lists] = []
        self._users: dict[str, bool] = {}
        self._both: dict[str, dict[int, Lists]] = {}

    def add(self, request: Request, sound: tuple[str, ...], faulty: tuple[str, ...]) -> None:
        """Note both answers to one call."""
        differs = sound != faulty
        self._answers += 1
        if differs:
            self._differing.append((sound, faulty))
        self._users[request.user] = self._users.get(request.user, False) or differs
        if request.replicate < AGAIN and not self._exact:
            self._both.setdefault(request_digest(request), {})[request.replicate] = (sound, faulty)

    @property
    def differs(self) -> bool:
        """Whether any answer differed."""
        return bool(self._differing)

    def __len__(self) -> int:
        return self._answers

    def plain(self) -> Differing:
        """The sums; with the numbers of a test against the recommender's noise where answers vary."""
        return {
            "exact": self._exact,
            "answers": self._answers,
            "differing": len(self._differing),
            "lost": float((1 - agreement(self._differing)).sum()),
            "users": sorted(self._users),
            "hit": sorted(user for user, differs in self._users.items() if differs),
            "beyond_noise": [] if self._exact else self._beyond_noise(),
        }

    def _beyond_noise(self) -> list[float]:
        """For each question asked twice: how much more two sound answers agree than a faulty and a sound one."""
        twice = [
            [both[number] for number in sorted(both)[:2]]
            for both in self._both.values()
            if len(both) > 1
        ]
        changed = [(one, two[0]) for one, two in twice if one[0] != one[1]]
        noise = agreement([(sound, again) for (sound, _), again in changed])
        with_fault = agreement([(faulty, again) for (_, faulty), again in changed])
        return [float(each) for each in noise - with_fault]


def agreement(pairs: Sequence[Lists]) -> Floats:
    """The RBO of pairs of lists; a repeated item counts once, and an empty list agrees with an empty one only."""
    if not pairs:
        return np.zeros(0)
    sides = [[tuple(dict.fromkeys(items)) for items in side] for side in zip(*pairs, strict=True)]
    numbers: dict[str, int] = {}
    for items in chain.from_iterable(sides):
        for item in items:
            numbers.setdefault(item, len(numbers))
    depth = max(1, *(len(items) for side in sides for items in side))
    arrays = [np.full((len(pairs), depth), -1) for _ in sides]
    for array, side in zip(arrays, sides, strict=True):
        for row, items in zip(array, side, strict=True):
            row[: len(items)] = [numbers[item] for item in items]
    found = rbo(arrays[0], arrays[1])
    empty = np.isnan(found)
    found[empty] = [bool(one == two) for one, two in zip(*sides, strict=True) if not (one and two)]
    return found


def merged(found: Iterable[Planted]) -> list[Planted]:
    """What all workers compared, one entry per fault and recommender."""
    groups: dict[tuple[str, str], list[Planted]] = {}
    for each in found:
        groups.setdefault((each["fault"], each["model"]), []).append(each)
    together: list[Planted] = []
    for (fault, model), group in sorted(groups.items()):
        both = cast("Planted", {"fault": fault, "model": model, **_sum(group)})
        if elsewhere := [each["elsewhere"] for each in group if "elsewhere" in each]:
            both["elsewhere"] = _sum(elsewhere)
        together.append(both)
    return together


def _sum(group: Sequence[Differing]) -> Differing:
    return {
        "exact": all(each["exact"] for each in group),
        "answers": sum(each["answers"] for each in group),
        "differing": sum(each["differing"] for each in group),
        "lost": sum(each["lost"] for each in group),
        "users": sorted({*chain.from_iterable(each["users"] for each in group)}),
        "hit": sorted({*chain.from_iterable(each["hit"] for each in group)}),
        "beyond_noise": [*chain.from_iterable(each["beyond_noise"] for each in group)],
    }
