"""Sends each distinct call once, keeps each answer as it arrives, and counts the calls."""

import contextlib
import time
import warnings
from collections.abc import Callable, Hashable, Iterator, Sequence

from pytest_recsys_mt.calls import tokens
from pytest_recsys_mt.calls.answer import LOST, Answer, Known, has_failed
from pytest_recsys_mt.calls.bill import Bill
from pytest_recsys_mt.calls.cache import AnswerCache, Mode
from pytest_recsys_mt.calls.call import Call
from pytest_recsys_mt.calls.causes import Causes
from pytest_recsys_mt.calls.day_account import Accounts
from pytest_recsys_mt.calls.failures import Failures
from pytest_recsys_mt.calls.keeping import Keeping, missing
from pytest_recsys_mt.calls.limits import Budget
from pytest_recsys_mt.calls.prices import Prices
from pytest_recsys_mt.calls.progress import Progress
from pytest_recsys_mt.calls.readings import Readings
from pytest_recsys_mt.calls.stopping import Stopping
from pytest_recsys_mt.calls.subject import Subject

Ask = Callable[[Subject, Sequence[Call]], Iterator[list[tuple[int, Answer]]]]
"""How calls are sent: yields positions in the calls and their answers, as they arrive."""

Then = Callable[[Sequence[str]], Sequence[Call]]
"""Takes the keys of the calls that were just answered; returns the calls that follow from their answers."""


Lacks = Callable[[Subject | None, Sequence[Call]], bool]
"""Takes calls whose answers are missing, and their subject, which is None if they cannot be sent with others. Returns
True once the answers may be looked for again, False if the calls are to be sent now."""


class UnknownError(Exception):
    """Answers are missing, and none may be asked for now."""


class Executor:
    """Sends each call at most once in a run; a failed call is sent once more.

    Args:
        run: Name of this run, shared by its workers: an answer made in it is fresh for all.
        ask: How calls are sent; without it, the subject asks its recommender in this process.

    Attributes:
        here: Whether calls are sent by this process, in the order given.
        latest: When the latest batch of each recommender began, in Unix seconds, by its name.
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
        self._cache = cache
        self._mode = mode
        self._run = run
        self._ask: Ask = ask or (lambda subject, calls: subject.ask(calls))
        self._budget = budget
        self.bill = Bill(prices or Prices(), budget, causes or Causes())
        self._progress = progress or Progress()
        if budget is not None:
            self._progress.at_most(budget.limits.calls, budget.limits.usd, "allowed")
        self._answers = Known()
        self.here = ask is None
        self.latest: dict[str, float] = {}
        self.notes: list[str] = [] if notes is None else notes
        self.failures = Failures()
        self.readings = Readings()
        self._keeping = Keeping(cache, run)
        self._asked: dict[str, float] = {}
        self._silent: set[str] = set()
        self._stopping = Stopping(self.bill, self._keeping)
        self._lacks: Lacks = _send
        self._settles: Callable[[], bool] = _send

    @property
    def replayable(self) -> bool:
        """Whether there are answers on disk, including every answer that can be stored.

        The same tests then find all their answers there.
        """
        return self._keeping.kept == {True} and not self._keeping.held

    def execute(
        self,
        subject: Subject,
        calls: Sequence[Call],
        *,
        anew: bool = False,
        ask: Ask | None = None,
        then: Then | None = None,
    ) -> list[Answer]:
        """The answers to `calls`, in their order.

        Equal calls are sent once, failed ones once more. A call that was not sent because a limit of the run is reached
        has the answer ``{"unasked": reason}``. So has a call that was not sent because its answer could not be written
        to disk. Calls are sent in the given order. All answers carry the time at which they were sent, ``asked``:
        answers with the same time were sent together. With `anew`, answers of earlier runs are ignored. What `then`
        returns is sent to the same subject as soon as there is room, within this batch if the subject can take it.

        Raises:
            UnknownError: Within `only_known`, if an answer is missing.
            MissingAnswerError: In replay mode, if an answer is not in the cache.
        """
        if subject.behind is not None:
            return self._passed_on(subject, calls, ask)
        for call in calls:
            purpose = "again" if call.again else call.purpose
            self.bill.causes.add(subject.name, [call.key], purpose)
        waiting = {call.key: call for call in calls if call.key not in self._answers}
        if subject.durable and waiting:
            self._take_from_cache(subject, waiting, anew)
            if waiting and self._mode == "replay":
                raise missing(subject, list(waiting.values()))
        if waiting and self._lacks(None if anew or ask else subject, list(waiting.values())):
            return self.execute(subject, calls, anew=anew, ask=ask, then=then)
        unasked = self._keeping.refusal(subject) if waiting else ""
        if waiting and not unasked:
            with self._alone(subject):
                if subject.durable:
                    self._take_from_cache(subject, waiting, anew)
                sent = list(waiting.values())
                self._begin(subject, sent)
                unasked = self._put(subject, sent, ask, then)
                failed = {
                    call.key for call in sent if "error" in (self._answers.get(call.key) or {})
                }
                # If all of several failed, the endpoint or the object is at fault: a repeat does not help.
                if len(failed) < max(2, len(sent)):
                    failed |= self._silent
                    again = [call for call in sent if call.key in failed]
                    unasked = self._put(subject, again, ask) or unasked
                silent = [
                    (call, self._answers.get(call.key)) for call in sent if call.key in self._silent
                ]
                self._silent.clear()
                if subject.durable:
                    self._keeping.write(subject, [(call, said) for call, said in silent if said])
        self._keeping.kept.update([False] if unasked else [])
        return [self._answers.get(call.key) or {"unasked": unasked} for call in calls]

    def _passed_on(self, subject: Subject, calls: Sequence[Call], ask: Ask | None) -> list[Answer]:
        """The answers of a subject that asks another one, its `behind`: only that one's calls count."""
        missing = {call.key: call for call in calls if call.key not in self._answers}
        if missing and self._lacks(None if ask else subject, list(missing.values())):
            return self._passed_on(subject, calls, ask)
        unasked: dict[str, Answer] = {}
        if missing:
            sent = list(missing.values())
            asked = self.latest[subject.name] = time.time()
            for arrived in ask(subject, sent) if ask else subject.ask(sent):
                for position, answer in arrived:
                    call = sent[position]
                    if "unasked" in answer:
                        unasked[call.key] = answer
                        continue
                    if "error" in answer:
                        self.failures.add(subject.name, answer, call)
                    self._answers[call.key] = {**answer, "run": self._run, "asked": asked}
        none: Answer = {"error": f"{subject.name} gave no answer"}
        return [self._answers.get(call.key) or unasked.get(call.key, none) for call in calls]

    def at_hand(self, subject: Subject, calls: Sequence[Call]) -> list[Answer]:
        """The answers that cost nothing, in the order of `calls`; ``{}`` where the subject would have to be asked.

        A subject whose answers cannot be kept is asked: it runs in this process.
        """
        if not subject.durable:
            return self.execute(subject, calls)
        found = self._cache.answers([call.key for call in calls if call.key not in self._answers])
        return [self._answers.get(call.key) or found.get(call.key) or {} for call in calls]

    @contextlib.contextmanager
    def parking(self, lacks: Lacks, settles: Callable[[], bool]) -> Iterator[None]:
        """Within it, `execute` sends nothing that `lacks` takes, and `settles` says when nothing else is asked."""
        before = self._lacks, self._settles
        self._lacks, self._settles = lacks, settles
        try:
            yield
        finally:
            self._lacks, self._settles = before

    def only_known(self) -> contextlib.AbstractContextManager[None]:
        """Within it, `execute` sends nothing: it raises `UnknownError` if an answer is missing."""
        return self.parking(_raise, _send)

    def settles(self) -> bool:
        """Wait until other tests have asked what they ask together with this one; returns whether they had to."""
        return self._settles()

    def beforehand(self) -> contextlib.AbstractContextManager[None]:
        """Surrounds questions whose answers decide on the requests of tests."""
        return contextlib.nullcontext()

    def planned_again(self, subject: Subject, calls: int, what: Hashable) -> bool:
        """Count calls that a difference of `what` would cause, if this only plans; returns whether it does."""
        return False

    def room(self, subject: Subject, calls: Sequence[Call]) -> int:
        """How many of `calls`, from the first, the limits of the run allow, even if none is cached."""
        if self._budget is None or not calls or subject.behind is not None:
            return len(calls)
        with self._cache.lock("spent"):
            self._budget.open()
        return self.bill.room(subject, calls)

    @contextlib.contextmanager
    def _alone(self, subject: Subject) -> Iterator[None]:
        budget = self._budget
        with contextlib.ExitStack() as held:
            if budget is not None or subject.durable:
                with self._progress.doing(f"waits for another process that asks {subject.name}"):
                    held.enter_context(self._cache.lock("spent" if budget else subject.name))
            if subject.durable:
                self._keeping.begin()
            if budget is not None:
                budget.open()
                self._progress.spent(budget.calls, budget.usd)
                held.callback(budget.close)
            yield

    def _take_from_cache(self, subject: Subject, waiting: dict[str, Call], anew: bool) -> None:
        found = self._cache.answers(list(waiting))
        for key in list(waiting):
            answer = found.get(key)
            if answer is None:
                continue
            self._keeping.kept.add(True)
            ours = answer.get("run") == self._run
            if (anew or self._mode == "refresh") and not ours:
                continue
            call = waiting.pop(key)
            self._answers[key] = answer
            if ours:
                self.bill.note(subject, call, answer, "made")
            else:
                self.bill.found(call, answer)
            self._progress.found()

    def _put(
        self, subject: Subject, calls: list[Call], ask: Ask | None, then: Then | None = None
    ) -> str:
        """Send calls, and those that follow (appended to `calls`), until a limit is reached; returns it."""
        if not calls:
            return ""
        with self._progress.batch(subject.name, len(calls)):
            if unpriced := self.bill.unpriced(subject, calls):
                return unpriced
            waiting = calls.copy()
            while waiting and not self._stopping.reason(subject):
                room = self.bill.room(subject, waiting)
                batch, waiting = waiting[:room], waiting[room:]
                self.bill.reserve(subject, batch)
                further = self._put_batch(subject, batch, ask, then)
                calls += [*batch[room:], *further]
                waiting += further
            return self._stopping.final(subject)

    def keep_rest(self) -> str:
        """Write what the disk did not take when it arrived; returns what became of it, empty if there was nothing."""
        return self._keeping.keep_rest()

    def _begin(self, subject: Subject, calls: Sequence[Call]) -> None:
        if calls:
            self.latest[subject.name] = time.time()
            self._asked.update((call.key, self.latest[subject.name]) for call in calls)

    def _put_batch(
        self, subject: Subject, calls: list[Call], ask: Ask | None, then: Then | None
    ) -> list[Call]:
        arrivals = (ask or self._ask)(subject, tuple(calls))
        further: list[Call] = []
        ends = False
        try:
            for arrived in arrivals:
                answered = [(calls[position], answer) for position, answer in arrived]
                self._take(subject, answered)
                if self._stopping.reason(subject) and not ends:
                    # Calls in flight are paid for, so wait for them if the subject can.
                    ends = self.here and subject.wind_down()
                    if not ends:
                        return further
                if then is None or ends:
                    continue
                there = [call.key for call, answer in answered if not has_failed(answer)]
                wanted = then([key for key in there if key not in self._silent])
                self._begin(subject, wanted)
                if wanted and self._joins(subject, wanted, ask):
                    calls += wanted
                else:
                    further += wanted
        finally:
            if ask is None and self.here:
                self._note_in_flight(subject, calls)
            close = getattr(arrivals, "close", None)  # cancels the calls in flight
            if close is not None:
                close()
        for call in calls:
            if call.key not in self._answers and not ends:
                self._take(subject, [(call, {"error": f"{subject.name} gave no answer"})])
        return further

    def _note_in_flight(self, subject: Subject, calls: Sequence[Call]) -> None:
        for position in subject.in_flight():
            call = calls[position]
            if call.key not in self._answers:
                self.bill.note(subject, call, LOST, "failed")
                self.bill.spend(subject, call, LOST)

    def _joins(self, subject: Subject, calls: Sequence[Call], ask: Ask | None) -> bool:
        apart = self._budget is not None or ask is not None or not self.here
        if apart or not subject.also(calls):
            return False
        self._progress.more(len(calls))
        return True

    def _take(self, subject: Subject, arrived: Sequence[tuple[Call, Answer]]) -> None:
        """Store answers on disk, then here; if the disk takes no more, here all the same: they are paid for."""
        answers: list[tuple[Call, Answer]] = []
        for call, answer in arrived:
            if answer.get("text") is not None and answer.pop("error", ""):
                self._silent.add(call.key)  # it stays so if a second attempt gets no other answer
            if tokens.is_thrifty(call, answer):
                answer["usage"] = tokens.filled(subject, call, answer)
                note = f"{subject.name!r} reports under 1% of a prompt's tokens, or none: such calls count as planned, or more"
                self.notes += [note] * (note not in self.notes)
            if not has_failed(answer):
                stamped: Answer = {**answer, "run": self._run, "asked": self._asked[call.key]}
                answer = stamped
            answers.append((call, answer))
        # What is empty at first is not for other workers yet.
        kept = [
            (call, answer)
            for call, answer in answers
            if "lost" not in answer and (call.key in self._answers or call.key not in self._silent)
        ]
        unkept = self._keeping.write(subject, kept) if subject.durable else ""
        for call, answer in answers:
            if "error" in answer:
                self.failures.add(subject.name, answer, call)
            self._stopping.note(subject, answer)
            if not has_failed(answer):
                self.bill.give_up(call)
            fact = self.bill.note(subject, call, answer, "failed" if has_failed(answer) else "made")
            if "lost" not in answer and not ("error" in answer and call.key in self._silent):
                self._answers[call.key] = answer
                self._progress.add(answer, fact.usd)
            self.bill.spend(subject, call, answer)
        if unkept:
            warnings.warn(unkept, stacklevel=2)


def _send(*_: object) -> bool:
    return False


def _raise(subject: Subject | None, calls: Sequence[Call]) -> bool:
    raise UnknownError(f"{len(calls)} answers are missing")
