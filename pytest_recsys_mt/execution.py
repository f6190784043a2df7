"""Execute: put each distinct call once, keep each answer as it arrives, count what was done."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from pytest_recsys_mt.cache import AnswerCache
from pytest_recsys_mt.calls import Call
from pytest_recsys_mt.errors import MissingAnswerError
from pytest_recsys_mt.settings import Mode
from pytest_recsys_mt.subject import Answer, Subject

State = Literal["made", "cached", "failed"]

Ask = Callable[[Subject, Sequence[Call]], Iterator[list[tuple[int, Answer]]]]
"""How calls are put: yields positions in the calls and their answers, as they arrive."""

RANK: Mapping[str, int] = {"made": 2, "cached": 1, "failed": 0}
"""Where workers differ on a call, the state of the highest rank is what happened in the run."""


@dataclass(frozen=True, slots=True)
class CallFact:
    """What became of one call in this run, and the tokens it took."""

    state: State
    prompt_tokens: int = 0
    completion_tokens: int = 0


class Executor:
    """Puts calls, at most once each in a run.

    Args:
        cache: Where answers are kept beyond the run.
        mode: ``auto`` takes an answer from the cache, else asks; ``replay`` never asks;
            ``refresh`` always asks.
        run: Name of this run, shared by its workers: an answer made in it is fresh for all.
        ask: How calls are put; without it, the subject asks its recommender in this process.
    """

    def __init__(self, cache: AnswerCache, mode: Mode, run: str, ask: Ask | None = None) -> None:
        self._cache = cache
        self._mode = mode
        self._run = run
        self._ask: Ask = ask or (lambda subject, calls: subject.ask(calls))
        self._answers: dict[str, Answer] = {}
        self._facts: dict[str, CallFact] = {}

    def execute(self, subject: Subject, calls: Sequence[Call]) -> list[Answer]:
        """The answers to `calls`, in their order; equal calls are put once.

        Raises:
            MissingAnswerError: In replay mode, if an answer is not in the cache.
            CacheError: If the cache cannot be read or written.
        """
        waiting = {call.key: call for call in calls if call.key not in self._answers}
        if subject.durable:
            self._take_from_cache(waiting)
            if waiting and self._mode == "replay":
                raise _missing(subject, list(waiting.values()))
            if waiting:
                with self._cache.lock(subject.name):
                    self._take_from_cache(waiting)
                    self._put(subject, list(waiting.values()))
        elif waiting:
            self._put(subject, list(waiting.values()))
        return [self._answers[call.key] for call in calls]

    def drain(self) -> dict[str, list[Any]]:
        """What became of the calls since the last drain, by key, as plain data."""
        facts, self._facts = self._facts, {}
        return {
            key: [fact.state, fact.prompt_tokens, fact.completion_tokens]
            for key, fact in facts.items()
        }

    def _take_from_cache(self, waiting: dict[str, Call]) -> None:
        for key in list(waiting):
            answer = self._cache.get(key)
            if answer is None:
                continue
            ours = answer.get("run") == self._run
            if self._mode == "refresh" and not ours:
                continue
            self._keep(key, answer, "made" if ours else "cached")
            del waiting[key]

    def _put(self, subject: Subject, calls: Sequence[Call]) -> None:
        if not calls:
            return
        for arrived in self._ask(subject, calls):
            answers = [
                (calls[position], answer if "error" in answer else {**answer, "run": self._run})
                for position, answer in arrived
            ]
            if subject.durable:
                with self._cache.together():
                    for call, answer in answers:
                        if "error" not in answer and not _is_empty(answer):
                            self._cache.put(call.key, call.content, answer)
            for call, answer in answers:
                self._keep(call.key, answer, "failed" if "error" in answer else "made")
        for call in calls:
            if call.key not in self._answers:
                self._keep(call.key, {"error": f"{subject.name} gave no answer"}, "failed")

    def _keep(self, key: str, answer: Answer, state: State) -> None:
        self._answers[key] = answer
        usage = answer.get("usage") or (0, 0)
        self._facts[key] = CallFact(state, *usage)


def _is_empty(answer: Answer) -> bool:
    text = answer.get("text")
    return not text.strip() if isinstance(text, str) else not answer.get("items")


def _missing(subject: Subject, calls: Sequence[Call]) -> MissingAnswerError:
    shown = [
        f"  user {call.request.user!r}, replicate {call.request.replicate}, key {call.key[:12]}"
        for call in calls[:5]
    ]
    if len(calls) > len(shown):
        shown.append(f"  and {len(calls) - len(shown)} more")
    return MissingAnswerError(
        f"{len(calls)} answers of {subject.name} are not recorded, and --recsys-mode=replay asks "
        f"nothing; record them once with --recsys-mode=auto and the same options:\n"
        + "\n".join(shown)
    )
