"""When calls without an answer are sent, and which worker of a run sends them."""

import contextlib
import enum
from collections.abc import Iterator, Sequence
from typing import Protocol

from pytest_recsys_mt.calls.cache import AnswerCache
from pytest_recsys_mt.calls.call import Call
from pytest_recsys_mt.calls.day_account import Accounts
from pytest_recsys_mt.calls.keeping import Keeping
from pytest_recsys_mt.calls.limits import Budget
from pytest_recsys_mt.calls.progress import Progress
from pytest_recsys_mt.calls.subject import Subject


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
