"""Why no more calls are sent to a recommender."""

import os
import threading

from pytest_recsys_mt.calls.answer import Answer
from pytest_recsys_mt.calls.keeping import Keeping
from pytest_recsys_mt.calls.spending import Spending
from pytest_recsys_mt.calls.subject import Subject

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
        return self._keeping.refusal(subject) or self._spending.reached

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
