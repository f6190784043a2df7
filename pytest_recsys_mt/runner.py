"""Plan, execute, judge: from transformations to the answers that an oracle sees."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from pytest_recsys_mt.answers import Answers, Asked, Context, Pairs, Sample
from pytest_recsys_mt.calls import Call, key_of, plain_request
from pytest_recsys_mt.cases import Case, Split
from pytest_recsys_mt.datasets.dataset import Dataset
from pytest_recsys_mt.errors import (
    LimitReachedError,
    NotApplicable,
    OracleError,
    RecommenderError,
    RelationError,
)
from pytest_recsys_mt.execution import Executor
from pytest_recsys_mt.metamorphic import AnyTransformation, name_of
from pytest_recsys_mt.relations.transformation import Transformation
from pytest_recsys_mt.requests import Recommendation, Request, World
from pytest_recsys_mt.seeds import generator
from pytest_recsys_mt.settings import Design, Settings
from pytest_recsys_mt.subject import Subject
from pytest_recsys_mt.texts import Texts
from pytest_recsys_mt.verdict import Verdict

UNCHANGED = "the transformation changes nothing that the recommender sees"


@dataclass(frozen=True)
class Outcome:
    """What became of one user on one side: an `Asked`, or why there is none."""

    asked: Asked | None = None
    error: str = ""
    not_applicable: str = ""
    unasked: str = ""


class Runner:
    """Asks one recommender the requests of one design, original and transformed.

    Args:
        subject: The recommender under test, fitted.
        split: The data.
        design: How requests are made.
        settings: Of the run.
        executor: Puts the calls.

    Attributes:
        source_outcomes: What became of the unchanged requests, by position of their case: each
            answer is read once, however many tests compare theirs with it.
    """

    def __init__(
        self,
        subject: Subject,
        split: Split,
        design: Design,
        settings: Settings,
        executor: Executor,
    ) -> None:
        self.subject = subject
        self.design = design
        self.settings = settings
        self.source_outcomes: dict[int, Outcome] = {}
        self._split = split
        self._executor = executor

    @cached_property
    def cases(self) -> tuple[Case, ...]:
        """The sampled users, in their order."""
        return self._split.cases(self.design)

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the unchanged requests of all sampled users, in hexadecimal."""
        return key_of({"requests": [plain_request(case.request) for case in self.cases]})

    @cached_property
    def world(self) -> World:
        """What transformations may know."""
        return self._split.world(self.cases)

    @cached_property
    def _training_users(self) -> int:
        return int(self._split.training.interactions["user"].nunique())

    @property
    def replicates(self) -> int:
        """Calls a side: one for a deterministic recommender."""
        return 1 if self.subject.deterministic else self.design.replicates

    def pairs_with(self, other: Runner) -> bool:
        """Whether answers of both can be compared user by user.

        One recommender, and one design but for what is known of the users and how it was fitted.
        """
        designs = {
            replace(each.design, history=0, training_history=None, initialisation=0)
            for each in (self, other)
        }
        return self.subject.name == other.subject.name and len(designs) == 1

    @property
    def dataset(self) -> Dataset:
        """The data of the run, held-out interactions and all."""
        return self._split.dataset

    def context(self, report: Callable[[Verdict], Verdict]) -> Context:
        """The rules and facts for oracles."""
        return Context(
            alpha=self.settings.alpha,
            error_limit=self.settings.error_limit,
            deterministic=self.subject.deterministic,
            whole=self.settings.whole,
            items=self._split.dataset.items,
            popularity=self._split.training.popularity,
            users=self._training_users,
            report=report,
        )

    def transformed(
        self, case: Case, transformations: Sequence[AnyTransformation]
    ) -> Request | NotApplicable:
        """The request of `case` after all `transformations`, or why there is none.

        Raises:
            RelationError: If a transformation returns no request.
        """
        request = case.request
        for transformation in transformations:
            name = name_of(transformation)
            rng = generator(self.settings.seed, case.request.user, name)
            try:
                changed = (
                    transformation(request, rng, self.world)
                    if isinstance(transformation, Transformation)
                    else transformation(request, rng)
                )
            except NotApplicable as reason:
                return reason
            if not isinstance(changed, Request):
                raise RelationError(
                    f"the transformation {name!r} returned {changed!r}; it must return a Request, "
                    f"such as request.replace(history=...)"
                )
            request = changed
        kept = _all(transformations, "same_seed") or _all(transformations, "may_keep")
        if not kept and self.subject.same_question(request, case.request):
            return NotApplicable(UNCHANGED)
        return request

    def answers(self, requests: Sequence[Request]) -> list[Recommendation]:
        """The answers to single requests, in their order.

        Raises:
            RecommenderError: If a call failed.
            LimitReachedError: If a call was not put because a limit of the run is reached.
        """
        calls = [self.subject.call(request, repeat=False) for request in requests]
        answers = self._executor.execute(self.subject, calls)
        unasked = next((answer["unasked"] for answer in answers if "unasked" in answer), None)
        if unasked is not None:
            raise LimitReachedError(unasked)
        read = [
            self.subject.read(request, answer)
            for request, answer in zip(requests, answers, strict=True)
        ]
        for request, answer in zip(requests, read, strict=True):
            if answer.error is not None:
                raise RecommenderError(
                    f"{self.subject.name} failed on the request of user {request.user!r}, "
                    f"replicate {request.replicate}: {answer.error}"
                )
        return read

    @property
    def texts(self) -> Texts:
        """The model under test, for prompts of a test's own.

        Raises:
            NotApplicable: If it reads no text.
        """
        return Texts(self.subject, self._executor)

    def calls(
        self, requests: dict[int, Request], first: int, repeat: bool
    ) -> list[tuple[int, Call]]:
        """The calls that `ask` puts for the same arguments, each with the position of its case."""
        calls = []
        for replicate in range(first, first + self.replicates):
            # Each replicate meets other neighbours in its batch, so that the noise floor holds the
            # noise of batch composition too.
            order = generator(self.settings.seed, "order", replicate).permutation(len(self.cases))
            for position in (int(place) for place in order if int(place) in requests):
                request = requests[position].replace(replicate=replicate)
                calls.append((position, self.subject.call(request, repeat)))
        return calls

    def ask(self, requests: dict[int, Request], first: int, repeat: bool) -> dict[int, Outcome]:
        """Ask the requests, each once a replicate.

        Args:
            requests: By position of their case.
            first: Number of the first replicate.
            repeat: Ask anew although request and replicate are the source's own.

        Returns:
            What became of each, by position.
        """
        calls = self.calls(requests, first, repeat)
        answers = self._executor.execute(self.subject, [call for _, call in calls])
        read: dict[int, list[Recommendation]] = {position: [] for position in requests}
        outcomes = {}
        for (position, _), answer in zip(calls, answers, strict=True):
            if "unasked" in answer:
                outcomes[position] = Outcome(unasked=answer["unasked"])
                continue
            try:
                read[position].append(self.subject.read(requests[position], answer))
            except NotApplicable as reason:
                outcomes[position] = Outcome(not_applicable=str(reason))
        for position, recommendations in read.items():
            if position in outcomes:
                continue
            errors = [answer.error for answer in recommendations if answer.error is not None]
            if errors:
                outcomes[position] = Outcome(error=errors[0])
                continue
            held_out = self.cases[position].held_out
            asked = Asked(requests[position], tuple(recommendations), held_out)
            outcomes[position] = Outcome(asked)
        return outcomes


class RunAnswers:
    """One side of a relation, lazy: requests are made and asked when an oracle looks."""

    def __init__(
        self,
        runner: Runner,
        context: Context,
        transformations: Sequence[AnyTransformation] = (),
        block: int = 0,
        label: str = "",
    ) -> None:
        self._runner = runner
        self._transformations = tuple(transformations)
        self._same_seed = _all(self._transformations, "same_seed")
        self._first = 0 if self._same_seed else block * runner.replicates
        self._outcomes = {} if self._transformations else runner.source_outcomes
        self._context = context
        self._label = label

    @property
    def label(self) -> str:
        """Names of the transformations, as reports and the record know them.

        Without any, what sets the design apart from the test's own, ``history=5``.
        """
        names = ", ".join(name_of(transformation) for transformation in self._transformations)
        return names or self._label

    @property
    def context(self) -> Context:
        """The rules and facts of this run."""
        return self._context

    @property
    def same_seed(self) -> bool:
        """Whether replicate r was asked with the seed of the source's replicate r."""
        return self._same_seed

    def __repr__(self) -> str:
        what = self.label or "source"
        return (
            f"<answers of {self._runner.subject.name} to {len(self._runner.cases)} users: {what}>"
        )

    @cached_property
    def _requests(self) -> tuple[dict[int, Request], Counter[str]]:
        requests, reasons = {}, Counter[str]()
        for position, case in enumerate(self._runner.cases):
            request = (
                self._runner.transformed(case, self._transformations)
                if self._transformations
                else case.request
            )
            if isinstance(request, Request):
                requests[position] = request
            else:
                reasons[str(request) or "no reason given"] += 1
        return requests, reasons

    def applicable(self, followup: Answers | None = None, /) -> int:
        """How many users this side can serve, and `followup` too. Asks nothing.

        Raises:
            OracleError: If `followup` was not asked of the same recommender and users.
        """
        return len(self._served(None if followup is None else self._partner(followup)))

    def sample(self, users: int | None = None) -> Sample:
        """The answers of the first so many users that this side can serve; of all if None."""
        positions = self._served()[:users]
        self._ask(positions)
        outcomes = [self._outcomes[position] for position in positions]
        return Sample(
            asked=tuple(outcome.asked for outcome in outcomes if outcome.asked is not None),
            not_applicable=self._requests[1] + _reasons(outcomes),
            errors=Counter(outcome.error for outcome in outcomes if outcome.error),
            unasked=Counter(outcome.unasked for outcome in outcomes if outcome.unasked),
        )

    def pair(self, followup: Answers, /, users: int | None = None) -> Pairs:
        """The answers of both sides, for the first so many users that both can serve.

        Raises:
            OracleError: If `followup` was not asked of the same recommender and users.
        """
        partner = self._partner(followup)
        positions = self._served(partner)[:users]
        self._ask(positions)
        partner._ask(positions)
        source, other = [], []
        broken: dict[str, list[Asked]] = {}
        errors, unasked = Counter[str](), Counter[str]()
        reasons = self._requests[1] + partner._requests[1]
        for position in positions:
            one, two = self._outcomes[position], partner._outcomes[position]
            if one.asked is not None and two.asked is not None:
                source.append(one.asked)
                other.append(two.asked)
            elif one.not_applicable or two.not_applicable:
                reasons[one.not_applicable or two.not_applicable] += 1
            elif one.unasked or two.unasked:
                unasked[one.unasked or two.unasked] += 1
            elif one.asked is not None:
                broken.setdefault(two.error, []).append(one.asked)
            else:
                errors[one.error] += 1
        return Pairs(tuple(source), tuple(other), reasons, errors, unasked, broken=broken)

    def calls(self, followup: Answers, /, users: int | None = None) -> list[Call]:
        """The calls of `pair` for the same arguments that are not answered yet. Asks nothing.

        Raises:
            OracleError: If `followup` was not asked of the same recommender and users.
        """
        partner = self._partner(followup)
        positions = self._served(partner)[:users]
        return [
            call
            for side in (self, partner)
            for _, call in side._runner.calls(
                side._missing(positions), side._first, side._same_seed
            )
        ]

    def _partner(self, followup: Answers) -> RunAnswers:
        if not isinstance(followup, RunAnswers) or not followup._runner.pairs_with(self._runner):
            raise OracleError(
                f"an oracle compares answers of one recommender to one design (the length of "
                f"histories alone may differ), got {self!r} and {followup!r}"
            )
        return followup

    def _served(self, partner: RunAnswers | None = None) -> list[int]:
        """Positions of the users that can be asked, in the order they were sampled."""
        ours = self._requests[0]
        if partner is None:
            return list(ours)
        return [position for position in ours if position in partner._requests[0]]

    def _missing(self, positions: Sequence[int]) -> dict[int, Request]:
        """The requests that have not been asked yet, by position."""
        requests, _ = self._requests
        return {
            position: requests[position]
            for position in positions
            if position not in self._outcomes or self._outcomes[position].unasked
        }

    def _ask(self, positions: Sequence[int]) -> None:
        missing = self._missing(positions)
        if missing:
            self._outcomes.update(self._runner.ask(missing, self._first, self._same_seed))


def _reasons(outcomes: Sequence[Outcome]) -> Counter[str]:
    return Counter(outcome.not_applicable for outcome in outcomes if outcome.not_applicable)


def _all(transformations: Sequence[AnyTransformation], declared: str) -> bool:
    return bool(transformations) and all(
        getattr(transformation, declared, False) for transformation in transformations
    )
