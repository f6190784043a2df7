"""Whether the limits of the run allow further calls, and what calls use of them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from pytest_recsys_mt.calls import tokens
from pytest_recsys_mt.calls.answer import Answer, usage_of
from pytest_recsys_mt.calls.call import Call
from pytest_recsys_mt.calls.day_account import Accounts
from pytest_recsys_mt.calls.limits import Budget
from pytest_recsys_mt.calls.prices import SubjectPrices, usd_of
from pytest_recsys_mt.requests import Usage

if TYPE_CHECKING:
    from pytest_recsys_mt.calls.subject import Subject


class _Amount(NamedTuple):
    """The tokens and USD of a call, or their bounds; infinity without a bound."""

    tokens: float
    usd: float

    def raised_to(self, other: _Amount) -> _Amount:
        """The larger of both in tokens and in USD."""
        return _Amount(max(self.tokens, other.tokens), max(self.usd, other.usd))


class Spending:
    """Holds the calls of one process to the limits of the run.

    Args:
        prices: The prices of the recommenders.
        budget: The limits of the run; None without limits.
    """

    def __init__(
        self,
        prices: SubjectPrices,
        budget: Budget | Accounts | None,
    ) -> None:
        self._prices = prices
        self._budget = budget
        self._planned_by_key: dict[str, _Amount] = {}
        self._largest_by_subject: dict[str, _Amount] = {}

    @property
    def is_limited(self) -> bool:
        """Whether the run has limits, which are checked before each batch."""
        return self._budget is not None

    @property
    def reached(self) -> str:
        """The limit of the run that is reached, in words; empty if none is reached."""
        if self._budget is None:
            return ""
        return self._budget.reached

    def room(self, subject: Subject, calls: Sequence[Call]) -> int:
        """How many of the next calls may be sent at once; see `Budget.room`."""
        if self._budget is None:
            return len(calls)
        if subject.streams:
            calls = calls[: self._budget.at_once]
        return self._budget.room(self._expected(subject, call) for call in calls)

    def reserve(self, subject: Subject, calls: Sequence[Call]) -> None:
        """Count the next calls towards the limits of the run,
        in case this process dies with them.
        """
        if self._budget is None:
            return
        expected = (self._expected(subject, call) for call in calls)
        self._budget.reserve(expected, subject.name)

    def unpriced(self, subject: Subject, calls: Sequence[Call]) -> str:
        """Why calls cannot be held to a limit in USD; empty if they can."""
        if self._budget is None:
            return ""
        limits = self._budget.limits
        if limits.usd is None or not limits.every_price:
            return ""
        if self._prices.of(subject, calls[0]) is not None:
            return ""
        return (
            f"the price of {subject.name} is not known, so --recsys-max-usd cannot limit its cost; give "
            f"the price in a TOML file: --recsys-prices=FILE"
        )

    def spend(self, subject: Subject, call: Call, answer: Answer) -> None:
        """Count a call, or an attempt at it, towards the limits of the run."""
        if self._budget is None:
            return
        spent = self._spent(subject, call, answer)
        largest = self._largest_by_subject.get(subject.name, _Amount(0, 0.0))
        self._largest_by_subject[subject.name] = largest.raised_to(spent)
        # A lost attempt is followed by another result of the same call, which counts as
        # the call.
        calls = 0 if "lost" in answer else 1
        self._budget.spend(spent.tokens, spent.usd, calls=calls, model=subject.name)

    def _spent(
        self,
        subject: Subject,
        call: Call,
        answer: Answer | None = None,
    ) -> _Amount:
        """The amount of a call as reported; its bound, if
        nothing is reported or before its answer.
        """
        usage = None if answer is None else usage_of(answer)
        if usage is None:
            most = tokens.most(subject, call, answer)
            usage = Usage(most.prompt, most.output)
        price = self._prices.of(subject, call)
        usd = 0.0 if price is None else usd_of(price, usage)
        return _Amount(usage.prompt_tokens + usage.completion_tokens, usd)

    def _expected(self, subject: Subject, call: Call) -> _Amount:
        """The bound of a call: as planned, or as the largest
        call of its subject if that took more.
        """
        largest = self._largest_by_subject.get(subject.name)
        if call.prompt is None and largest is None:
            price = self._prices.of(subject, call)
            if price is None or not price.is_free:
                # The cost is unknown, so the call is sent alone.
                return _Amount(math.inf, math.inf)
        if call.key not in self._planned_by_key:
            self._planned_by_key[call.key] = self._spent(subject, call)
        planned = self._planned_by_key[call.key]
        if largest is None:
            return planned
        return planned.raised_to(largest)
