"""One user's requests, sent as long as the time for it lasts."""

import dataclasses
from collections.abc import Callable, Sequence

from pytest_recsys_mt.calls.call import Call
from pytest_recsys_mt.calls.subject import Subject, Wrapped
from pytest_recsys_mt.engine.cases import Case
from pytest_recsys_mt.engine.runner import Runner
from pytest_recsys_mt.metamorphic import AnyTransformation, name_of
from pytest_recsys_mt.requests import Request
from pytest_recsys_mt.safety.errors import NotApplicable, RecsysError
from pytest_recsys_mt.verdict.answers import Context
from pytest_recsys_mt.verdict.verdict import Verdict

APART = 2**16
"""Distance of the replicate numbers of fresh answers: more than any test has, and all
of them are below `call.AGAIN`.
"""


class Spent(RecsysError):  # noqa: N818 - it ends the search and is not a failure
    """No calls are left, or no time."""


class Rationed(Wrapped):
    """A subject that sends a limited number of distinct calls."""

    def __init__(self, origin: Subject) -> None:
        super().__init__(origin)
        self.earlier_difference = origin.earlier_difference
        self.live = False  # a search looks at one user, and repeats no calls
        self.streams = False
        self.limit: int | None = None
        self.fresh = 0  # above 0: other replicates than those of the test
        self.sent: set[str] = set()

    def call(self, request: Request, repeat: bool) -> Call:
        if self.fresh:
            request = request.replace(replicate=request.replicate + self.fresh * APART)
        call = self.origin.call(request, repeat)
        if call.key not in self.sent:
            if self.limit is not None and len(self.sent) >= self.limit:
                raise Spent("the calls ran out")
            self.sent.add(call.key)
        return call


class OneUser(Runner):
    """A runner of one user, with a given request instead of the user's own.

    It holds two copies of the user, because oracles need at least two. The copies share
    their calls, and their mean effect is the user's own.
    """

    def __init__(self, whole: Runner, subject: Subject, case: Case) -> None:
        super().__init__(
            subject,
            whole._split,
            whole.design,
            whole.settings,
            whole.executor,
            purpose="counterexample",
        )
        self.cases = (case, case)
        self.world = (
            whole.world
        )  # of the whole run: transformations then draw as in the run
        self.requests: dict[str, Request] = {}

    def context(
        self,
        report: Callable[[Verdict], Verdict] = lambda verdict: verdict,
    ) -> Context:
        return dataclasses.replace(super().context(report), alone=True)

    def transformed(
        self,
        case: Case,
        transformations: Sequence[AnyTransformation],
        *seed: str,
    ) -> Request | NotApplicable:
        request = super().transformed(case, transformations, *seed)
        if isinstance(request, Request) and not seed:
            self.requests[", ".join(map(name_of, transformations))] = request
        return request
