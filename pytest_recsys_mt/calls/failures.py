"""The errors that users' code raised in a run, each
traceback once for all calls that raised it.
"""

import contextlib
import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field

from pytest_recsys_mt.calls.answer import FAILURES, Answer, failure
from pytest_recsys_mt.calls.call import Call
from pytest_recsys_mt.requests import Request
from pytest_recsys_mt.safety.errors import NotApplicable, OwnCodeError, RecsysError

ReportedFailure = dict[str, str]
"""A failure in a test report: ``key``, ``model``, ``error``,
``asked``, ``traceback``, ``smallest``.
"""


@dataclass
class Failure:
    """Calls that failed at the same lines of code.

    Attributes:
        key: The same for the same lines and recommender, on every worker; see `key_of`.
        model: The name of the recommender.
        error: The first error in a line.
        call: The call that raised it, in short; empty for code outside of calls.
        traceback: Of the first error.
        request: That of the call that raised it.
        smallest: The smallest request that raises it, in words and code; empty until it
            is found.
        calls: The number of calls that failed.
        users: The users of their requests.
    """

    key: str
    model: str
    error: str
    call: str
    traceback: str
    request: Request | None = None
    smallest: str = ""
    calls: int = 0
    users: set[str] = field(default_factory=set)

    def reported(self) -> ReportedFailure:
        """The failure as plain data for a test report."""
        sentences = []
        if self.call:
            sentences.append(f"asked for {self.call}")
        if self.calls > 1:
            users = len(self.users)
            failed = f"{users} users" if users > 1 else f"{self.calls} calls"
            sentences.append(f"{failed} failed with this error")
        return {
            "key": self.key,
            "model": self.model,
            "error": self.error,
            "asked": "; ".join(sentences),
            "traceback": self.traceback,
            "smallest": self.smallest,
        }


def key_of(model: str, answer: Answer) -> str:
    """The same for all answers of a recommender that failed at
    the same lines with one kind of error.
    """
    kind = answer.get("error", "").partition(":")[0]
    traceback = answer.get("traceback", "").splitlines()
    places = [line for line in traceback if line.startswith('  File "')]
    text = "\n".join([model, kind, *places])
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()


class Failures:
    """Finds each failure by its one-line error, which tests report."""

    def __init__(self) -> None:
        self._by_key: dict[str, Failure] = {}
        self._by_error: dict[tuple[str, str], Failure] = {}

    def add(self, model: str, answer: Answer, call: Call | None = None) -> None:
        """Record a failed answer, if it has a traceback;
        code outside a call has no `call`.
        """
        error = answer.get("error", "")
        traceback = answer.get("traceback")
        if not traceback:
            return
        key = key_of(model, answer)
        request = None if call is None else call.request
        if key not in self._by_key:
            summary = "" if call is None else call.summary
            self._by_key[key] = Failure(key, model, error, summary, traceback, request)
        failure = self._by_key[key]
        self._by_error[model, error] = failure
        failure.calls += 1
        if request is not None:
            failure.users.add(request.user)

    @contextlib.contextmanager
    def outside_calls(self, model: str, what: str) -> Iterator[None]:
        """Record an error that users' code raises inside, outside of
        any call, and raise it as an `OwnCodeError`.
        """
        try:
            yield
        except (NotApplicable, RecsysError):
            raise
        except FAILURES as error:
            answer = failure(error)
            self.add(model, answer)
            raise OwnCodeError(f"{what} raised {answer.get('error')}") from error

    def named_in(self, text: str, model: str) -> list[Failure]:
        """The failures whose error occurs in the text of a test, each once.

        Equal errors of other recommenders than `model` are left out, unless the text
        names these.
        """
        # Several errors may belong to one failure: other words at the same lines of
        # code.
        by_key = {
            each.key: each
            for (_, error), each in self._by_error.items()
            if error in text
        }
        named = list(by_key.values())
        of_model = [each for each in named if each.model == model or each.model in text]
        return of_model or named
