"""The requests and calls of one side of a relation."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property

from pytest_recsys_mt.calls.call import Call
from pytest_recsys_mt.calls.causes import Purpose
from pytest_recsys_mt.engine.runner import Runner
from pytest_recsys_mt.metamorphic import AnyTransformation, all_declare, name_of
from pytest_recsys_mt.relations.transformation import Asked as How
from pytest_recsys_mt.relations.transformation import Transformation
from pytest_recsys_mt.requests import Request
from pytest_recsys_mt.requests.seeds import generator
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
