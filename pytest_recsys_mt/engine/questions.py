"""The requests and calls of the sides of relations, and how those of several sides are
sent, user by user.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain

from pytest_recsys_mt.calls.answer import Answer
from pytest_recsys_mt.calls.call import Call, Purpose
from pytest_recsys_mt.engine.outcomes import Outcome
from pytest_recsys_mt.engine.runner import Runner
from pytest_recsys_mt.metamorphic import AnyTransformation, all_declare, name_of
from pytest_recsys_mt.relations.transformation import Asked as How
from pytest_recsys_mt.relations.transformation import Transformation
from pytest_recsys_mt.requests import Request
from pytest_recsys_mt.requests.design import generator
from pytest_recsys_mt.safety.errors import NotApplicable
from pytest_recsys_mt.verdict.answers import Drawn


class SideRequests:
    """The requests of one side of a relation, made when they are first read."""

    def __init__(
        self,
        runner: Runner,
        transformations: Sequence[AnyTransformation],
        block: int,
        label: str,
        purpose: Purpose | None,
    ) -> None:
        self.runner = runner
        self.transformations = tuple(transformations)
        self.same_seed = all_declare(self.transformations, "same_seed")
        self.replicates = runner.replicates
        self._block = block
        self._first = 0 if self.same_seed else block * self.replicates
        self.asked: How = _how(self.transformations)
        usual: Purpose = "follow-up" if self.transformations else "source"
        self._purpose: Purpose = runner.purpose or purpose or usual
        self._label = label
        self._against = ""

    @property
    def label(self) -> str:
        """Names of the transformations, as in reports and the record.

        Without transformations, the difference of the design from the test's own:
        ``history=5``.
        """
        names = ", ".join(
            name_of(transformation) for transformation in self.transformations
        )
        return f"{names or self._label} {self._against}".strip()

    @property
    def model(self) -> str:
        """The name of the recommender."""
        return self.runner.subject.name

    def __repr__(self) -> str:
        label = self.label or "source"
        return f"<answers of {self.runner.subject.name} to {len(self.runner.cases)} users: {label}>"

    @property
    def requests(self) -> Mapping[int, Request]:
        """The requests of the users that have one, by position of their case, in
        the order they were sampled.
        """
        return self._made[0]

    @cached_property
    def _made(self) -> tuple[dict[int, Request], dict[int, str]]:
        """The requests by position, and why there is none at the other positions."""
        requests: dict[int, Request] = {}
        reasons: dict[int, str] = {}
        try:
            self.runner.way(self.asked)
        except NotApplicable as reason:
            return {}, dict.fromkeys(range(len(self.runner.cases)), str(reason))
        for position, case in enumerate(self.runner.cases):
            request = self.runner.transformed(case, self.transformations)
            if isinstance(request, Request):
                requests[position] = request
            else:
                reasons[position] = str(request) or "no reason given"
        return requests, reasons

    @property
    def drawn(self) -> frozenset[Drawn]:
        """The things drawn at random to make the requests of this side."""
        drawn = self.runner.drawn
        if drawn:  # no mean is exact then, whatever the relation draws
            return drawn
        before = any(
            getattr(each, "before", None) is not None for each in self.transformations
        )
        draws = before or self.runner.draws(self.transformations, self.requests)
        return frozenset({"changes"}) if draws else drawn

    def changed(self) -> Iterator[tuple[Request, Request]]:
        """Each user's own request, and that of this side."""
        for position, request in self.requests.items():
            yield self.runner.cases[position].request, request

    def before(self, position: int) -> Request | None:
        """The request that is sent right before the one at a position."""
        found, user = None, self.runner.cases[position].request.user
        for each in self.transformations:
            if isinstance(each, Transformation) and each.before is not None:
                rng = generator(self.runner.settings.seed, user, each.name)
                found = each.before(self.requests[position], rng, self.runner.world)
        return found

    def call(self, request: Request, replicate: int) -> Call:
        """The call of one replicate of a request."""
        call = self.runner.subject.call(
            request.replace(replicate=replicate),
            self.same_seed,
        )
        call = Call(call.key, call.content, call.request, call.prompt, self._purpose)
        return call if self.asked == "together" else call.sent(asked=self.asked)

    def _users(self, positions: Iterable[int]) -> tuple[str, ...]:
        return tuple(self.runner.cases[position].request.user for position in positions)

    def _same_question(self, partner: SideRequests) -> bool:
        is_asked_alike = not self.transformations and partner.asked == self.asked
        return self._is_of(partner) and partner.same_seed and is_asked_alike

    def _is_of(self, partner: SideRequests) -> bool:
        """Whether one recommender answers both sides."""
        return partner.runner.subject.name == self.runner.subject.name

    def _served(self, partner: SideRequests | None = None) -> list[int]:
        if partner is None:
            return list(self.requests)
        return [position for position in self.requests if position in partner.requests]


def _how(transformations: Sequence[AnyTransformation]) -> How:
    for each in reversed(transformations):
        if isinstance(each, Transformation) and each.asked != "together":
            return each.asked
    return "together"


BLOCK = 20
"""Users whose calls are sent in random order; a limit
of the run then leaves whole users.
"""


@dataclass(frozen=True)
class Questions:
    """The requests of one side, each sent once per replicate.

    Attributes:
        side: The side.
        positions: Those of its cases whose requests are sent.
        first: Number of the first replicate.
        asked: How they are sent; None for the way of the side.
    """

    side: SideRequests
    positions: Iterable[int]
    first: int
    asked: How | None = None

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
        calls = []
        for replicate in range(self.first, self.first + self.side.replicates):
            for position, request in self.requests.items():
                calls.append((position, self.side.call(request, replicate)))
        return calls

    def sent(self) -> Iterator[tuple[int, Call]]:
        """As `calls`, with the call that is sent right before each."""
        request_before = {
            position: self.side.before(position) for position in self.requests
        }
        for position, call in self.calls:
            request = request_before[position]
            if request is not None:
                earlier = self.side.call(request, int(call.content["replicate"]))
                yield position, earlier.sent(before=call.key)
            yield position, call


def interleaved(
    calls: Iterable[tuple[int, Call]],
    *,
    by_user: bool = False,
) -> list[Call]:
    """Calls in the order in which they are sent: users in blocks, each in a random
    order.

    So a change during the run affects all sides alike. Each replicate has other
    neighbours in its batch, so the noise floor includes the noise of batch composition.
    Keys serve as random numbers.

    Calls that are sent one by one have no batch. Then all calls of a user follow each
    other (`by_user`), so that a run that breaks off leaves few users of whom one side
    is answered.
    """
    if not by_user:
        return [call for _, call in sorted(calls, key=_block_and_key)]
    calls_by_position: dict[int, list[Call]] = {}
    for position, call in calls:
        calls_by_position.setdefault(position, []).append(call)
    firsts = []
    for position, calls_of_user in calls_by_position.items():
        calls_of_user.sort(key=lambda call: call.key)
        firsts.append((position, calls_of_user[0]))
    ordered: list[Call] = []
    for position, _ in sorted(firsts, key=_block_and_key):
        ordered += calls_by_position[position]
    return ordered


def _block_and_key(placed: tuple[int, Call]) -> tuple[int, str]:
    position, call = placed
    return position // BLOCK, call.key


def send(*sides: Questions, since: float | None = None) -> list[dict[int, Outcome]]:
    """Send the requests of all sides, with one batch per recommender; each fit counts
    as a recommender of its own.

    Sides that are not sent together are sent apart from the rest, in the given order.

    Args:
        sides: The requests of each side.
        since: Unix seconds; answers of earlier runs that were sent before are ignored.
            None takes all.

    Returns:
        For each side, its outcomes by position.
    """
    groups: dict[tuple[int, How], list[Questions]] = {}
    for questions in sides:
        fit = id(questions.side.runner.subject)
        groups.setdefault((fit, questions.how), []).append(questions)
    answers: dict[tuple[int, str], Answer] = {}  # by fit and key of the call
    for (fit, how), group in groups.items():
        for call, answer in _answered(group, how, since):
            answers[fit, call.key] = answer
    outcomes = []
    for questions in sides:
        runner = questions.side.runner
        fit = id(runner.subject)
        answered = [
            (place, call, answers[fit, call.key]) for place, call in questions.calls
        ]
        outcomes.append(
            runner.reader.outcomes(runner.cases, questions.requests, answered)
        )
    return outcomes


def _answered(
    group: Sequence[Questions],
    how: How,
    since: float | None,
) -> Iterator[tuple[Call, Answer]]:
    """The calls to one recommender that are sent in one way, with their answers."""
    runner = group[0].side.runner
    calls = chain.from_iterable(questions.sent() for questions in group)
    if how == "afresh" and runner.settings.mode != "replay":
        since = math.inf
    if how == "together":
        ordered = interleaved(calls, by_user=runner.subject.streams)
    else:
        ordered = [call for _, call in calls]
    answers = runner.executor.execute(
        runner.subject,
        ordered,
        since=since,
        ask=runner.way(how),
    )
    return zip(ordered, answers, strict=True)


def _widest(*ends: tuple[float, float]) -> tuple[float, float]:
    """The lowest and the highest end of some spans."""
    lows, highs = zip(*ends, strict=True)
    return min(lows), max(highs)
