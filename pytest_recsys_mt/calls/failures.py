"""What users' code raised in a run, each traceback once, however many calls failed so."""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from pytest_recsys_mt.calls.call import Call
from pytest_recsys_mt.calls.subject import FAILURES, failure
from pytest_recsys_mt.errors import NotApplicable, OwnCodeError, RecsysError

Told = dict[str, str]
"""A failure as a test report carries it: ``key``, ``model``, ``error``, ``asked``, ``traceback``."""


@dataclass
class Failure:
    """Calls that failed at the same lines of code.

    Attributes:
        key: The same for the same lines and recommender, on every worker.
        model: Whose code it is.
        error: Of the first call, in one line.
        asked: What the first call asked.
        traceback: Of the first call.
        calls: How many failed so.
        users: Whose they were.
    """

    key: str
    model: str
    error: str
    asked: str
    traceback: str
    calls: int = 0
    users: set[str] = field(default_factory=set)

    def told(self) -> Told:
        """As plain data."""
        many = f"{len(self.users)} users" if len(self.users) > 1 else f"{self.calls} calls"
        asked = f"asked for {self.asked}" if self.asked else ""
        alike = f"{many} failed so" if self.calls > 1 else ""
        return {
            "key": self.key,
            "model": self.model,
            "error": self.error,
            "asked": "; ".join(filter(None, (asked, alike))),
            "traceback": self.traceback,
        }


class Failures:
    """Knows each failure by its one-line error, which is what tests tell of it."""

    def __init__(self) -> None:
        self._by_key: dict[str, Failure] = {}
        self._by_error: dict[tuple[str, str], Failure] = {}

    def add(self, model: str, answer: Mapping[str, str], call: Call | None = None) -> None:
        """Take note of a failed answer, if it has a traceback.

        Args:
            model: Whose answer it is.
            answer: With its ``error`` and ``traceback``.
            call: What was asked; None for what is no call.
        """
        error, traceback = answer["error"], answer.get("traceback")
        if not traceback:
            return
        places = [line for line in traceback.splitlines() if line.startswith('  File "')]
        alike = "\n".join([model, error.partition(":")[0], *places])
        key = hashlib.sha256(alike.encode("utf-8", "replace")).hexdigest()
        if key not in self._by_key:
            asked = "" if call is None else call.summary
            self._by_key[key] = Failure(key, model, error, asked, traceback)
        failure = self._by_error[model, error] = self._by_key[key]
        failure.calls += 1
        if call is not None and call.request is not None:
            failure.users.add(call.request.user)

    @contextlib.contextmanager
    def outside_calls(self, model: str, what: str) -> Iterator[None]:
        """Take note of what users' code raises inside, where it answers no call.

        Args:
            model: Whose code it is.
            what: That is run, for the message.

        Raises:
            OwnCodeError: If it raises.
        """
        try:
            yield
        except (NotApplicable, RecsysError):
            raise
        except FAILURES as error:
            told = failure(error)
            self.add(model, told)
            raise OwnCodeError(f"{what} raised {told['error']}") from error

    def named_in(self, text: str, model: str) -> list[Told]:
        """The failures whose error stands in what a test says, each once.

        Args:
            text: What the test says.
            model: Whom it tests. Where others failed with the same words, theirs are left out, unless
                the text names them.
        """
        found = {id(each): each for (_, error), each in self._by_error.items() if error in text}
        known = [each for each in found.values() if each.model == model or each.model in text]
        return [failure.told() for failure in known or found.values()]
