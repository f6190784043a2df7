"""The questions of several sides, asked user by user."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING

from pytest_recsys_mt.calls.answer import Answer
from pytest_recsys_mt.calls.call import Call
from pytest_recsys_mt.engine.runner import Outcome
from pytest_recsys_mt.relations.transformation import Asked as How
from pytest_recsys_mt.requests import Request

if TYPE_CHECKING:
    from pytest_recsys_mt.engine.sides import Side


BLOCK = 20
"""Users whose calls are sent in random order; a limit of the run then leaves whole users."""


@dataclass(frozen=True)
class Questions:
    """The requests of one side at some positions of its cases, each sent once per replicate, from number `first` on."""

    side: Side
    positions: Iterable[int]
    first: int
    asked: How | None = None  # how they are sent; None as the side is

    @cached_property
    def how(self) -> How:
        """How they are sent."""
        return self.asked or self.side.asked

    @cached_property
    def requests(self) -> Mapping[int, Request]:
        """The requests by position."""
        return {position: self.side.requests[position] for position in self.positions}

    @cached_property
    def calls(self) -> list[tuple[int, Call]]:
        """The calls to send, each with the position of its case."""
        return [
            (position, self.side.call(request, replicate))
            for replicate in range(self.first, self.first + self.side.replicates)
            for position, request in self.requests.items()
        ]

    def sent(self) -> Iterator[tuple[int, Call]]:
        """As `calls`, with what is sent right before each."""
        before = {position: self.side.before(position) for position in self.requests}
        for position, call in self.calls:
            if (request := before[position]) is not None:
                earlier = self.side.call(request, int(call.content["replicate"]))
                yield position, earlier.sent(before=call.key)
            yield position, call


def interleaved(calls: Iterable[tuple[int, Call]], *, by_user: bool = False) -> list[Call]:
    """Calls in the order in which they are sent: users in blocks, each in a random order.

    So a change during the run affects all sides alike. Each replicate has other neighbours in its
    batch, so the noise floor includes the noise of batch composition. Keys serve as random numbers.

    What is sent one by one has no batch. Then all calls of a user follow each other (`by_user`), so that a run that
    breaks off leaves few users of whom one side is answered.
    """
    if not by_user:
        return [call for _, call in sorted(calls, key=lambda each: (each[0] // BLOCK, each[1].key))]
    of_user: dict[int, list[Call]] = {}
    for position, call in calls:
        of_user.setdefault(position, []).append(call)
    own = [(position // BLOCK, sorted(each, key=_key)) for position, each in of_user.items()]
    return [
        call for _, each in sorted(own, key=lambda user: (user[0], user[1][0].key)) for call in each
    ]


def _key(call: Call) -> str:
    return call.key


def ask(*sides: Questions, since: float | None = None) -> list[dict[int, Outcome]]:
    """Ask all sides, with one batch per recommender; each fit counts as a recommender of its own.

    Sides that are not sent together are sent apart from the rest, in the given order. The results of
    each side are by position. Answers of earlier runs that were sent before `since` are ignored.
    """
    groups: dict[tuple[int, How], list[Questions]] = {}
    for each in sides:
        groups.setdefault((id(each.side.runner.subject), each.how), []).append(each)
    known: dict[tuple[int, str], Answer] = {}
    for (asked, how), group in groups.items():
        theirs = chain.from_iterable(each.sent() for each in group)
        runner = group[0].side.runner
        if how == "together":
            ordered = interleaved(theirs, by_user=runner.subject.streams)
        else:
            ordered = [call for _, call in theirs]
        answers = runner.executor.execute(runner.subject, ordered, since=since, ask=runner.way(how))
        known |= {(asked, call.key): answer for call, answer in zip(ordered, answers, strict=True)}
    return [
        each.side.runner.outcomes(
            each.requests,
            [
                (place, call, known[id(each.side.runner.subject), call.key])
                for place, call in each.calls
            ],
        )
        for each in sides
    ]


def _widest(*ends: tuple[float, float]) -> tuple[float, float]:
    lows, highs = zip(*ends, strict=True)
    return min(lows), max(highs)


def _apart(ours: Collection[float | None], theirs: Collection[float | None]) -> float:
    """Seconds between the first and the last time of two sides: 0 if all are the same, infinity if one is unknown."""
    times = {*ours, *theirs}
    if ours == theirs:
        return 0.0
    known = [time for time in times if time is not None]
    return max(known) - min(known) if len(known) == len(times) else math.inf


def _first_unasked(outcomes: Sequence[Outcome]) -> int:
    return next((n for n, outcome in enumerate(outcomes) if outcome.unasked), len(outcomes))
