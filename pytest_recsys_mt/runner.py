"""Plan, execute, judge: from transformations to the answers that an oracle sees."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain

from pytest_recsys_mt.answers import Answers, Asked, Context, Pairs, Sample
from pytest_recsys_mt.calls import AGAIN, Call, key_of, plain_request
from pytest_recsys_mt.cases import Case, Split
from pytest_recsys_mt.datasets.dataset import Dataset
from pytest_recsys_mt.elsewhere import alone
from pytest_recsys_mt.errors import (
    LimitReachedError,
    NotApplicable,
    OracleError,
    RecommenderError,
    RelationError,
)
from pytest_recsys_mt.execution import Ask, Executor
from pytest_recsys_mt.metamorphic import AnyTransformation, name_of
from pytest_recsys_mt.relations.transformation import Asked as How
from pytest_recsys_mt.relations.transformation import Transformation
from pytest_recsys_mt.requests import Recommendation, Request, World
from pytest_recsys_mt.seeds import generator
from pytest_recsys_mt.settings import Design, Settings
from pytest_recsys_mt.subject import Answer, Subject
from pytest_recsys_mt.texts import Texts
from pytest_recsys_mt.verdict import Verdict

NOWHERE = "no other process can make the recommender of a part of a run"
"""Why nothing is asked elsewhere where nobody says how."""

UNCHANGED = "the transformation changes nothing that the recommender sees"


@dataclass(frozen=True)
class Outcome:
    """What became of one user on one side: an `Asked`, or why there is none.

    `times` says when its calls were asked, in Unix seconds; None stands for a time not known.
    """

    asked: Asked | None = None
    error: str = ""
    not_applicable: str = ""
    unasked: str = ""
    times: frozenset[float | None] = frozenset()


BLOCK = 20
"""Users whose calls are sent in an order drawn at random; a limit then leaves whole users."""


@dataclass(frozen=True)
class Questions:
    """Requests of one side, by position of their case, each once a replicate.

    Attributes:
        runner: Makes the calls.
        requests: What to ask.
        first: Number of the first replicate.
        repeat: Ask anew although request and replicate are the source's own.
        replicates: How many; as many as the recommender takes now where None.
        asked: How they are sent.
        before: What is sent right before them, where anything is.
    """

    runner: Runner
    requests: Mapping[int, Request]
    first: int
    repeat: bool = False
    replicates: int | None = None
    asked: How = "together"
    before: Mapping[int, Request] = field(default_factory=dict)

    def calls(self) -> list[tuple[int, Call]]:
        """The calls to send, each with the position of its case."""
        return [
            (position, self._call(request, replicate))
            for replicate in self._numbers
            for position, request in self.requests.items()
        ]

    def sent(self) -> Iterator[tuple[int, Call]]:
        """As `calls`, with what is sent right before each."""
        for position, call in self.calls():
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
        return call if self.asked == "together" else call.sent(asked=self.asked)


def interleaved(calls: Iterable[tuple[int, Call]]) -> list[Call]:
    """Calls in the order in which they are sent: users in blocks, each in a random order.

    So whatever changes while they are asked meets all sides alike. Each replicate meets other
    neighbours in its batch, so that the noise floor holds the noise of batch composition too.

    Args:
        calls: Of any sides, each with the position of its case. Keys are as good as random numbers.
    """
    return [call for _, call in sorted(calls, key=lambda each: (each[0] // BLOCK, each[1].key))]


def ask(*sides: Questions, anew: bool = False) -> list[dict[int, Outcome]]:
    """Ask all sides, those of one recommender as one batch: each fit is a recommender of its own.

    What is sent in another way than together is sent apart from the rest, in the order given.

    Args:
        *sides: What to ask.
        anew: Whether answers of earlier runs do not count.

    Returns:
        What became of each request, by position, for each side.
    """
    groups: dict[tuple[int, How], list[Questions]] = {}
    for each in sides:
        groups.setdefault((id(each.runner.subject), each.asked), []).append(each)
    known: dict[tuple[int, str], Answer] = {}
    for (asked, how), group in groups.items():
        theirs = chain.from_iterable(each.sent() for each in group)
        ordered = interleaved(theirs) if how == "together" else [call for _, call in theirs]
        answers = group[0].runner.execute(ordered, anew=anew, how=how)
        known |= {(asked, call.key): answer for call, answer in zip(ordered, answers, strict=True)}
    return [
        each.runner.outcomes(
            each.requests,
            [(place, known[id(each.runner.subject), call.key]) for place, call in each.calls()],
        )
        for each in sides
    ]


class Runner:
    """Asks one recommender the requests of one design, original and transformed.

    Args:
        subject: The recommender under test, fitted.
        split: The data.
        design: How requests are made.
        settings: Of the run.
        executor: Puts the calls.
        elsewhere: Sends calls to another process that makes the recommender anew; or why nothing can.

    Attributes:
        asked_apart: Whether anything was compared with source answers of another time, or had to
            be asked again.
    """

    def __init__(
        self,
        subject: Subject,
        split: Split,
        design: Design,
        settings: Settings,
        executor: Executor,
        elsewhere: Ask | str = NOWHERE,
    ) -> None:
        self.subject = subject
        self.design = design
        self.settings = settings
        self.asked_apart = False
        self._source_outcomes: dict[int, dict[int, Outcome]] = {}
        self._elsewhere = elsewhere
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
    def latest(self) -> float | None:
        """When the latest batch of the recommender began in this run; None where none did."""
        return self._executor.latest.get(self.subject.name)

    @property
    def deterministic(self) -> bool:
        """Whether the recommender declares that it always answers alike, and was not seen otherwise."""
        return self.subject.deterministic and not self.subject.wavers

    @property
    def replicates(self) -> int:
        """Calls a side: one for a deterministic recommender."""
        return 1 if self.deterministic else self.design.replicates

    @property
    def source_outcomes(self) -> dict[int, Outcome]:
        """What became of the unchanged requests, by position of their case.

        Each answer is read once, however many tests compare theirs with it. What is found out to be
        not deterministic is asked more than once from then on, so its outcomes begin anew.
        """
        return self._source_outcomes.setdefault(self.replicates, {})

    @property
    def first_outcomes(self) -> Mapping[int, Outcome]:
        """`source_outcomes`; those of the time before where what was seen then may be drift."""
        once = self._source_outcomes.get(1)
        return once if once and self.subject.wavers == "seen" else self.source_outcomes

    def way(self, how: How) -> Ask | None:
        """What sends calls so; None for the usual way.

        Raises:
            NotApplicable: If nothing can.
        """
        if how == "together":
            return None
        if not self._executor.here:
            raise NotApplicable("with --recsys-executor=ray calls are sent to actors, not here")
        if how == "alone":
            return alone
        if isinstance(self._elsewhere, str):
            raise NotApplicable(self._elsewhere)
        return self._elsewhere

    def answered_twice(self, first: Outcome, second: Outcome, *, told: bool = False) -> None:
        """Take note of two answers to the same calls: whose differ is not deterministic.

        From the next test on it is taken for what it is, so that one finding does not become that of
        every relation: it is asked more than once, and judged by its noise. A test that is run again is
        judged as before: it throws no second dice.

        Args:
            first: What became of the calls.
            second: What became of them when they were sent once more.
            told: Whether a verdict is about just that.
        """
        sides = [() if each.asked is None else each.asked.answers for each in (first, second)]
        if any(one.items != other.items for one, other in zip(*sides, strict=False)):
            self.subject.wavered = "told" if told else self.subject.wavered or "seen"

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
            deterministic=self.deterministic,
            family=self.settings.family,
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
            request = case.knowing(changed)
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

    def execute(
        self, calls: Sequence[Call], *, anew: bool = False, how: How = "together"
    ) -> list[Answer]:
        """The answers of the recommender; see `Executor.execute`."""
        return self._executor.execute(self.subject, calls, anew=anew, ask=self.way(how))

    def outcomes(
        self, requests: Mapping[int, Request], answers: Sequence[tuple[int, Answer]]
    ) -> dict[int, Outcome]:
        """What became of `requests`, from the answers to their replicates; all by position."""
        read: dict[int, list[Recommendation]] = {position: [] for position in requests}
        times: dict[int, set[float | None]] = {position: set() for position in requests}
        outcomes = {}
        for position, answer in answers:
            if "unasked" in answer:
                outcomes[position] = Outcome(unasked=answer["unasked"])
                continue
            times[position].add(answer.get("asked") if self.subject.live else None)
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
            case = self.cases[position]
            asked = Asked(requests[position], tuple(recommendations), case.held_out, case.past)
            outcomes[position] = Outcome(asked, times=frozenset(times[position]))
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
        self._replicates = runner.replicates
        self._first = 0 if self._same_seed else block * self._replicates
        self._asked: How = _how(self._transformations)
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
        try:
            self._runner.way(self._asked)
        except NotApplicable as reason:
            return {}, Counter({str(reason): len(self._runner.cases)})
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

    @property
    def asked(self) -> How:
        """How the calls of this side are sent."""
        return self._asked

    def _of(self, positions: Iterable[int], first: int) -> Questions:
        """The questions of this side to some users, numbered from `first`."""
        requests = {position: self._requests[0][position] for position in positions}
        before = {
            position: request
            for position, asked in requests.items()
            for request in self._before(self._runner.cases[position], asked)
        }
        return Questions(
            self._runner, requests, first, self._same_seed, self._replicates, self._asked, before
        )

    def _before(self, case: Case, request: Request) -> Iterator[Request]:
        """What is sent right before a request of this side."""
        for each in self._transformations:
            if isinstance(each, Transformation) and each.before is not None:
                rng = generator(self._runner.settings.seed, case.request.user, each.name)
                yield each.before(request, rng, self._runner.world)

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
        answered = outcomes[: _first_unasked(outcomes)]
        return Sample(
            asked=tuple(outcome.asked for outcome in answered if outcome.asked is not None),
            not_applicable=self._requests[1] + _reasons(outcomes),
            errors=Counter(outcome.error for outcome in answered if outcome.error),
            unasked=Counter(outcome.unasked for outcome in outcomes if outcome.unasked),
        )

    def pair(self, followup: Answers, /, users: int | None = None) -> Pairs:
        """The answers of both sides, for the first so many users that both can serve.

        Raises:
            OracleError: If `followup` was not asked of the same recommender and users.
        """
        partner = self._partner(followup)
        positions = self._served(partner)[:users]
        self._ask(positions, partner)
        return self._paired(partner, positions, self._outcomes, partner._outcomes)

    def pair_anew(self, followup: Answers, /, users: int) -> Pairs | None:
        """Both sides of `pair` asked once more, as one batch that treats them alike.

        None where the answers cannot change.

        The calls have numbers of their own, so that an earlier answer to the same request is none
        of theirs; they follow from the two transformations, so that a resumed run asks nothing
        twice.

        Raises:
            OracleError: If `followup` was not asked of the same recommender and users.
            MissingAnswerError: In replay mode, if an answer is not in the cache.
        """
        partner = self._partner(followup)
        runner = self._runner
        if not runner.subject.live:
            return None
        runner.asked_apart = True
        positions = self._served(partner)[:users]
        draw = generator(runner.settings.seed, "anew", self.label, partner.label)
        first = int(draw.integers(AGAIN, 2**31))
        # What is asked alone differs from what was asked beside as many others as before.
        beside = list(self._outcomes) if partner._asked != self._asked else positions
        ours, theirs = ask(
            self._of(beside, first + self._first), partner._of(positions, first + partner._first)
        )
        for side, outcomes in ((self, ours), (partner, theirs)):
            if side._asked == "together":
                for position in outcomes.keys() & side._outcomes.keys():
                    runner.answered_twice(side._outcomes[position], outcomes[position])
        return self._paired(partner, positions, ours, theirs)

    def _paired(
        self,
        partner: RunAnswers,
        positions: Sequence[int],
        ours: Mapping[int, Outcome],
        theirs: Mapping[int, Outcome],
    ) -> Pairs:
        """What became of the users at `positions`, on both sides."""
        both = [(ours[position], theirs[position]) for position in positions]
        # What was answered beyond a limit is no sample: users count in the order drawn, or not at all.
        answered = min(_first_unasked(side) for side in zip(*both, strict=True)) if both else 0
        unasked = Counter(one.unasked or two.unasked for one, two in both[answered:])
        del unasked[""]
        source, other = [], []
        broken: dict[str, list[Asked]] = {}
        errors = Counter[str]()
        reasons = self._requests[1] + partner._requests[1]
        apart = 0.0
        for one, two in both[:answered]:
            if one.asked is not None and two.asked is not None:
                source.append(one.asked)
                other.append(two.asked)
                apart = max(apart, _apart(one.times, two.times))
                if self._same_question(partner):
                    self._runner.answered_twice(one, two, told=True)
            elif one.not_applicable or two.not_applicable:
                reasons[one.not_applicable or two.not_applicable] += 1
            elif one.asked is not None:
                broken.setdefault(two.error, []).append(one.asked)
            else:
                errors[one.error] += 1
        self._runner.asked_apart |= bool(apart)
        order = tuple(self._runner.cases[position].request.user for position in positions)
        return Pairs(
            tuple(source),
            tuple(other),
            reasons,
            errors,
            unasked,
            broken=broken,
            order=order,
            apart=apart,
        )

    def _same_question(self, partner: RunAnswers) -> bool:
        """Whether the other side is this one, asked again in the same way."""
        return partner._same_seed and not self._transformations and partner._asked == self._asked

    def calls(self, followup: Answers, /, users: int | None = None) -> list[tuple[int, Call]]:
        """The calls of `pair` that are not answered yet, each with the position of its case.

        Asks nothing.

        Raises:
            OracleError: If `followup` was not asked of the same recommender and users.
        """
        partner = self._partner(followup)
        positions = self._served(partner)[:users]
        return [call for side in (self, partner) for call in side._questions(positions).sent()]

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

    def _questions(self, positions: Sequence[int]) -> Questions:
        """The requests that have not been asked yet."""
        missing = [
            position
            for position in positions
            if position not in self._outcomes or self._outcomes[position].unasked
        ]
        return self._of(missing, self._first)

    def _ask(self, positions: Sequence[int], *partners: RunAnswers) -> None:
        """Ask what is not answered yet of this side and of others, together."""
        sides = (self, *partners)
        questions = [side._questions(positions) for side in sides]
        if any(each.requests for each in questions):
            for side, outcomes in zip(sides, ask(*questions), strict=True):
                side._outcomes.update(outcomes)


def _apart(ours: Collection[float | None], theirs: Collection[float | None]) -> float:
    """Seconds between the first and the last of the times at which two sides were asked.

    Returns:
        0 where both have the same times, also where these are not known; infinity where one is not.
    """
    times = {*ours, *theirs}
    if ours == theirs:
        return 0.0
    known = [time for time in times if time is not None]
    return max(known) - min(known) if len(known) == len(times) else math.inf


def _first_unasked(outcomes: Sequence[Outcome]) -> int:
    """How many of `outcomes` come before the first that was not asked."""
    return next((n for n, outcome in enumerate(outcomes) if outcome.unasked), len(outcomes))


def _reasons(outcomes: Sequence[Outcome]) -> Counter[str]:
    return Counter(outcome.not_applicable for outcome in outcomes if outcome.not_applicable)


def _how(transformations: Sequence[AnyTransformation]) -> How:
    """How the last of the transformations that says so wants its calls sent."""
    for each in reversed(transformations):
        if isinstance(each, Transformation) and each.asked != "together":
            return each.asked
    return "together"


def _all(transformations: Sequence[AnyTransformation], declared: str) -> bool:
    return bool(transformations) and all(
        getattr(transformation, declared, False) for transformation in transformations
    )
