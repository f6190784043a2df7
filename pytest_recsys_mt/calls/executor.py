"""Sends each distinct call once, keeps each answer as it arrives, and counts the calls."""

import contextlib
import math
import time
from collections.abc import Sequence

from pytest_recsys_mt.calls.answer import Answer, Known
from pytest_recsys_mt.calls.batches import Arrivals, Ask, Batches, Then, ask_here
from pytest_recsys_mt.calls.bill import Bill, Causes
from pytest_recsys_mt.calls.cache import AnswerCache, Mode
from pytest_recsys_mt.calls.call import Call
from pytest_recsys_mt.calls.day_account import Accounts
from pytest_recsys_mt.calls.failures import Failures
from pytest_recsys_mt.calls.keeping import Keeping, missing
from pytest_recsys_mt.calls.limits import Budget
from pytest_recsys_mt.calls.prices import Prices, SubjectPrices
from pytest_recsys_mt.calls.progress import Progress
from pytest_recsys_mt.calls.readings import Readings
from pytest_recsys_mt.calls.scheduling import (
    Decision,
    OnlyKnown,
    Scheduler,
    Spending,
    Stopping,
    Turns,
)
from pytest_recsys_mt.calls.subject import Subject
from pytest_recsys_mt.calls.timing import Took

__all__ = ["Ask", "Executor", "Then"]


class Executor:
    """Sends each call at most once in a run; a failed call is sent once more.

    Args:
        cache: The answers on disk.
        mode: The handling of a call without a cached answer.
        run: Name of this run, shared by its workers: an answer made in it is fresh for
            all.
        ask: How calls are sent; without it, the subject's recommender answers in this
            process.
        prices: The prices of the models; by default those of this package.
        budget: The limits of the run; None without limits.
        progress: Shows how far the calls are.
        causes: Collects the causes of each call.
        notes: Gets sentences on answers that users should know of.

    Attributes:
        here: Whether calls are sent by this process, in the order given.
        latest: When the latest batch of each recommender began that this process sent,
            in Unix seconds, by its name.
        found: When the newest answer of each recommender was sent of those that were
            found on disk, by its name.
        shared: The recommenders to which another process of this run sends calls, too.
        bill: The cost of the calls of this process.
        notes: Sentences on answers that users should know of, each once.
        failures: The errors that users' code raised.
        readings: The results of reading the answers.
    """

    def __init__(
        self,
        cache: AnswerCache,
        mode: Mode,
        run: str,
        ask: Ask | None = None,
        *,
        prices: Prices | None = None,
        budget: Budget | Accounts | None = None,
        progress: Progress | None = None,
        causes: Causes | None = None,
        notes: list[str] | None = None,
    ) -> None:
        self.here = ask is None
        subject_prices = SubjectPrices(prices or Prices())
        self.bill = Bill(subject_prices, causes or Causes())
        self._spending = Spending(subject_prices, budget)
        self.notes: list[str] = [] if notes is None else notes
        self.failures = Failures()
        self.readings = Readings()
        self._cache = cache
        self._mode = mode
        self._run = run
        self._budget = budget
        self._progress = progress or Progress()
        if budget is not None:
            self._progress.at_most(budget.limits.calls, budget.limits.usd, "allowed")
        self._keeping = Keeping(cache, run)
        self._turns = Turns(cache, self._keeping, budget, self._progress)
        stopping = Stopping(self._spending, self._keeping)
        self._answers = Known()
        self._arrivals = Arrivals(
            run,
            self._answers,
            bill=self.bill,
            spending=self._spending,
            keeping=self._keeping,
            stopping=stopping,
            failures=self.failures,
            progress=self._progress,
            notes=self.notes,
        )
        self.latest = self._arrivals.latest
        self.found: dict[str, float] = {}
        self.shared: set[str] = set()
        self._batches = Batches(
            self._arrivals,
            ask,
            bill=self.bill,
            spending=self._spending,
            stopping=stopping,
            progress=self._progress,
        )

    @property
    def replayable(self) -> bool:
        """Whether there are answers on disk, including every answer that can be stored.

        The same tests then find all their answers there.
        """
        keeping = self._keeping
        return keeping.any_storable and not keeping.any_missing and not keeping.held

    def execute(
        self,
        subject: Subject,
        calls: Sequence[Call],
        *,
        since: float | None = None,
        ask: Ask | None = None,
        then: Then | None = None,
    ) -> list[Answer]:
        """The answers to `calls`, in their order.

        Equal calls are sent once, failed ones once more. A call that was not sent
        because a limit of the run is reached has the answer ``{"unasked": reason}``. So
        has a call that was not sent because its answer could not be written to disk.
        Calls are sent in the given order. All answers carry the time at which they were
        sent, ``asked``: answers with the same time were sent together.

        Args:
            subject: The recommender that answers.
            calls: Its calls.
            since: Answers of earlier runs that were sent before this time, in Unix
                seconds, are ignored.
            ask: How these calls are sent, if not as all others.
            then: The calls that it returns are sent to the same subject once there is
                room, within this batch if the subject can take it.

        Raises:
            UnknownError: Within `only_known`, if an answer is missing.
            MissingAnswerError: In replay mode, if an answer is not in the cache.
        """
        if subject.behind is not None:
            return self._passed_on(subject, calls, ask)
        for call in calls:
            purpose = "again" if call.again else call.purpose
            self.bill.causes.add(subject.name, [call.key], purpose)
        waiting = self._without_answer(calls)
        if subject.durable and waiting:
            self._take_from_cache(subject, waiting, since)
            if waiting and self._mode == "replay":
                raise missing(subject, list(waiting.values()))
        sent_with_others = subject if since is None and ask is None else None
        if waiting and self._looks_again(sent_with_others, waiting):
            return self.execute(subject, calls, since=since, ask=ask, then=then)
        unasked = ""
        if waiting:
            unasked = self._keeping.refusal if subject.durable else ""
            if not unasked:
                unasked = self._send_waiting(subject, waiting, since, ask, then)
        if unasked:
            self._keeping.any_missing = True
        return [self._answers.get(call.key) or {"unasked": unasked} for call in calls]

    def _without_answer(self, calls: Sequence[Call]) -> dict[str, Call]:
        """The distinct calls that have no answer in this process, by their keys."""
        return {call.key: call for call in calls if call.key not in self._answers}

    def _looks_again(self, subject: Subject | None, waiting: dict[str, Call]) -> bool:
        """Whether the scheduler wants answers to be looked for
        once more, before calls are sent.
        """
        decision = self._turns.scheduler.decide(subject, list(waiting.values()))
        return decision is Decision.LOOK_AGAIN

    def _send_waiting(
        self,
        subject: Subject,
        waiting: dict[str, Call],
        since: float | None,
        ask: Ask | None,
        then: Then | None,
    ) -> str:
        """Send calls, and once more those that failed; returns why some were not sent."""
        with self._turns.alone(subject):
            # Another worker may have sent the same calls while this one waited for the
            # lock.
            if subject.durable:
                self._take_from_cache(subject, waiting, since)
            calls = list(waiting.values())
            self._arrivals.expect(subject, calls)
            sent = self._batches.send(subject, calls, ask, then)
            retried = self._arrivals.to_retry(sent.calls)
            sent_again = self._batches.send(subject, retried, ask)
            self._arrivals.settle_empty(subject, sent.calls)
        return sent_again.unasked or sent.unasked

    def _passed_on(
        self,
        subject: Subject,
        calls: Sequence[Call],
        ask: Ask | None,
    ) -> list[Answer]:
        """The answers of a subject that asks another one, its
        `behind`: only that one's calls count.
        """
        waiting = self._without_answer(calls)
        sent_with_others = None if ask else subject
        if waiting and self._looks_again(sent_with_others, waiting):
            return self._passed_on(subject, calls, ask)
        unasked: dict[str, Answer] = {}
        if waiting:
            unasked = self._send_uncounted(
                subject,
                list(waiting.values()),
                ask or ask_here,
            )
        no_answer: Answer = {"error": f"{subject.name} gave no answer"}
        return [
            self._answers.get(call.key) or unasked.get(call.key, no_answer)
            for call in calls
        ]

    def _send_uncounted(
        self,
        subject: Subject,
        calls: Sequence[Call],
        ask: Ask,
    ) -> dict[str, Answer]:
        """Send calls that cost nothing by themselves; returns the
        answers of those that were not sent.
        """
        sent_at = time.time()
        self.latest[subject.name] = sent_at
        unasked: dict[str, Answer] = {}
        for arrived in ask(subject, calls):
            for position, answer in arrived:
                call = calls[position]
                if "unasked" in answer:
                    unasked[call.key] = answer
                    continue
                if "error" in answer:
                    self.failures.add(subject.name, answer, call)
                self._answers[call.key] = {**answer, "run": self._run, "asked": sent_at}
        return unasked

    def at_hand(
        self,
        subject: Subject,
        calls: Sequence[Call],
        since: float | None = None,
    ) -> list[Answer]:
        """The answers that cost nothing, in the order of `calls`; ``{}`` where the
        subject would have to be asked.

        Those of earlier runs count if they were sent at `since` or later.

        A subject whose answers cannot be kept is asked: it runs in this process.
        """
        if not subject.durable:
            return self.execute(subject, calls)
        cached = self._cache.answers(
            [call.key for call in calls if call.key not in self._answers],
        )
        cached = {
            key: each for key, each in cached.items() if not self._is_older(each, since)
        }
        for answer in cached.values():
            self._arrivals.add_notes(answer)
        return [
            self._answers.get(call.key) or cached.get(call.key) or {} for call in calls
        ]

    def _is_older(self, answer: Answer, since: float | None) -> bool:
        """Whether an answer on disk is of an earlier run, and was sent before a time."""
        if since is None or answer.get("run") == self._run:
            return False
        return answer.get("asked", -math.inf) < since

    def is_of_earlier_run(self, key: str) -> bool:
        """Whether an answer that was taken in this run was made by an earlier one."""
        answer = self._answers.get(key)
        return answer is not None and answer.get("run") != self._run

    def took(self, subject: Subject, key: str) -> Took | None:
        """What is known of the time of a call; None if it was not sent."""
        answer = self._answers.get(key)
        if answer is None:
            return None
        if "error" not in answer and answer.get("run") != self._run:
            return Took("cached")
        return self.bill.took(subject, key, answer)

    def scheduled_by(
        self,
        scheduler: Scheduler,
    ) -> contextlib.AbstractContextManager[None]:
        """Within it, `scheduler` decides when `execute` sends calls."""
        return self._turns.decided_by(scheduler)

    def only_known(self) -> contextlib.AbstractContextManager[None]:
        """Within it, `execute` sends nothing: it raises
        `UnknownError` if an answer is missing.
        """
        return self.scheduled_by(OnlyKnown())

    def settles(self) -> bool:
        """Wait for the batch that other tests share with this
        one; returns whether there was one.
        """
        return self._turns.scheduler.settles()

    def room(self, subject: Subject, calls: Sequence[Call]) -> int:
        """How many of `calls`, from the first, the limits of
        the run allow, even if none is cached.
        """
        if self._budget is None or not calls or subject.behind is not None:
            return len(calls)
        with self._cache.lock("spent"):
            self._budget.open()
        return self._spending.room(subject, calls)

    def keep_rest(self) -> str:
        """Write the answers that the disk did not take when they arrived; returns the
        result in words, empty if there was nothing.
        """
        return self._keeping.keep_rest()

    def _take_from_cache(
        self,
        subject: Subject,
        waiting: dict[str, Call],
        since: float | None,
    ) -> None:
        """Move calls with a cached answer out of `waiting`."""
        cached = self._cache.answers(list(waiting))
        if self._mode == "refresh":
            since = math.inf
        newest = self.found.get(subject.name, -math.inf)
        for key in list(waiting):
            answer = cached.get(key)
            if answer is None:
                continue
            self._keeping.any_storable = True
            if self._is_older(answer, since):
                continue
            newest = max(newest, answer.get("asked", newest))
            call = waiting.pop(key)
            self._answers[key] = answer
            self._arrivals.add_notes(answer)
            if answer.get("run") == self._run:
                self.shared.add(subject.name)
                self.bill.note(subject, call, answer, "made")
            else:
                self.bill.found(call, answer)
            self._progress.found()
        self.found[subject.name] = newest
