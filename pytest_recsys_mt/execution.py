"""Execute: put each distinct call once, keep each answer as it arrives, count what was done."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass
from typing import Any, Literal

from pytest_recsys_mt import tokens
from pytest_recsys_mt.cache import AnswerCache
from pytest_recsys_mt.calls import Call
from pytest_recsys_mt.errors import MissingAnswerError
from pytest_recsys_mt.failures import Failures
from pytest_recsys_mt.limits import Budget
from pytest_recsys_mt.prices import Price, Prices
from pytest_recsys_mt.progress import Progress
from pytest_recsys_mt.settings import Mode
from pytest_recsys_mt.subject import Answer, Subject

State = Literal["made", "cached", "failed"]

Ask = Callable[[Subject, Sequence[Call]], Iterator[list[tuple[int, Answer]]]]
"""How calls are put: yields positions in the calls and their answers, as they arrive."""

RANK: Mapping[str, int] = {"made": 2, "cached": 1, "failed": 0}
"""Where workers differ on a call, the state of the highest rank is what happened in the run."""


@dataclass(frozen=True, slots=True)
class CallFact:
    """What became of one call in this run.

    Attributes:
        state: See `State`.
        prompt_tokens: Of the prompt, as the answer reports them.
        completion_tokens: Of the answer, likewise.
        usd: What the call cost in this run; None where that is not known.
        cut_off: Whether the answer ends where its most tokens were reached.
        again: As of `Call.again`.
    """

    state: State
    prompt_tokens: int = 0
    completion_tokens: int = 0
    usd: float | None = 0.0
    cut_off: bool = False
    again: bool = False


class Executor:
    """Puts calls, at most once each in a run, and those that fail once more.

    Args:
        cache: Where answers are kept beyond the run.
        mode: ``auto`` takes an answer from the cache, else asks; ``replay`` never asks;
            ``refresh`` always asks.
        run: Name of this run, shared by its workers: an answer made in it is fresh for all.
        ask: How calls are put; without it, the subject asks its recommender in this process.
        prices: What tokens cost.
        budget: What the run may spend; without it, anything.
        progress: Shown while calls are put.

    Attributes:
        latest: When the latest batch of each recommender began, in Unix seconds, by its name.
        failures: What users' code raised.
    """

    def __init__(
        self,
        cache: AnswerCache,
        mode: Mode,
        run: str,
        ask: Ask | None = None,
        *,
        prices: Prices | None = None,
        budget: Budget | None = None,
        progress: Progress | None = None,
    ) -> None:
        self._cache = cache
        self._mode = mode
        self._run = run
        self._ask: Ask = ask or (lambda subject, calls: subject.ask(calls))
        self._prices = prices or Prices()
        self._budget = budget
        self._progress = progress or Progress(None)
        self._price_of: dict[str, Price | None] = {}
        self._answers: dict[str, Answer] = {}
        self._facts: dict[str, CallFact] = {}
        self.latest: dict[str, float] = {}
        self.failures = Failures()
        self._kept: set[bool] = set()

    @property
    def replayable(self) -> bool:
        """Whether answers were kept on disk, and every one of them that could be: then the same
        tests find all they ask for there.
        """
        return self._kept == {True}

    def execute(
        self, subject: Subject, calls: Sequence[Call], *, anew: bool = False
    ) -> list[Answer]:
        """The answers to `calls`, in their order; equal calls are sent once,
        failed ones once more.

        A call that was not put because a limit of the run is reached has the answer
        ``{"unasked": reason}``. Calls are sent in the order given, and all answers of one batch
        carry the time at which it began, ``asked``: those of one time were asked together.

        Args:
            subject: Whom to ask.
            calls: What to ask.
            anew: Whether answers of earlier runs do not count.

        Raises:
            MissingAnswerError: In replay mode, if an answer is not in the cache.
            CacheError: If the cache cannot be read or written.
        """
        waiting = {call.key: call for call in calls if call.key not in self._answers}
        if subject.durable and waiting:
            self._take_from_cache(subject, waiting, anew)
            if waiting and self._mode == "replay":
                raise _missing(subject, list(waiting.values()))
        unasked = ""
        if waiting:
            with self._alone(subject):
                if subject.durable:
                    self._take_from_cache(subject, waiting, anew)
                if waiting:
                    self.latest[subject.name] = time.time()
                unasked = self._put(subject, list(waiting.values()))
                again = [c for c in waiting.values() if "error" in self._answers.get(c.key, {})]
                # Where all failed it is the endpoint or the object, and asking again is no help.
                if len(again) < len(waiting):
                    unasked = self._put(subject, again) or unasked
                self._kept.update([False] if unasked else [])
        return [self._answers.get(call.key) or {"unasked": unasked} for call in calls]

    def affords(self, subject: Subject, calls: Sequence[Call]) -> bool:
        """Whether the limits of the run let all of `calls` be put, should none be cached."""
        if self._budget is None or not calls:
            return True
        with self._cache.lock("spent"):
            self._budget.open()
        expected = self._expected(subject, calls[0], self._price(subject, calls[0]))
        return self._budget.room(*expected) >= len(calls)

    @contextlib.contextmanager
    def _alone(self, subject: Subject) -> Iterator[None]:
        """Keep other workers from putting the same calls, or from spending the same money."""
        if self._budget is None:
            if not subject.durable:
                yield
                return
            with self._cache.lock(subject.name):
                yield
            return
        with self._cache.lock("spent"):
            self._budget.open()
            try:
                yield
            finally:
                self._budget.close()

    def drain(self) -> dict[str, list[Any]]:
        """What became of the calls since the last drain, by key, as plain data."""
        facts, self._facts = self._facts, {}
        return {key: list(astuple(fact)) for key, fact in facts.items()}

    def _take_from_cache(self, subject: Subject, waiting: dict[str, Call], anew: bool) -> None:
        for key in list(waiting):
            answer = self._cache.get(key)
            if answer is None:
                continue
            self._kept.add(True)
            ours = answer.get("run") == self._run
            if (anew or self._mode == "refresh") and not ours:
                continue
            call = waiting.pop(key)
            usd = self._cost(subject, call, answer) if ours else 0.0
            self._keep(call, answer, "made" if ours else "cached", usd)
            self._progress.found()

    def _put(self, subject: Subject, calls: Sequence[Call]) -> str:
        """Put the calls, as far as the limits of the run allow; says which limit ended it."""
        if not calls:
            return ""
        with self._progress.batch(subject.name, len(calls)):
            if self._budget is None:
                self._put_batch(subject, calls)
                return ""
            price = self._price(subject, calls[0])
            if price is None and self._budget.limits.usd is not None:
                return (
                    f"--recsys-max-usd is given, and what {subject.name} costs is not known; "
                    f"name its price in a file, --recsys-prices=FILE"
                )
            while calls and not self._budget.reached:
                room = self._budget.room(*self._expected(subject, calls[0], price))
                batch, calls = calls[:room], calls[room:]
                self._put_batch(subject, batch)
            return self._budget.reached

    def _put_batch(self, subject: Subject, calls: Sequence[Call]) -> None:
        arrivals = self._ask(subject, calls)
        try:
            for arrived in arrivals:
                self._take(subject, [(calls[position], answer) for position, answer in arrived])
                if self._budget is not None and self._budget.reached:
                    return
        finally:
            close = getattr(arrivals, "close", None)  # what is in flight is cancelled
            if close is not None:
                close()
        for call in calls:
            if call.key not in self._answers:
                self._take(subject, [(call, {"error": f"{subject.name} gave no answer"})])

    def _take(self, subject: Subject, arrived: Sequence[tuple[Call, Answer]]) -> None:
        """Keep the answers that arrived together: on disk first, then here."""
        told = {"run": self._run, "asked": self.latest[subject.name]}
        answers = [
            (call, answer if "error" in answer else {**answer, **told}) for call, answer in arrived
        ]
        if subject.durable:
            with self._cache.together():
                for call, answer in answers:
                    keep = "error" not in answer and not _is_empty(answer)
                    self._kept.add(keep)
                    if keep:
                        self._cache.put(call.key, call.content, answer)
        for call, answer in answers:
            failed = "error" in answer
            if failed:
                self.failures.add(subject.name, answer, call)
            usd = 0.0 if failed else self._cost(subject, call, answer)
            self._keep(call, answer, "failed" if failed else "made", usd)
            self._progress.add(answer, usd)
            if self._budget is not None:
                self._budget.spend(0 if failed else tokens.spent(call, answer), usd or 0.0)

    def _keep(self, call: Call, answer: Answer, state: State, usd: float | None) -> None:
        self._answers[call.key] = answer
        prompt, completion = answer.get("usage") or (0, 0)
        cut_off = answer.get("finish_reason") == "length"
        self._facts[call.key] = CallFact(state, prompt, completion, usd, cut_off, call.again)

    def _price(self, subject: Subject, call: Call) -> Price | None:
        if subject.name not in self._price_of:
            self._price_of[subject.name] = self._prices.of(subject.name, call.content["model"])
        return self._price_of[subject.name]

    def _cost(self, subject: Subject, call: Call, answer: Answer) -> float | None:
        price, usage = self._price(subject, call), answer.get("usage")
        if price is not None and price.is_free:
            return 0.0
        return None if price is None or usage is None else price.usd(*usage)

    def _expected(self, subject: Subject, call: Call, price: Price | None) -> tuple[float, float]:
        """The tokens and the cost that a call like this one is expected to take, at the most."""
        prompt, _ = tokens.prompt_tokens(subject, call)
        output = tokens.most_output(call) or 0
        return prompt + output, 0.0 if price is None else price.usd(prompt, output)


def _is_empty(answer: Answer) -> bool:
    text = answer.get("text")
    return not text.strip() if isinstance(text, str) else not answer.get("items")


def _missing(subject: Subject, calls: Sequence[Call]) -> MissingAnswerError:
    shown = [f"  {call.label}, key {call.key[:12]}" for call in calls[:5]]
    if len(calls) > len(shown):
        shown.append(f"  and {len(calls) - len(shown)} more")
    model = calls[0].content.get("model")
    host = model.get("host") if isinstance(model, Mapping) else None
    if host is not None:
        shown.append(
            f"  (looked for under {host}; if they were recorded elsewhere, set OPENAI_BASE_URL as it "
            f"was then)"
        )
    return MissingAnswerError(
        f"{len(calls)} answers of {subject.name} are not recorded, and --recsys-mode=replay asks "
        f"nothing; record them once with --recsys-mode=auto and the same options:\n"
        + "\n".join(shown)
    )
