"""Plans which calls the selected tests make, before any call is sent."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from pytest_recsys_mt.calls import tokens
from pytest_recsys_mt.calls.answer import Answer
from pytest_recsys_mt.calls.call import Call
from pytest_recsys_mt.calls.prices import Price, Prices
from pytest_recsys_mt.calls.subject import Subject
from pytest_recsys_mt.engine.recsys import Recsys
from pytest_recsys_mt.engine.run import Run
from pytest_recsys_mt.engine.runner import Runner
from pytest_recsys_mt.metamorphic import AnyTransformation
from pytest_recsys_mt.oracles.judging.steps import next_step


class PlannedTest:
    """The calls of one metamorphic test: those of its two sides, made as the test makes them.

    Args:
        nodeid: The id of the test.
        suite: Name of its folder.
        recsys: The runner, as the test receives it.
        transformation: The transformation of the follow-up.
    """

    def __init__(
        self, nodeid: str, suite: str, recsys: Recsys, transformation: AnyTransformation
    ) -> None:
        self.nodeid = nodeid
        self.suite = suite
        self.runner: Runner = recsys.runner
        self._source = recsys.run()
        self._followup = recsys.run(transformation)

    @property
    def subject(self) -> Subject:
        """The subject that receives the calls."""
        return self.runner.subject

    def calls(self) -> list[Call]:
        """All calls of a test that looks at every user."""
        return [call for _, call in self._source.calls(self._followup)]

    def first_users(self) -> list[tuple[int, Call]]:
        """The calls of the first users, whom every test asks, with the positions of their cases.

        Empty if the follow-up is not asked together with others.
        """
        if self._followup.asked != "together":
            return []
        users = self._source.applicable(self._followup)
        first = users if self.runner.settings.ask_everybody else next_step(0, users)
        return self._source.calls(self._followup, first)


@dataclass(frozen=True)
class UnplannedTest:
    """A test whose calls cannot be known before it runs.

    Attributes:
        nodeid: The id of the test.
        reason: Why its calls are unknown, and their upper bound if there is one.
    """

    nodeid: str
    reason: str


@dataclass
class Count:
    """The calls that the tests of one suite make to one model.

    Attributes:
        tests: Number of tests.
        calls: Number of their calls.
        duplicates: Calls that another test or the same test has already.
        cached: Calls whose answers are in the cache.
        to_make: The remaining calls.
        prompt_tokens: Tokens of the calls to make.
        counted: Whether a tokenizer counted them; otherwise they are estimated.
        calibrated: Whether the estimate is scaled to the counts that cached answers report.
        output_tokens: The most tokens that the answers may have; None if the model names no limit.
        price: The price of the model, if known.
    """

    tests: int = 0
    calls: int = 0
    duplicates: int = 0
    cached: int = 0
    to_make: int = 0
    prompt_tokens: int = 0
    counted: bool = True
    calibrated: bool = False
    output_tokens: int | None = 0
    price: Price | None = None

    @property
    def usd(self) -> float | None:
        """The most that the calls to make may cost; None if unknown."""
        if self.price is not None and (self.price.is_free or not self.to_make):
            return 0.0
        if self.price is None or self.output_tokens is None:
            return None
        return self.price.usd(self.prompt_tokens, self.output_tokens)


class Plan:
    """The calls of the selected tests.

    Args:
        run: The run; the plan reads its cache and asks no recommender.

    Attributes:
        tests: The tests whose calls are known.
        unplanned: The tests whose calls are not known.
    """

    def __init__(self, run: Run) -> None:
        self.tests: list[PlannedTest] = []
        self.unplanned: list[UnplannedTest] = []
        self._run = run

    def to_make(self) -> dict[str, list[tuple[Subject, Call]]]:
        """The distinct calls that have no answer yet, by the name of their model, in order."""
        wanted: dict[str, list[tuple[Subject, Call]]] = {}
        for test, call, is_new, answer in self._calls():
            if is_new and answer is None:
                wanted.setdefault(test.subject.name, []).append((test.subject, call))
        return wanted

    def counts(self) -> dict[tuple[str, str], Count]:
        """The calls of the tests, by suite and model; a call counts where it comes first."""
        prices = Prices.load(self._run.settings.prices)
        counts: dict[tuple[str, str], Count] = {}
        known: dict[str, _Tally] = {}
        for test in self.tests:
            counts.setdefault((test.suite, test.subject.name), Count()).tests += 1
        for test, call, is_new, answer in self._calls():
            name = test.subject.name
            count = counts[test.suite, name]
            count.calls += 1
            count.price = prices.of(name, call.content["model"])
            if not is_new:
                count.duplicates += 1
            elif answer is not None:
                count.cached += 1
                known.setdefault(name, _Tally()).add(call, answer)
            else:
                count.to_make += 1
                prompt, counted = tokens.prompt_tokens(test.subject, call)
                count.prompt_tokens += prompt
                count.counted &= counted
                most = tokens.most_output(call)
                if most is None or count.output_tokens is None:
                    count.output_tokens = None
                else:
                    count.output_tokens += most
        for (_, name), count in counts.items():
            tally = known.get(name)
            if not count.counted and tally is not None and tally.estimated:
                count.calibrated = True
                ratio = tally.reported / tally.estimated
                count.prompt_tokens = round(count.prompt_tokens * ratio)
        return counts

    def _calls(self) -> Iterator[tuple[PlannedTest, Call, bool, Answer | None]]:
        """Each call with its test, whether it is the first of its key, and the cached answer."""
        seen: set[str] = set()
        for test in self.tests:
            for call in test.calls():
                is_new = call.key not in seen
                seen.add(call.key)
                yield test, call, is_new, self._answer(test.subject, call) if is_new else None

    def _answer(self, subject: Subject, call: Call) -> Answer | None:
        if not subject.durable or self._run.settings.mode == "refresh":
            return None
        return self._run.cache.get(call.key)


@dataclass
class _Tally:
    """Prompt tokens of cached answers: the reported number, and the estimated number."""

    reported: int = 0
    estimated: int = 0

    def add(self, call: Call, answer: Answer) -> None:
        usage = answer.get("usage")
        if usage is not None and call.prompt is not None:
            self.reported += usage[0]
            self.estimated += tokens.estimated(call.prompt)
