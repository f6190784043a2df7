"""Questions of both sides of a relation, sent together in a random order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain

from pytest_recsys_mt.calls.answer import Answer
from pytest_recsys_mt.calls.call import Call
from pytest_recsys_mt.calls.causes import Purpose
from pytest_recsys_mt.engine.runner import Outcome, Runner
from pytest_recsys_mt.relations.transformation import Asked as How
from pytest_recsys_mt.requests import Request

BLOCK = 20
"""Users whose calls are sent in random order; a limit of the run then leaves whole users."""


@dataclass(frozen=True)
class Questions:
    """Requests of one side, by position of their case, each sent once per replicate."""

    runner: Runner
    requests: Mapping[int, Request]
    first: int
    repeat: bool = False  # asked anew even if request and replicate equal the source's own
    replicates: int | None = None  # None stands for the recommender's current number
    asked: How = "together"
    before: Mapping[int, Request] = field(default_factory=dict)  # sent right before them
    purpose: Purpose = "source"

    @cached_property
    def calls(self) -> list[tuple[int, Call]]:
        """The calls to send, each with the position of its case."""
        return [
            (position, self._call(request, replicate))
            for replicate in self._numbers
            for position, request in self.requests.items()
        ]

    def sent(self) -> Iterator[tuple[int, Call]]:
        """As `calls`, with what is sent right before each."""
        for position, call in self.calls:
            if position in self.before:
                replicate = int(call.content["replicate"])
                before = self._call(self.before[position], replicate)
                yield position, before.sent(before=call.key)
            yield position, call

    @property
    def _numbers(self) -> range:
        replicates = self.runner.replicates if self.replicates is None else self.replicates
        return range(self.first, self.first + replicates)

    def _call(self, request: Request, replicate: int) -> Call:
        call = self.runner.subject.call(request.replace(replicate=replicate), self.repeat)
        call = Call(call.key, call.content, call.request, call.prompt, self.purpose)
        return call if self.asked == "together" else call.sent(asked=self.asked)


def interleaved(calls: Iterable[tuple[int, Call]]) -> list[Call]:
    """Calls in the order in which they are sent: users in blocks, each in a random order.

    So a change during the run affects all sides alike. Each replicate has other neighbours in its
    batch, so the noise floor includes the noise of batch composition. Keys serve as random numbers.
    """
    return [call for _, call in sorted(calls, key=lambda each: (each[0] // BLOCK, each[1].key))]


def ask(*sides: Questions, anew: bool = False) -> list[dict[int, Outcome]]:
    """Ask all sides, with one batch per recommender; each fit counts as a recommender of its own.

    Sides that are not sent together are sent apart from the rest, in the given order. The results of
    each side are by position.
    """
    groups: dict[tuple[int, How], list[Questions]] = {}
    for each in sides:
        groups.setdefault((id(each.runner.subject), each.asked), []).append(each)
    known: dict[tuple[int, str], Answer] = {}
    for (asked, how), group in groups.items():
        theirs = chain.from_iterable(each.sent() for each in group)
        ordered = interleaved(theirs) if how == "together" else [call for _, call in theirs]
        runner = group[0].runner
        way = runner.way(how)
        answers = runner.executor.execute(runner.subject, ordered, anew=anew, ask=way)
        known |= {(asked, call.key): answer for call, answer in zip(ordered, answers, strict=True)}
    return [
        each.runner.outcomes(
            each.requests,
            [(place, call, known[id(each.runner.subject), call.key]) for place, call in each.calls],
        )
        for each in sides
    ]
