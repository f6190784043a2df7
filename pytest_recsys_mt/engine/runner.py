"""Sends the requests of one design to one recommender."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from pytest_recsys_mt.calls.call import Purpose, digest_of
from pytest_recsys_mt.calls.executor import Ask, Executor
from pytest_recsys_mt.calls.subject import Difference, Subject
from pytest_recsys_mt.datasets.dataset import Dataset
from pytest_recsys_mt.engine.afresh import require_kept
from pytest_recsys_mt.engine.cases import Case, Split
from pytest_recsys_mt.engine.elsewhere import alone, in_one_batch
from pytest_recsys_mt.engine.outcomes import AnswerReader, Outcome
from pytest_recsys_mt.engine.plan import Plan
from pytest_recsys_mt.engine.settings import Settings
from pytest_recsys_mt.engine.transforming import Transforming
from pytest_recsys_mt.metamorphic import AnyTransformation
from pytest_recsys_mt.relations.transformation import Asked as How
from pytest_recsys_mt.requests import Recommendation, Request, World
from pytest_recsys_mt.requests.design import Design
from pytest_recsys_mt.safety.errors import (
    LimitReachedError,
    NotApplicable,
    RecommenderError,
)
from pytest_recsys_mt.verdict.answers import Asked, Context, Drawn
from pytest_recsys_mt.verdict.verdict import Verdict

if TYPE_CHECKING:
    from pytest_recsys_mt.calls.texts import Texts

NOWHERE = "no other process can make the recommender of a part of a run"
"""Why nothing is sent elsewhere unless a runner gets a way to do so."""

NO_BATCHES = "each call to it is a request of its own, so there are no batches"
ONE_BY_ONE = (
    "each call is a request of its own already; to wait for every answer before the next call, give "
    "--recsys-effort=thorough"
)
"""Why an endpoint that takes a stream of calls does not get
them one by one: it would take most of the run.
"""


class Runner:
    """Sends the requests of one design to one recommender, original and transformed.

    Args:
        elsewhere: Sends calls to another process that makes the recommender again; or
            the reason why this is impossible.
        purpose: Recorded purpose of all its calls; None takes that of each call.

    Attributes:
        controls: The controls by which aspects of requests are known to be read; see
            `engine.controls`.
        unvaried: Why its noise is unknown, once that was checked; see `engine.recsys`.
        sent_apart: Whether answers were compared with source answers of another time,
            or were to be sent again.
        timed: Whether a test judges how long its calls took.
    """

    def __init__(
        self,
        subject: Subject,
        split: Split,
        design: Design,
        settings: Settings,
        executor: Executor,
        *,
        elsewhere: Ask | str = NOWHERE,
        purpose: Purpose | None = None,
    ) -> None:
        self.subject = subject
        self.design = design
        self.settings = settings
        self.sent_apart = False
        self.timed = False
        self.controls: dict[tuple[str, int], Any] = {}
        self.unvaried: str | None = None
        self._source_outcomes: dict[int, dict[int, Outcome]] = {}
        self._elsewhere = elsewhere
        self.purpose: Purpose | None = purpose
        self._split = split
        self.executor = executor
        self.reader = AnswerReader(subject, executor)
        self._asks_everybody = settings.ask_everybody
        self._transforming = Transforming(subject, settings.seed, lambda: self.world)

    @cached_property
    def cases(self) -> tuple[Case, ...]:
        """The sampled users, in their order."""
        return self._split.cases(self.design)

    @cached_property
    def _everybody(self) -> tuple[Asked, ...]:
        return tuple(
            Asked(case.request, (), case.held_out, case.past) for case in self.cases
        )

    @cached_property
    def drawn(self) -> frozenset[Drawn]:
        """The things drawn at random for unchanged requests of all sampled users."""
        found: set[Drawn] = set(self._split.drawn(self.design))
        # Recorded answers are a sample of users themselves.
        if not self.subject.live or self.design.users < self._split.units:
            found.add("users")
        if self.design.refits or self.design.trained_on is not None:
            found.add("changes")
        return frozenset(found)

    def everyone(self) -> Iterator[Case]:
        """All users of the data who could be drawn; see `Split.everyone`."""
        return self._split.everyone(self.design)

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the unchanged requests of all sampled users, in hexadecimal."""
        return digest_of(case.request for case in self.cases)

    @cached_property
    def world(self) -> World:
        """The facts that transformations may use."""
        return self._split.world(self.cases)

    @cached_property
    def _training_users(self) -> int:
        return int(self._split.training.interactions["user"].nunique())

    @property
    def deterministic(self) -> bool:
        """Whether the recommender declares that it always
        answers alike, and no answer differed.
        """
        has_differed = self.subject.earlier_difference is not Difference.NONE
        return self.subject.deterministic and not has_differed

    @property
    def replicates(self) -> int:
        """Calls per side: one for a deterministic recommender."""
        return 1 if self.deterministic else self.design.replicates

    @property
    def source_outcomes(self) -> dict[int, Outcome]:
        """The results of the unchanged requests, by position of their case.

        Each answer is read once, however many tests compare theirs with it. A
        recommender found not deterministic gets each call more than once from then on,
        so its outcomes begin again.
        """
        return self._source_outcomes.setdefault(self.replicates, {})

    @property
    def first_outcomes(self) -> Mapping[int, Outcome]:
        """`source_outcomes`; the earlier ones if a
        difference was seen that may be drift.
        """
        once = self._source_outcomes.get(1)
        may_be_drift = self.subject.earlier_difference is Difference.UNREPORTED
        return once if once and may_be_drift else self.source_outcomes

    @property
    def saves_calls(self) -> bool:
        """Whether each call is a request to an endpoint, and
        the effort of the run is not thorough.
        """
        return self.subject.streams and self.settings.effort != "thorough"

    @property
    def at_hand(self) -> bool:
        """Whether calls are local: only this process answers,
        and no limit of the run counts them.
        """
        limits = (self.settings.limits, self.settings.daily)
        if any(each.calls is not None for each in limits):
            return False
        return self.subject.live and not self.subject.waits and self.executor.here

    def way(self, how: How) -> Ask | None:
        """The function that sends calls as `how` says; None for the usual way."""
        if how == "together":
            return None
        if how == "afresh":
            require_kept(self.subject, self.settings.mode)
            return None
        if not self.executor.here:
            raise NotApplicable(
                "with -o recsys_executor=ray calls are sent to actors, not here",
            )
        if how == "alone":
            if self.saves_calls:
                raise NotApplicable(ONE_BY_ONE)
            return alone
        if how == "in one batch":
            if self.subject.streams:
                raise NotApplicable(NO_BATCHES)
            return in_one_batch
        if isinstance(self._elsewhere, str):
            raise NotApplicable(self._elsewhere)
        return self._elsewhere

    @property
    def of_earlier_runs(self) -> int:
        """The number of users for whose unchanged request an earlier
        run made an answer.
        """
        earlier = self.executor.is_of_earlier_run
        return sum(
            any(map(earlier, each.keys)) for each in self.source_outcomes.values()
        )

    def answered_twice(
        self,
        first: Outcome,
        second: Outcome,
        *,
        reported: bool = False,
    ) -> None:
        """Record two answers to the same calls; different ones are not deterministic.

        From the next test on it counts as stochastic: its calls are repeated, and it is
        judged by its noise. Thus one finding does not repeat in every relation. A test
        that runs again is judged as before, so that a rerun gives no second chance. A
        difference is `reported` if a verdict is about it.
        """
        sides = [
            () if each.asked is None else each.asked.answers for each in (first, second)
        ]
        if any(one.items != other.items for one, other in zip(*sides, strict=False)):
            found = Difference.REPORTED if reported else Difference.UNREPORTED
            self.subject.new_difference = max(self.subject.new_difference, found)
            if first.asked is not None and not reported:
                self.subject.differed.add(first.asked.user)

    def pairs_with(self, other: Runner) -> bool:
        """Whether answers of both can be compared user by user.

        Both need one design, except for the known past and the fit. The recommenders
        may differ.
        """
        designs = {
            replace(
                each.design,
                history=0,
                training_history=None,
                initialisation=0,
                trained_on=None,
            )
            for each in (self, other)
        }
        return self._split is other._split and len(designs) == 1

    @property
    def dataset(self) -> Dataset:
        """The data of the run, with the held-out interactions."""
        return self._split.dataset

    def context(
        self,
        report: Callable[[Verdict], Verdict] = lambda verdict: verdict,
    ) -> Context:
        """The rules and facts for oracles."""
        return Context(
            alpha=self.settings.alpha,
            error_limit=self.settings.error_limit,
            missed_limit=self.settings.missed_limit,
            deterministic=self.deterministic,
            in_process=self.subject.live
            and not self.subject.waits
            and self.executor.here,
            family=self.settings.family,
            ask_everybody=self._asks_everybody,
            made_up=self.settings.plan,
            items=self._split.dataset.items,
            thing=self._split.dataset.thing,
            popularity=self._split.training.popularity,
            first_times=lambda: self._split.training.first_times,
            neighbours=self._split.training.neighbours,
            users=min(self._training_users, self._split.units),
            slices=self.settings.slices,
            shown=frozenset(self.settings.shown),
            everybody=lambda: self._everybody,
            report=report,
            messages=self.subject.messages,
        )

    def transformed(
        self,
        case: Case,
        transformations: Sequence[AnyTransformation],
        *seed: str,
    ) -> Request | NotApplicable:
        """The request of `case` after all `transformations`, or why there is no
        request; a further `seed` draws others.
        """
        return self._transforming.transformed(case, transformations, *seed)

    def draws(
        self,
        transformations: Sequence[AnyTransformation],
        made: Mapping[int, Request],
    ) -> bool:
        """Whether other random numbers would change any of the requests `made`, which
        are by position of their case.
        """
        return self._transforming.draws(transformations, made, self.cases)

    def answers(self, requests: Sequence[Request]) -> list[Recommendation]:
        """The answers to single requests, in their order."""
        purpose = self.purpose or "request"
        calls = [
            replace(self.subject.call(request, repeat=False), purpose=purpose)
            for request in requests
        ]
        answers = self.executor.execute(self.subject, calls)
        unasked = next(
            (answer["unasked"] for answer in answers if "unasked" in answer),
            None,
        )
        if unasked is not None:
            raise LimitReachedError(unasked)
        read = [*map(self.reader.read, requests, calls, answers)]
        for request, answer in zip(requests, read, strict=True):
            if answer.error is not None:
                raise RecommenderError(
                    f"{self.subject.name} failed on the request of user {request.user!r}, "
                    f"replicate {request.replicate}: {answer.error}",
                )
        return read

    def texts(self, purpose: Purpose) -> Texts:
        """The model under test, for prompts."""
        # Only text models need its imports.
        from pytest_recsys_mt.calls.texts import Texts

        return Texts(self.subject.behind or self.subject, self.executor, purpose)

    def uses(self, outcomes: Iterable[Outcome], purpose: Purpose) -> None:
        """Note that the current test uses results that are known already."""
        keys = (key for outcome in outcomes for key in outcome.keys)
        self.executor.bill.causes.add(self.subject.name, keys, purpose)

    def plan_again(self, calls: int, *what: str) -> None:
        """Count calls that a difference of `what` would cause, where the run is only
        planned.
        """
        if isinstance(self.executor, Plan):
            self.executor.plan_again(self.subject, calls, (id(self), *what))
