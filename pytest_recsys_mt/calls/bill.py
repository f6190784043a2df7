"""The bill of the calls of one process: what each cost, and which test needs it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypedDict

from pytest_recsys_mt.calls import timing, tokens
from pytest_recsys_mt.calls.answer import Answer, usage_of
from pytest_recsys_mt.calls.call import CONTROL, PURPOSES, Call, Purpose
from pytest_recsys_mt.calls.prices import SubjectPrices, usd_of
from pytest_recsys_mt.calls.timing import Took
from pytest_recsys_mt.requests import Usage, is_cut_off

if TYPE_CHECKING:
    from pytest_recsys_mt.calls.subject import Subject

LAST = 2**20
"""More than the number of tests of a run: a control counts
for a test only if no test sends the same call.
"""


class Cause(NamedTuple):
    """The test that needs a call. Of several causes the smallest counts: that of the
    first test.

    Attributes:
        place: The place of the test among the tests of the run; infinity after the last
            test.
        purpose: The place of the purpose in `PURPOSES`.
        suite: The suite of the test; empty after the last test.
        model: The name of the recommender.
    """

    place: float
    purpose: int
    suite: str
    model: str


Caused = tuple[Sequence[Any], list[str]]
"""The fields of a `Cause` and the keys of its calls, as test reports carry them."""


class Causes:
    """Notes the causes of the calls of one process.

    Which test sends a call first depends on the order in which answers arrive and on
    the number of workers. So each test that uses a call names its cause, and the
    smallest counts.
    """

    def __init__(self) -> None:
        self._known: dict[str, Cause] = {}
        self._news: dict[str, Cause] = {}
        self.end()

    def begin(self, place: int, suite: str) -> None:
        """From now on a test sends calls: the one at `place` in the run, of `suite`."""
        self._test: tuple[float, str] = (place, suite)

    def end(self) -> None:
        """From now on no test sends calls."""
        self._test = (math.inf, "")

    def add(self, model: str, keys: Iterable[str], purpose: Purpose) -> None:
        """Note that the current test uses calls to `model`."""
        place, suite = self._test
        if purpose == CONTROL:
            place += LAST
        cause = Cause(place, PURPOSES.index(purpose), suite, model)
        for key in keys:
            known = self._known.get(key)
            if known is None or cause < known:
                self._known[key] = cause
                self._news[key] = cause

    def drain(self) -> list[Caused]:
        """The causes that are new since the last drain, or smaller than before."""
        keys_by_cause: dict[Cause, list[str]] = {}
        for key, cause in self._news.items():
            keys_by_cause.setdefault(cause, []).append(key)
        self._news = {}
        return [(list(cause), keys) for cause, keys in keys_by_cause.items()]


State = Literal["made", "cached", "failed"]
"""Whether a call was answered in this run, by an earlier one, or not at all."""

RANK: Mapping[str, int] = {"made": 2, "cached": 1, "failed": 0}
"""If workers disagree on the state of a call, the state
of the highest rank counts for the run.
"""


@dataclass(frozen=True, slots=True)
class CallFact:
    """The result of one call in this run, or of one attempt at it.

    Attributes:
        state: See `State`.
        prompt_tokens: Tokens of the prompt, as reported; 0 if unknown.
        completion_tokens: Tokens of the answer, as reported; 0 if unknown.
        usd: Its cost in this run; None if unknown.
        cut_off: Whether the answer was ended by something other than the model.
        again: Whether the call checks for changed answers; see `Call.again`.
        at_most: The most it may have cost, in USD; None if there is no upper bound.
        reasoning_tokens: Those of the completion tokens that were spent on thinking.
        cached_tokens: Those of the prompt tokens that came from the provider's cache.
        sent: False for an attempt that was refused, or given up before it was sent: it
            cannot have been billed.
        kind: What it asks for; see `timing.Kind`.
        timing: What is known of its time; see `timing.State`.
        seconds: Its time, or its share in that of a batch; None if unknown.
        refused: Whether the endpoint refused an attempt at it before it was answered.
    """

    state: State
    prompt_tokens: int = 0
    completion_tokens: int = 0
    usd: float | None = 0.0
    cut_off: bool = False
    again: bool = False
    at_most: float | None = 0.0
    reasoning_tokens: int = 0
    cached_tokens: int = 0
    sent: bool = True
    kind: str = ""
    timing: str = "unmeasured"
    seconds: float | None = None
    refused: bool = False


_FACT_VALUES = attrgetter(*(field.name for field in fields(CallFact)))

Counted = Sequence[Any]
"""The fields of a `CallFact` in their order, as test reports carry them."""


class Drained(TypedDict):
    """News of a process as plain data: facts on its calls,
    and the causes, also of calls that other processes sent.
    """

    calls: dict[str, list[Counted]]
    causes: list[Caused]


def of_one_call(facts: Sequence[Counted]) -> list[CallFact]:
    """The facts that count among all facts on one call; the last fact is its result.

    Every failed attempt counts: the worker that reports it made it. An answer counts
    once, even if several workers report it.
    """
    call_facts = [CallFact(*fact) for fact in facts]
    call_facts.sort(key=lambda fact: RANK[fact.state])
    result = max(call_facts, key=_weight)
    failed = [fact for fact in call_facts if fact.state == "failed"]
    if result.state == "failed":
        return failed
    return [*failed, result]


def _weight(fact: CallFact) -> tuple[int, bool, int]:
    """Orders the facts on one call: the largest is its result.

    Of two workers' reports of one answer, the one that says more of its cost counts: an
    unknown cost must not be hidden by a known one.
    """
    return RANK[fact.state], fact.usd is None, fact.prompt_tokens


class _Cost(NamedTuple):
    """The cost of a call in USD, and its upper bound; None where it is unknown."""

    usd: float | None
    at_most: float | None


class Bill:
    """Counts the calls of one process and their cost.

    Args:
        prices: The prices of the recommenders.
        causes: Collects the causes of each call.
    """

    def __init__(self, prices: SubjectPrices, causes: Causes) -> None:
        self.causes = causes
        self._prices = prices
        self._facts_by_key: dict[str, list[CallFact]] = {}
        self._failed_keys: set[str] = set()

    def found(self, call: Call, answer: Answer) -> None:
        """Record an answer of an earlier run."""
        free = _Cost(usd=0.0, at_most=0.0)
        cached = Took("cached")
        self._record(call, _fact(call, answer, "cached", free, cached))

    def note(
        self,
        subject: Subject,
        call: Call,
        answer: Answer,
        state: State,
    ) -> CallFact:
        """Record the result of a call, or of an attempt at it, that this run pays for."""
        if state == "failed":
            self._failed_keys.add(call.key)
        known = self.took(subject, call.key, answer)
        fact = _fact(call, answer, state, self._cost(subject, call, answer), known)
        self._record(call, fact)
        return fact

    def took(self, subject: Subject, key: str, answer: Answer) -> Took:
        """What is known of the time of a call that this run sent."""
        failed_before = key in self._failed_keys
        return timing.took(answer, failed_before=failed_before, live=subject.live)

    def give_up(self, call: Call) -> None:
        """Count the attempts at a call as failed: another answer will follow."""
        facts = self._facts_by_key.get(call.key, [])
        for position, fact in enumerate(facts):
            if fact.state == "made":
                facts[position] = replace(fact, state="failed")
                self._failed_keys.add(call.key)

    def drain(self) -> Drained:
        """The facts and the causes of the calls since the last drain."""
        plain_facts: dict[str, list[Counted]] = {}
        for key, facts in self._facts_by_key.items():
            plain_facts[key] = [list(_FACT_VALUES(fact)) for fact in facts]
        self._facts_by_key = {}
        return {"calls": plain_facts, "causes": self.causes.drain()}

    def _record(self, call: Call, fact: CallFact) -> None:
        self._facts_by_key.setdefault(call.key, []).append(fact)

    def _cost(self, subject: Subject, call: Call, answer: Answer) -> _Cost:
        price = self._prices.of(subject, call)
        usage = usage_of(answer)
        if price is None:
            # Without tokens there is no cost at any price.
            usd = 0.0 if usage == Usage() else None
            return _Cost(usd, at_most=usd)
        if price.is_free:
            return _Cost(usd=0.0, at_most=0.0)
        if usage is not None:
            usd = usd_of(price, usage)
            return _Cost(usd, at_most=usd)
        most = tokens.most(subject, call, answer)
        at_most = price.usd(most.prompt, most.output) if most.is_bound else None
        return _Cost(usd=None, at_most=at_most)


def _fact(
    call: Call,
    answer: Answer,
    state: State,
    cost: _Cost,
    took: Took,
) -> CallFact:
    reported = usage_of(answer)
    usage = reported or Usage()
    # A failed call that reports a usage of zero was never sent; one without a usage may
    # have been.
    unsent = "error" in answer and reported == Usage()
    return CallFact(
        state=state,
        prompt_tokens=usage.prompt_tokens,
        completion_tokens=usage.completion_tokens,
        usd=cost.usd,
        cut_off=is_cut_off(answer.get("finish_reason")),
        again=call.again,
        at_most=cost.at_most,
        reasoning_tokens=usage.reasoning_tokens,
        cached_tokens=usage.cached_tokens,
        sent=not unsent,
        kind=timing.kind_of(call),
        timing=took.state,
        seconds=took.seconds,
        refused=took.refused,
    )
