"""What each call cost, and whether the limits of the run allow further ones."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Literal, TypedDict

from pytest_recsys_mt.calls import tokens
from pytest_recsys_mt.calls.answer import Answer, usage_of
from pytest_recsys_mt.calls.call import Call
from pytest_recsys_mt.calls.causes import Caused, Causes
from pytest_recsys_mt.calls.day_account import Accounts
from pytest_recsys_mt.calls.limits import Budget
from pytest_recsys_mt.calls.prices import Price, Prices
from pytest_recsys_mt.requests import Usage, is_cut_off

if TYPE_CHECKING:
    from pytest_recsys_mt.calls.subject import Subject

State = Literal["made", "cached", "failed"]
"""Whether a call was answered in this run, by an earlier one, or not at all."""

RANK: Mapping[str, int] = {"made": 2, "cached": 1, "failed": 0}
"""If workers disagree on the state of a call, the state of the highest rank counts for the run."""


@dataclass(frozen=True, slots=True)
class CallFact:
    """The result of one call in this run, or of one attempt at it."""

    state: State
    prompt_tokens: int = 0
    completion_tokens: int = 0
    usd: float | None = 0.0  # what it cost in this run; None if unknown
    cut_off: bool = False  # by something other than the model
    again: bool = False
    at_most: float | None = 0.0  # the most it may have cost; None if there is no upper bound
    reasoning_tokens: int = 0
    cached_tokens: int = 0
    sent: bool = True  # an attempt that was refused, or given up before, cannot have been billed


_FIELDS = attrgetter(*(field.name for field in fields(CallFact)))

Counted = Sequence[Any]
"""The fields of a `CallFact` in their order, as test reports carry them."""


class Drained(TypedDict):
    """News of a process as plain data: facts on its calls, and who asked, also for calls of others."""

    calls: dict[str, list[Counted]]
    causes: list[Caused]


def of_one_call(facts: Sequence[Counted]) -> list[CallFact]:
    """The facts that count among all facts on one call; the last fact is its result.

    Every failed attempt counts: the worker that reports it made it. An answer counts once, even if
    several workers report it.
    """
    known = sorted((CallFact(*fact) for fact in facts), key=lambda fact: RANK[fact.state])
    final = max(known, key=lambda fact: (RANK[fact.state], fact.usd is None, fact.prompt_tokens))
    failed = [fact for fact in known if fact.state == "failed"]
    return failed if final.state == "failed" else [*failed, final]


class Bill:
    """Counts the calls of one process and what they cost."""

    def __init__(self, prices: Prices, budget: Budget | Accounts | None, causes: Causes) -> None:
        self._prices = prices
        self._budget = budget
        self.causes = causes
        self._price_of: dict[str, Price | None] = {}
        self._facts: dict[str, list[CallFact]] = {}
        self._expected: dict[str, tuple[int, float]] = {}
        self._largest: dict[str, tuple[int, float]] = {}

    @property
    def reached(self) -> str:
        """The limit of the run that is reached, in words; empty if none is reached."""
        return "" if self._budget is None else self._budget.reached

    def room(self, subject: Subject, calls: Sequence[Call]) -> int:
        """How many of the next calls may be sent at once; see `Budget.room`."""
        if self._budget is None:
            return len(calls)
        together = calls[: self._budget.at_once] if subject.streams else calls
        return self._budget.room(self._expect(subject, call) for call in together)

    def reserve(self, subject: Subject, calls: Sequence[Call]) -> None:
        """Count the next calls towards the limits of the run, in case this process dies with them."""
        if self._budget is not None:
            self._budget.reserve((self._expect(subject, call) for call in calls), subject.name)

    def unpriced(self, subject: Subject, calls: Sequence[Call]) -> str:
        """Why calls cannot be held to a limit in USD; empty if they can."""
        limits = None if self._budget is None else self._budget.limits
        if limits is None or limits.usd is None or not limits.every_price:
            return ""
        if self._price(subject, calls[0]) is not None:
            return ""
        return (
            f"the price of {subject.name} is not known, so --recsys-max-usd cannot limit its cost; give "
            f"the price in a TOML file: --recsys-prices=FILE"
        )

    def found(self, call: Call, answer: Answer) -> None:
        """Record an answer of an earlier run."""
        self._facts.setdefault(call.key, []).append(_fact(call, answer, "cached", 0.0, 0.0))

    def spend(self, subject: Subject, call: Call, answer: Answer) -> None:
        """Count a call, or an attempt at it, towards the limits of the run."""
        if self._budget is None:
            return
        spent = self._spent(subject, call, answer)
        largest = self._largest.get(subject.name, (0, 0.0))
        self._largest[subject.name] = (max(largest[0], spent[0]), max(largest[1], spent[1]))
        self._budget.spend(*spent, calls="lost" not in answer, model=subject.name)

    def note(self, subject: Subject, call: Call, answer: Answer, state: State) -> CallFact:
        """Record the result of a call, or of an attempt at it, that this run pays for."""
        price, usage = self._price(subject, call), usage_of(answer)
        usd = at_most = None
        if price is not None and price.is_free:
            usd = at_most = 0.0
        elif price is not None and usage is not None:
            usd = at_most = _usd(price, usage)
        elif price is not None:
            prompt, output, known = tokens.most(subject, call, answer)
            at_most = price.usd(prompt, output) if known else None
        elif usage == Usage():  # no tokens cost nothing, whatever the price
            usd = at_most = 0.0
        fact = _fact(call, answer, state, usd, at_most)
        self._facts.setdefault(call.key, []).append(fact)
        return fact

    def give_up(self, call: Call) -> None:
        """Count what was made of a call as a failed attempt, for another answer to come."""
        facts = self._facts.get(call.key, [])
        facts[:] = [
            replace(each, state="failed") if each.state == "made" else each for each in facts
        ]

    def drain(self) -> Drained:
        """The facts and the causes of the calls since the last drain."""
        facts, self._facts = self._facts, {}
        return {
            "calls": {key: [list(_FIELDS(fact)) for fact in each] for key, each in facts.items()},
            "causes": self.causes.drain(),
        }

    def _price(self, subject: Subject, call: Call) -> Price | None:
        if subject.name not in self._price_of:
            self._price_of[subject.name] = self._prices.of(subject.name, call.content["model"])
        return self._price_of[subject.name]

    def _spent(
        self, subject: Subject, call: Call, answer: Answer | None = None
    ) -> tuple[int, float]:
        price, usage = self._price(subject, call), usage_of(answer or {})
        usage = usage or Usage(*tokens.most(subject, call, answer)[:2])
        spent = usage.prompt_tokens + usage.completion_tokens
        return spent, 0.0 if price is None else _usd(price, usage)

    def _expect(self, subject: Subject, call: Call) -> tuple[float, float]:
        """The tokens and the USD that a call may take: the planned or the largest, if larger."""
        price, largest = self._price(subject, call), self._largest.get(subject.name)
        if call.prompt is None and largest is None and not (price and price.is_free):
            return math.inf, math.inf  # the cost is unknown, so the call is sent alone
        if call.key not in self._expected:
            self._expected[call.key] = self._spent(subject, call)
        planned = self._expected[call.key]
        return planned if largest is None else (
            max(planned[0], largest[0]), max(planned[1], largest[1]),
        )  # fmt: skip


def _fact(
    call: Call, answer: Answer, state: State, usd: float | None, at_most: float | None
) -> CallFact:
    said = usage_of(answer)
    used, sent = said or Usage(), not ("error" in answer and said == Usage())
    cut_off = is_cut_off(answer.get("finish_reason"))
    return CallFact(
        state, used.prompt_tokens, used.completion_tokens, usd, cut_off, call.again, at_most,
        used.reasoning_tokens, used.cached_tokens, sent,
    )  # fmt: skip


def _usd(price: Price, usage: Usage) -> float:
    return price.usd(usage.prompt_tokens, usage.completion_tokens, usage.cached_tokens)
