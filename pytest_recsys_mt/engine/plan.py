"""Counts the calls of the selected tests, and answers them itself: nothing is sent."""

import time
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Hashable, Sequence
from dataclasses import dataclass, field

from pytest_recsys_mt.calls import tokens
from pytest_recsys_mt.calls.answer import Answer
from pytest_recsys_mt.calls.cache import AnswerCache, Mode
from pytest_recsys_mt.calls.call import CONTROL, Call
from pytest_recsys_mt.calls.executor import Ask, Executor, Then
from pytest_recsys_mt.calls.prices import Price, Prices
from pytest_recsys_mt.calls.subject import Subject
from pytest_recsys_mt.engine.made_up import made_up, quotes_an_answer
from pytest_recsys_mt.requests import Item, Prompt

BEFOREHAND = "before the tests"
"""In place of a suite: the calls that sample users or candidates."""

CONFIRMING = "to confirm"
"""In place of a suite: the calls that are sent again if answers differ."""

CONTROLLING = "controls"
"""In place of a suite: the calls of controls that no test sends."""

ADDITIONAL = (CONFIRMING, CONTROLLING)
"""The calls in addition to those of the tests."""

ENOUGH = 50
"""Answers of a run from which on its pace is estimated."""


@dataclass
class Count:
    """Some of the calls to one model, each counted once."""

    tests: set[str] = field(default_factory=set)  # those that send them first
    calls: int = 0
    cached: int = 0
    prompt_tokens: float = 0  # of the calls to make
    counted: bool = True  # by a tokenizer; otherwise they are estimated
    # Whether the estimate is in proportion to answers in the cache.
    calibrated: bool = False
    output_tokens: int | None = 0  # the most; None if the model names no limit
    price: Price | None = None

    @property
    def to_make(self) -> int:
        """The calls without an answer."""
        return self.calls - self.cached

    @property
    def usd(self) -> float | None:
        """The most that the calls to make may cost; None if unknown."""
        if (self.price is not None and self.price.is_free) or not self.to_make:
            return 0.0
        if self.price is None or self.output_tokens is None:
            return None
        return self.price.usd(self.prompt_tokens, self.output_tokens)

    def add(
        self,
        prompt: float,
        counted: bool,
        output: int | None,
        calls: int = 1,
    ) -> None:
        """Add calls to make.

        Args:
            prompt: Tokens of each prompt.
            counted: Whether a tokenizer counted them.
            output: The most tokens of each answer; None if the model names no limit.
            calls: The number of calls.
        """
        self.calls += calls
        self.prompt_tokens += prompt * calls
        self.counted &= counted
        if output is None or self.output_tokens is None:
            self.output_tokens = None
        else:
            self.output_tokens += output * calls

    def mean_output(self, calls: int) -> int | None:
        """The most output tokens of one of so many calls;
        None if the model names no limit.
        """
        if self.output_tokens is None:
            return None
        return self.output_tokens // calls


@dataclass
class _Known:
    """The facts of a model from its cached answers.

    Attributes:
        reported: Tokens of their prompts, as they report them.
        estimated: Tokens of the same prompts, as we estimate them.
        times: When calls were sent, by run, in Unix seconds.
    """

    reported: int = 0
    estimated: int = 0
    times: defaultdict[str, list[float]] = field(
        default_factory=lambda: defaultdict(list),
    )


class Plan(Executor):
    """Takes the place of the executor while a run is planned, and makes answers up.

    Where an answer is in the cache it is given. So tests go on as they would, until all
    that they could send is counted.

    Args:
        cache: Holds answers of earlier runs.
        mode: How the run uses the cache.
        run: The id of the run.
        prices: Of the models.
        catalogue: Returns the items to make answers of.
        keep: Whether `to_make` is filled.

    Attributes:
        counts: The calls by suite and model.
        by_test: The calls to make by id of the test that sends them first, and model.
        questions: Questions to judges that send no calls, by the name of the judge.
        bounded: Why a test may send fewer or other calls than counted here, by its id.
    """

    def __init__(
        self,
        cache: AnswerCache,
        mode: Mode,
        run: str,
        prices: Prices,
        catalogue: Callable[[], Sequence[Item]],
        *,
        keep: bool = False,
    ) -> None:
        super().__init__(cache, mode, run, prices=prices)
        self.counts: dict[tuple[str, str], Count] = {}
        self.by_test: dict[tuple[str, str], Count] = {}
        self.bounded: dict[str, str] = {}
        self.questions: Counter[str] = Counter()
        self._prices = prices
        self._catalogue = catalogue
        self._given: dict[str, Answer] = {}
        self._nodeid = ""
        self._suite = BEFOREHAND
        self._clock = time.time()  # after all that is in the cache
        self._again: dict[tuple[str, Hashable], int] = {}
        self._known: dict[str, _Known] = {}
        self._controls: dict[str, tuple[Subject, Call, Price | None]] = {}
        self._keep: dict[str, list[tuple[Subject, Call]]] | None = {} if keep else None

    def begin(self, nodeid: str = "", suite: str = BEFOREHAND) -> None:
        """Count the next calls for this test, or for none."""
        self._nodeid = nodeid
        self._suite = suite

    @property
    def total(self) -> int:
        """All calls of the test that is planned now."""
        return sum(
            count.calls
            for (nodeid, _), count in self.by_test.items()
            if nodeid == self._nodeid
        )

    def at_least(self, calls: int) -> None:
        """Count the calls of the test that is planned now
        as this many, if there are fewer.
        """
        for (nodeid, name), of_test in self.by_test.items():
            if nodeid != self._nodeid or not of_test.calls:
                continue
            missing = calls - of_test.calls
            if missing <= 0:
                continue
            prompt = of_test.prompt_tokens / of_test.calls
            output = of_test.mean_output(of_test.calls)
            for count in (of_test, self.counts[self._suite, name]):
                count.add(prompt, of_test.counted, output, missing)

    def planned_questions(self, judge: str, questions: int) -> None:
        """Count questions to a judge that sends no calls."""
        self.questions[judge] += questions

    def plan_again(self, subject: Subject, calls: int, what: Hashable) -> None:
        """Count calls that a difference of `what` would cause.

        Args:
            subject: The recommender that would get them.
            calls: How many calls.
            what: The things that would differ; if planned twice, the larger
                number counts.
        """
        # A batch of its own, after which calls of the first users may be sent again.
        self._clock += 1
        self.latest[subject.name] = self._clock
        # A repeat of the same calls finds its answers in the cache.
        counted = self._again.get((self._nodeid, what), 0)
        self._again[self._nodeid, what] = max(calls, counted)
        like_these = self._own_calls(subject.name)
        to_make = max(like_these.to_make, 1)
        prompt = like_these.prompt_tokens / to_make
        output = like_these.mean_output(to_make)
        key = (CONFIRMING, subject.name)
        confirming = self.counts.setdefault(key, Count(price=like_these.price))
        confirming.add(prompt, like_these.counted, output, max(calls - counted, 0))

    def _own_calls(self, name: str) -> Count:
        """The calls of this test; of a test that sends no call of its own,
        those of a suite stand for them.
        """
        own = self.by_test.get((self._nodeid, name))
        if own is not None:
            return own
        for (suite, model), count in self.counts.items():
            if model == name and suite not in ADDITIONAL:
                return count
        return Count()

    def execute(
        self,
        subject: Subject,
        calls: Sequence[Call],
        *,
        since: float | None = None,
        ask: Ask | None = None,
        then: Then | None = None,
    ) -> list[Answer]:
        self._clock += 1
        self.latest[subject.name] = self._clock
        price = (
            self._prices.of(subject.name, calls[0].content["model"]) if calls else None
        )
        new_calls = {call.key: call for call in calls if call.key not in self._given}
        cached_answers = self._cached(subject, new_calls, since)
        controls: dict[str, Answer] = {}
        for call in new_calls.values():
            cached = cached_answers.get(call.key)
            answer = cached or self._made_up(subject, call)
            if call.purpose == CONTROL:
                # Counted by `calibrate`, unless a test sends the same call.
                self._controls[call.key] = (subject, call, price)
                controls[call.key] = answer
                continue
            self._count(subject, call, cached, price)
            self._given[call.key] = answer
            if cached is None and ask is None:
                self._keep_if_certain(subject, call)
        if price is not None and price.is_free and _are_samples(calls):
            # Users and candidates are drawn by these answers, which cost nothing.
            return super().execute(subject, calls, since=since, ask=ask)
        return [self._given.get(call.key) or controls[call.key] for call in calls]

    def _keep_if_certain(self, subject: Subject, call: Call) -> None:
        """Keep a call for `to_make`, if the run will send it whatever others answer."""
        if self._keep is None or call.again or self._nodeid in self.bounded:
            return
        self._keep.setdefault(subject.name, []).append((subject, call))

    def _made_up(self, subject: Subject, call: Call) -> Answer:
        answer = made_up(call, subject.deterministic, self._catalogue())
        return {**answer, "asked": self._clock}

    def to_make(self) -> dict[str, list[tuple[Subject, Call]]]:
        """The calls that have no answer yet and depend on none,
        by the name of their model, in order.
        """
        return self._keep or {}

    def calibrate(self) -> None:
        """Count the controls that no test sends, and scale estimated tokens to those
        that answers in the cache report.

        To be called once all tests are planned.
        """
        for key, (subject, call, price) in self._controls.items():
            if key not in self._given:
                cached = self._cached(subject, [key]).get(key)
                self._count(subject, call, cached, price)
        for (_, name), count in [*self.counts.items(), *self.by_test.items()]:
            known = self._known.get(name)
            if count.counted or known is None:
                continue
            if known.estimated:
                count.calibrated = True
                count.prompt_tokens *= known.reported / known.estimated

    def sums(self) -> dict[str, float | None]:
        """All calls of the tests, those without an answer,
        and the most that these may cost.
        """
        counts = [
            count
            for (suite, _), count in self.counts.items()
            if suite not in ADDITIONAL
        ]
        costs = [count.usd for count in counts]
        known_costs = [cost for cost in costs if cost is not None]
        all_known = len(known_costs) == len(costs)
        return {
            "calls": sum(count.calls for count in counts),
            "to_make": sum(count.to_make for count in counts),
            "usd": sum(known_costs) if all_known else None,
        }

    def pace(self, name: str) -> float | None:
        """Calls to a model per second, in the run that gave most
        of its cached answers; None if unknown.
        """
        if name not in self._known:
            return None
        times_by_run = self._known[name].times
        times = max(times_by_run.values(), key=len, default=[])
        if len(times) < ENOUGH:
            return None
        seconds = max(times) - min(times)
        return len(times) / seconds if seconds > 1 else None

    def _cached(
        self,
        subject: Subject,
        keys: Collection[str],
        since: float | None = None,
    ) -> dict[str, Answer]:
        # Calls that depend on others (`since`) are sent again if the others are, as a
        # plan supposes.
        if not subject.durable or self._mode == "refresh" or since is not None:
            return {}
        return self._cache.answers(list(keys))

    def _count(
        self,
        subject: Subject,
        call: Call,
        cached: Answer | None,
        price: Price | None,
    ) -> None:
        if call.prompt is not None and quotes_an_answer(call.prompt):
            self.bounded[self._nodeid] = "what it asks depends on answers"
        if cached is not None and call.prompt is not None:
            self._learn(subject.name, call.prompt, cached)
        if cached is None:
            prompt, counted = tokens.prompt_tokens(subject, call)
            output = tokens.most_output(call)
        else:
            prompt = 0
            counted = True
            output = 0
        for count in self._counts_of(subject.name, call, price):
            count.tests.add(self._nodeid)
            if cached is not None:
                count.cached += 1
            count.add(prompt, counted, output)

    def _counts_of(self, name: str, call: Call, price: Price | None) -> list[Count]:
        """The counts that a call to a model adds to: of its suite and its
        test, or of the additional calls.
        """
        if call.again:
            return [self.counts.setdefault((CONFIRMING, name), Count(price=price))]
        if call.purpose == CONTROL:
            return [self.counts.setdefault((CONTROLLING, name), Count(price=price))]
        return [
            self.counts.setdefault((self._suite, name), Count(price=price)),
            self.by_test.setdefault((self._nodeid, name), Count(price=price)),
        ]

    def _learn(self, name: str, prompt: Prompt, cached: Answer) -> None:
        """Add the numbers that a cached answer reports to the facts of its model."""
        known = self._known.setdefault(name, _Known())
        run = cached.get("run", "")
        known.times[run].append(cached.get("asked", 0.0))
        usage = cached.get("usage")
        if usage is not None:
            known.reported += usage[0]
            known.estimated += tokens.estimated(prompt)


def _are_samples(calls: Sequence[Call]) -> bool:
    """Whether users and candidates are sampled by the answers to calls, none of which
    is a prompt.
    """
    return all(call.purpose == "sample" and call.prompt is None for call in calls)
