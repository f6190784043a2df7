"""Why no more calls are sent to a recommender."""

import os
import threading

from pytest_recsys_mt.calls.answer import Answer
from pytest_recsys_mt.calls.bill import Bill
from pytest_recsys_mt.calls.keeping import Keeping
from pytest_recsys_mt.calls.subject import Subject

interrupted = threading.Event()
"""Set by a signal to stop. Whatever catches the exception that it raises, no more calls are sent."""

_UNREADABLE = "no answer came that could be read"


class Stopping:
    """Knows when a limit is reached, the disk takes no more, or the run that began this worker is gone."""

    def __init__(self, bill: Bill, keeping: Keeping) -> None:
        self._bill = bill
        self._keeping = keeping
        self._started_by = os.getppid() if "PYTEST_XDIST_WORKER" in os.environ else None
        self._outcomes: dict[str, list[str]] = {}
        self._ends: dict[str, str] = {}

    def note(self, subject: Subject, answer: Answer) -> None:
        """Remember how a call of `subject` ended."""
        reason = _UNREADABLE if "lost" in answer else answer.get("error", "")
        self._outcomes.setdefault(subject.name, []).append(reason)

    def reason(self, subject: Subject) -> str:
        """Why no more calls are sent to `subject`; empty while calls are sent."""
        if interrupted.is_set():
            return "the run was told to stop"
        if self._started_by not in (None, os.getppid()):
            return "the process that started this worker has ended"
        return self._keeping.refusal(subject) or self._bill.reached

    def final(self, subject: Subject) -> str:
        """As `reason`, with the most common failure, once the calls in flight have ended."""
        ended, outcomes = self.reason(subject), self._outcomes.get(subject.name, [])
        failed = list(filter(None, outcomes))
        if ended and 2 * len(failed) > len(outcomes):
            said = next((reason for reason in failed if reason != _UNREADABLE), _UNREADABLE)
            ended += f", mostly by calls that failed ({said})"
        # All calls that are not sent share one reason.
        return ended and self._ends.setdefault(subject.name, ended)
