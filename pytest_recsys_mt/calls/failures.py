"""The errors that users' code raised in a run, each traceback once for all calls that raised it."""

import contextlib
import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field

from pytest_recsys_mt.calls.answer import Answer, failure
from pytest_recsys_mt.calls.call import Call
from pytest_recsys_mt.calls.sending import FAILURES
from pytest_recsys_mt.errors import NotApplicable, OwnCodeError, RecsysError
from pytest_recsys_mt.requests import Request

Told = dict[str, str]
"""A failure in a test report: ``key``, ``model``, ``error``, ``asked``, ``traceback``, ``smallest``."""


@dataclass
class Failure:
    """Calls that failed at the same lines of code."""

    key: str  # the same for the same lines and recommender, on every worker
    model: str
    error: str
    asked: str
    traceback: str
    request: Request | None = None
    smallest: str = ""  # how to ask that again, in words and code; empty until it is found
    calls: int = 0
    users: set[str] = field(default_factory=set)

    def told(self) -> Told:
        """As plain data."""
        many = f"{len(self.users)} users" if len(self.users) > 1 else f"{self.calls} calls"
        asked = f"asked for {self.asked}" if self.asked else ""
        alike = f"{many} failed with this error" if self.calls > 1 else ""
        return {
            "key": self.key,
            "model": self.model,
            "error": self.error,
            "asked": "; ".join(filter(None, (asked, alike))),
            "traceback": self.traceback,
            "smallest": self.smallest,
        }


def key_of(model: str, answer: Answer) -> str:
    """The same for all answers of a recommender that failed at the same lines with one kind of error."""
    places = [
        line for line in answer.get("traceback", "").splitlines() if line.startswith('  File "')
    ]
    alike = "\n".join([model, answer.get("error", "").partition(":")[0], *places])
    return hashlib.sha256(alike.encode("utf-8", "replace")).hexdigest()


class Failures:
    """Finds each failure by its one-line error, which is what tests report."""

    def __init__(self) -> None:
        self._by_key: dict[str, Failure] = {}
        self._by_error: dict[tuple[str, str], Failure] = {}

    def add(self, model: str, answer: Answer, call: Call | None = None) -> None:
        """Record a failed answer, if it has a traceback; code outside a call has no `call`."""
        error, traceback = answer.get("error", ""), answer.get("traceback")
        if not traceback:
            return
        key = key_of(model, answer)
        if key not in self._by_key:
            asked, request = ("", None) if call is None else (call.summary, call.request)
            self._by_key[key] = Failure(key, model, error, asked, traceback, request)
        failure = self._by_error[model, error] = self._by_key[key]
        failure.calls += 1
        if call is not None and call.request is not None:
            failure.users.add(call.request.user)

    @contextlib.contextmanager
    def outside_calls(self, model: str, what: str) -> Iterator[None]:
        """Record what users' code raises inside, outside of any call, and raise it as an `OwnCodeError`."""
        try:
            yield
        except (NotApplicable, RecsysError):
            raise
        except FAILURES as error:
            told = failure(error)
            self.add(model, told)
            raise OwnCodeError(f"{what} raised {told.get('error')}") from error

    def named_in(self, text: str, model: str) -> list[Failure]:
        """The failures whose error occurs in the text of a test, each once.

        Equal errors of other recommenders than `model` are left out, unless the text names these.
        """
        found = {id(each): each for (_, error), each in self._by_error.items() if error in text}
        known = [each for each in found.values() if each.model == model or each.model in text]
        return known or list(found.values())
