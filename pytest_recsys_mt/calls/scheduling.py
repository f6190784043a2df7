"""Whether calls are sent, when, and by which worker of a run."""

from __future__ import annotations

import contextlib
import enum
import math
import os
import threading
from collections.abc import Iterator, Sequence
from typing import NamedTuple, Protocol

from pytest_recsys_mt.calls import tokens
from pytest_recsys_mt.calls.answer import Answer, usage_of
from pytest_recsys_mt.calls.cache import AnswerCache
from pytest_recsys_mt.calls.call import Call
from pytest_recsys_mt.calls.day_account import Accounts
from pytest_recsys_mt.calls.keeping import Keeping
from pytest_recsys_mt.calls.limits import Budget
from pytest_recsys_mt.calls.prices import SubjectPrices, usd_of
from pytest_recsys_mt.calls.progress import Progress
from pytest_recsys_mt.calls.subject import Subject
from pytest_recsys_mt.requests import Usage


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


interrupted = threading.Event()
"""Set by a signal to stop. Whatever catches the exception
that it raises, no more calls are sent.
"""

_UNREADABLE = "no answer came that could be read"


class Stopping:
    """Knows when a limit is reached, the disk takes no more, or
    the run that began this worker is gone.
    """

    def __init__(self, spending: Spending, keeping: Keeping) -> None:
        self._spending = spending
        self._keeping = keeping
        self._started_by = os.getppid() if "PYTEST_XDIST_WORKER" in os.environ else None
        # By the name of the subject: why each call failed, empty where it did not.
        self._reasons_by_subject: dict[str, list[str]] = {}
        self._final_by_subject: dict[str, str] = {}

    def note(self, subject: Subject, answer: Answer) -> None:
        """Remember how a call of `subject` ended."""
        reason = _UNREADABLE if "lost" in answer else answer.get("error", "")
        self._reasons_by_subject.setdefault(subject.name, []).append(reason)

    def reason(self, subject: Subject) -> str:
        """Why no more calls are sent to `subject`; empty while calls are sent."""
        if interrupted.is_set():
            return "the run was told to stop"
        # A process whose parent has ended gets another one.
        if self._started_by is not None and self._started_by != os.getppid():
            return "the process that started this worker has ended"
        refusal = self._keeping.refusal if subject.durable else ""
        return refusal or self._spending.reached

    def final(self, subject: Subject) -> str:
        """As `reason`, with the most common failure, once
        the calls in flight have ended.
        """
        stopped = self.reason(subject)
        if not stopped:
            return ""
        # All calls that are not sent share one reason.
        if subject.name not in self._final_by_subject:
            self._final_by_subject[subject.name] = stopped + self._common_failure(
                subject,
            )
        return self._final_by_subject[subject.name]

    def _common_failure(self, subject: Subject) -> str:
        """Why calls of `subject` failed, if most of them did;
        it goes behind the reason to stop.
        """
        reasons = self._reasons_by_subject.get(subject.name, [])
        failed = [reason for reason in reasons if reason]
        if 2 * len(failed) <= len(reasons):
            return ""
        readable = [reason for reason in failed if reason != _UNREADABLE]
        shown = readable[0] if readable else _UNREADABLE
        return f", mostly by calls that failed ({shown})"


class UnknownError(Exception):
    """Answers are missing, and no calls may be sent now."""


class Decision(enum.Enum):
    """The next step of the executor with calls that have no answer."""

    SEND = enum.auto()
    LOOK_AGAIN = enum.auto()


class Scheduler(Protocol):
    """Decides when calls without an answer are sent."""

    def decide(self, subject: Subject | None, calls: Sequence[Call]) -> Decision:
        """Whether the executor sends calls, or looks for their answers again; may wait
        until those have arrived.

        Args:
            subject: Their subject; None if they cannot be sent with others.
            calls: The calls, at least one.
        """
        ...

    def settles(self) -> bool:
        """Wait until no other calls are in progress; returns whether
        there was anything to wait for.
        """
        ...


class SendNow:
    """Sends all calls at once."""

    def decide(self, subject: Subject | None, calls: Sequence[Call]) -> Decision:
        """See `Scheduler`."""
        return Decision.SEND

    def settles(self) -> bool:
        """See `Scheduler`."""
        return False


class OnlyKnown:
    """Sends no calls."""

    def decide(self, subject: Subject | None, calls: Sequence[Call]) -> Decision:
        """Raises `UnknownError`: the calls have no answer."""
        raise UnknownError(f"{len(calls)} answers are missing")

    def settles(self) -> bool:
        """See `Scheduler`."""
        return False


class Turns:
    """Holds the scheduler of the calls, and lets one worker of the run at a time send
    them.

    Args:
        cache: The answers on disk, whose folder has the locks.
        keeping: Writes answers to disk.
        budget: The limits of the run; None without limits.
        progress: Shows that this worker waits for another, and what the run has spent.

    Attributes:
        scheduler: Decides when calls are sent.
    """

    def __init__(
        self,
        cache: AnswerCache,
        keeping: Keeping,
        budget: Budget | Accounts | None,
        progress: Progress,
    ) -> None:
        self.scheduler: Scheduler = SendNow()
        self._cache = cache
        self._keeping = keeping
        self._budget = budget
        self._progress = progress

    @contextlib.contextmanager
    def decided_by(self, scheduler: Scheduler) -> Iterator[None]:
        """Within it, another scheduler decides."""
        outer = self.scheduler
        self.scheduler = scheduler
        try:
            yield
        finally:
            self.scheduler = outer

    @contextlib.contextmanager
    def alone(self, subject: Subject) -> Iterator[None]:
        """Within it, no other worker of the run sends calls that
        this one may send, or spends its budget.
        """
        budget = self._budget
        with contextlib.ExitStack() as stack:
            if budget is not None or subject.durable:
                lock = subject.name if budget is None else "spent"
                with self._progress.doing(
                    f"waits for another process that asks {subject.name}",
                ):
                    stack.enter_context(self._cache.lock(lock))
            if subject.durable:
                self._keeping.begin()
            if budget is not None:
                budget.open()
                self._progress.spent(budget.calls, budget.usd)
                stack.callback(budget.close)
            yield
