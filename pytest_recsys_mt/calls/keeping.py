"""The answers of a run that are on disk, where a later run finds them."""

import os
from collections.abc import Mapping, Sequence

from pytest_recsys_mt.calls.answer import Answer
from pytest_recsys_mt.calls.cache import AnswerCache
from pytest_recsys_mt.calls.call import COUNTED_APART, Call
from pytest_recsys_mt.calls.disk_state import DiskState
from pytest_recsys_mt.calls.limits import account
from pytest_recsys_mt.calls.subject import Subject
from pytest_recsys_mt.safety.errors import CacheError, MissingAnswerError

SHORT = "memory is short"


class Keeping:
    """Writes answers to disk, holds those that it does not take, and remembers whether
    all that can be stored is there.

    Once an answer could not be written, no more are paid for, by any worker of the run.

    Args:
        cache: Where answers are stored.
        run: Name of the run, which its workers share.

    Attributes:
        any_storable: Whether an answer was found on disk, or arrived and can be stored
            there.
        any_missing: Whether a call has no answer that can be stored: it failed, or was
            not sent.
        held: Answers that are not on disk yet, with their calls and the names of their
            subjects.
    """

    def __init__(self, cache: AnswerCache, run: str) -> None:
        self._cache = cache
        self.any_storable = False
        self.any_missing = False
        self.held: list[tuple[str, Call, Answer]] = []
        self._refused = ""
        self._disk: DiskState | None = None
        if "PYTEST_XDIST_WORKER" in os.environ:
            spent = account(cache.directory, run)
            self._disk = DiskState(spent.with_name(f"{spent.stem}-disk"))

    def begin(self) -> None:
        """Prepare to write the answers of calls that are to be sent."""
        try:
            if self._disk is not None:
                self._disk.begin()
        except OSError as error:
            self._refused = _full(self._cache, error.strerror or str(error))

    def write(self, subject: Subject, answers: Sequence[tuple[Call, Answer]]) -> str:
        """Write the answers to disk; returns which could not be written, and why."""
        for call, answer in answers:
            is_storable = "error" not in answer
            # A search for the smallest example sends many calls that fail; no status
            # needs it.
            if call.purpose not in COUNTED_APART:
                self.any_storable |= is_storable
                self.any_missing |= not is_storable
            if is_storable:
                self.held.append((subject.name, call, answer))
        reason = self._write_held()
        return self._refuse(subject, reason) if reason else ""

    def hold(self, subject: Subject, answers: Sequence[tuple[Call, Answer]]) -> str:
        """Hold answers that memory was too short to write;
        returns which are held, and why.
        """
        known = {call.key for _, call, _ in self.held}
        for call, answer in answers:
            if "error" not in answer and call.key not in known:
                self.held.append((subject.name, call, answer))
        return self._refuse(subject, SHORT)

    def keep_rest(self) -> str:
        """Write at the end the answers that the disk did not take before; returns the
        result in words, empty if nothing was held.
        """
        held_before = len(self.held)
        if held_before == 0:
            return ""
        reason = self._write_held()
        if reason:
            left, verb = _counted(len(self.held))
            return f"{left} {verb} not stored, and the next run asks again: {reason}"
        written, verb = _counted(held_before)
        return f"{written} that the disk did not take at first {verb} stored now"

    @property
    def refusal(self) -> str:
        """Why no answer can be written to disk: no further answer of a
        recommender whose answers are kept is paid for.
        """
        reason = self._refused or self._cache.unwritable
        if not reason and self._disk is not None and self._disk.failed:
            reason = _full(self._cache, "another worker of this run failed to")
        if not reason:
            return ""
        return f"answers cannot be kept: {reason}"

    def _refuse(self, subject: Subject, reason: str) -> str:
        """Let nothing more be sent; returns how many answers of a
        recommender are not on disk, and why.
        """
        self._refused = reason
        if self._disk is not None:
            self._disk.fail()
        held_of_subject = [call for name, call, _ in self.held if name == subject.name]
        answers, verb = _counted(len(held_of_subject))
        return f"{answers} of {subject.name} {verb} kept for this run only: {reason}"

    def _write_held(self) -> str:
        """Write the held answers, in one transaction or as far as the disk takes them;
        returns why some is left.
        """
        if not self.held:
            return ""
        try:
            with self._cache.together():
                for _, call, answer in self.held:
                    self._cache.put(call.key, call.content, answer)
        except (CacheError, MemoryError):
            return self._write_some()
        self.held.clear()
        return ""

    def _write_some(self) -> str:
        """Write the held answers one by one, until the disk is
        full; returns why some is left.
        """
        try:
            while self.held:
                _, call, answer = self.held[0]
                self._cache.put(call.key, call.content, answer)
                del self.held[0]
        except (CacheError, MemoryError) as error:
            return str(error) or SHORT
        return ""


def _full(cache: AnswerCache, why: str) -> str:
    return (
        f"the folder {str(cache.directory)!r} cannot be written: {why}; free some space, fix the folder's permissions, or "
        f"name another folder with --recsys-cache"
    )


def missing(subject: Subject, calls: Sequence[Call]) -> MissingAnswerError:
    """The error of a replay that lacks these calls."""
    lines = [f"  {call.label}, key {call.key[:12]}" for call in calls[:5]]
    if len(calls) > len(lines):
        lines.append(f"  and {len(calls) - len(lines)} more")
    model = calls[0].content.get("model")
    host = model.get("host") if isinstance(model, Mapping) else None
    if host is not None:
        lines.append(
            f"  (searched for answers from {host}; if the recording used another address, set "
            f"OPENAI_BASE_URL to that address)",
        )
    return MissingAnswerError(
        f"{len(calls)} answers of {subject.name} are not recorded, and --recsys-mode=replay asks "
        f"nothing; record them once with --recsys-mode=auto and the same options:\n"
        + "\n".join(lines),
    )


def _counted(answers: int) -> tuple[str, str]:
    """How many answers in words, and the verb that follows."""
    return ("1 answer", "is") if answers == 1 else (f"{answers} answers", "are")
