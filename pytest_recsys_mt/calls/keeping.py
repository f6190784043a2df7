"""What of the answers of a run is on disk, so that a later run finds it there."""

import contextlib
from collections.abc import Mapping, Sequence
from itertools import compress

from pytest_recsys_mt.calls.answer import Answer
from pytest_recsys_mt.calls.cache import AnswerCache
from pytest_recsys_mt.calls.call import Call
from pytest_recsys_mt.calls.causes import BESIDE
from pytest_recsys_mt.calls.subject import Subject
from pytest_recsys_mt.errors import CacheError, MissingAnswerError


class Keeping:
    """Writes answers to disk, and remembers whether all that can be stored is there.

    Attributes:
        kept: Whether answers were stored: empty without answers, both values if only some were.
    """

    def __init__(self, cache: AnswerCache) -> None:
        self._cache = cache
        self.kept: set[bool] = set()

    def write(self, subject: Subject, answers: Sequence[tuple[Call, Answer]]) -> str:
        """Write the answers to disk; returns which could not be written, and why."""
        keep = ["error" not in answer for _, answer in answers]
        # A search for the smallest example asks much that fails; no status needs it.
        self.kept.update(
            kept
            for kept, (call, _) in zip(keep, answers, strict=True)
            if call.purpose not in BESIDE
        )
        left = list(compress(answers, keep))
        try:
            with self._cache.together():
                for call, answer in left:
                    self._cache.put(call.key, call.content, answer)
            return ""
        except CacheError as error:
            reason = str(error)
        self.kept.add(False)
        with contextlib.suppress(CacheError):
            while left:  # one by one, until the disk is full
                call, answer = left[0]
                self._cache.put(call.key, call.content, answer)
                del left[0]
        return f"{len(left)} answers of {subject.name} are kept for this run only: {reason}"

    def refusal(self, subject: Subject) -> str:
        """Why no answer of `subject` can be written to disk: no further answer is paid for."""
        reason = self._cache.unwritable
        return f"answers cannot be kept: {reason}" if subject.durable and reason else ""


def missing(subject: Subject, calls: Sequence[Call]) -> MissingAnswerError:
    """The error of a replay that lacks these calls."""
    shown = [f"  {call.label}, key {call.key[:12]}" for call in calls[:5]]
    if len(calls) > len(shown):
        shown.append(f"  and {len(calls) - len(shown)} more")
    model = calls[0].content.get("model")
    host = model.get("host") if isinstance(model, Mapping) else None
    if host is not None:
        shown.append(
            f"  (searched for answers from {host}; if the recording used another address, set "
            f"OPENAI_BASE_URL to that address)"
        )
    return MissingAnswerError(
        f"{len(calls)} answers of {subject.name} are not recorded, and --recsys-mode=replay asks "
        f"nothing; record them once with --recsys-mode=auto and the same options:\n"
        + "\n".join(shown)
    )
