"""Sends calls in batches, as far as the limits of the run allow, and stores each answer
as it arrives: on disk, in the counts, and for this process.
"""

import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from pytest_recsys_mt.calls import tokens
from pytest_recsys_mt.calls.answer import (
    LOST,
    Answer,
    Known,
    has_failed,
    without_error,
)
from pytest_recsys_mt.calls.bill import Bill, State
from pytest_recsys_mt.calls.call import Call
from pytest_recsys_mt.calls.failures import Failures
from pytest_recsys_mt.calls.keeping import Keeping
from pytest_recsys_mt.calls.progress import Progress
from pytest_recsys_mt.calls.scheduling import Spending, Stopping
from pytest_recsys_mt.calls.subject import Subject
from pytest_recsys_mt.safety.redaction import shortened
from pytest_recsys_mt.safety.sanitize import one_line

Answered = tuple[Call, Answer]

LONGEST_NOTE = 1000
"""Characters of a note of an answer that are shown."""


class Arrivals:
    """Stores the answers of a run as they arrive.

    A call whose answer is an empty text is sent once more. Until then nothing follows
    from the answer, and no other worker gets it.

    Args:
        run: Name of the run, which each answer carries.
        answers: The answers of this process, to which those that arrive are added.
        bill: Records each answer and each failed attempt.
        spending: Counts them towards the limits of the run.
        keeping: Writes answers to disk.
        stopping: Learns how each call ended.
        failures: Gets the tracebacks of failed calls.
        progress: Shows how many answers have arrived.
        notes: Gets sentences on answers that users should know of, each once.

    Attributes:
        latest: When the latest batch of each recommender began, in Unix seconds, by its
            name.
    """

    def __init__(
        self,
        run: str,
        answers: Known,
        *,
        bill: Bill,
        spending: Spending,
        keeping: Keeping,
        stopping: Stopping,
        failures: Failures,
        progress: Progress,
        notes: list[str],
    ) -> None:
        self.latest: dict[str, float] = {}
        self._run = run
        self._answers = answers
        self._bill = bill
        self._spending = spending
        self._keeping = keeping
        self._stopping = stopping
        self._failures = failures
        self._progress = progress
        self._notes = notes
        self._sent_at: dict[str, float] = {}
        self._empty_keys: set[str] = set()

    def expect(self, subject: Subject, calls: Sequence[Call]) -> None:
        """Remember that calls are sent now: their answers will carry the time."""
        if not calls:
            return
        now = time.time()
        self.latest[subject.name] = now
        self._sent_at.update((call.key, now) for call in calls)

    def has_answer(self, call: Call) -> bool:
        """Whether a call has an answer in this process, be it a failure."""
        return call.key in self._answers

    def store(self, subject: Subject, arrived: Iterable[Answered]) -> None:
        """Store answers on disk, then here; if the disk takes no more, here all the
        same: they are paid for.
        """
        answered = [
            (call, self._completed(subject, call, answer)) for call, answer in arrived
        ]
        unwritten = (
            self._write(subject, self._for_all_workers(answered))
            if subject.durable
            else ""
        )
        for call, answer in answered:
            self._store_here(subject, call, answer)
        if unwritten:
            warnings.warn(unwritten, stacklevel=2)

    def keys_to_follow(self, answered: Iterable[Answered]) -> list[str]:
        """The keys of calls that got an answer from which others may follow."""
        keys = [call.key for call, answer in answered if not has_failed(answer)]
        return [key for key in keys if key not in self._empty_keys]

    def to_retry(self, calls: Sequence[Call]) -> list[Call]:
        """The calls to send once more: those that failed,
        and those with an empty answer.
        """
        failed_keys = {
            call.key for call in calls if "error" in (self._answers.get(call.key) or {})
        }
        # If all of several failed, the endpoint or the object is at fault: a repeat
        # does not help.
        if len(calls) > 1 and len(failed_keys) == len(calls):
            return []
        retried_keys = failed_keys | self._empty_keys
        return [call for call in calls if call.key in retried_keys]

    def settle_empty(self, subject: Subject, calls: Sequence[Call]) -> None:
        """Write empty answers to disk, after the second attempt at their calls."""
        settled: list[Answered] = []
        for call in calls:
            answer = self._answers.get(call.key)
            if call.key in self._empty_keys and answer:
                settled.append((call, answer))
        self._empty_keys.clear()
        if not settled or not subject.durable:
            return
        if unwritten := self._write(subject, settled):
            warnings.warn(unwritten, stacklevel=2)

    def _write(self, subject: Subject, answered: Sequence[Answered]) -> str:
        """Write answers to disk; returns which could not be written, and why."""
        try:
            return self._keeping.write(subject, answered)
        except MemoryError:
            # Anywhere on the way to the disk: the answers are paid for all the same.
            return self._keeping.hold(subject, answered)

    def _completed(self, subject: Subject, call: Call, answer: Answer) -> Answer:
        """An answer as it is stored: with the run, the time at
        which it was sent, and a plausible usage.
        """
        if answer.get("text") is not None and answer.get("error"):
            # A text with an error is an empty text; it stays if a second attempt gets
            # no other answer.
            self._empty_keys.add(call.key)
            answer = without_error(answer)
        if call.prompt is not None and tokens.is_thrifty(call.prompt, answer):
            answer = {**answer, "usage": tokens.filled(subject, call, answer)}
            self._add_note(
                f"{subject.name!r} reports under 1% of a prompt's tokens, or none: such calls count as planned, or more",
            )
        if has_failed(answer):
            return answer
        self.add_notes(answer)
        completed: Answer = {
            **answer,
            "run": self._run,
            "asked": self._sent_at[call.key],
        }
        return completed

    def add_notes(self, answer: Answer) -> None:
        """Add what an answer says of the request that brought it."""
        for note in answer.get("notes", ()):
            # The cache may be of somebody else.
            self._add_note(shortened(one_line(note), LONGEST_NOTE))

    def _add_note(self, note: str) -> None:
        if note not in self._notes:
            self._notes.append(note)

    def _for_all_workers(self, answered: Iterable[Answered]) -> list[Answered]:
        """Those that are written to disk now, where other workers find them."""
        written: list[Answered] = []
        for call, answer in answered:
            awaits_retry = (
                call.key in self._empty_keys and call.key not in self._answers
            )
            if "lost" not in answer and not awaits_retry:
                written.append((call, answer))
        return written

    def _store_here(self, subject: Subject, call: Call, answer: Answer) -> None:
        if "error" in answer:
            self._failures.add(subject.name, answer, call)
        self._stopping.note(subject, answer)
        state: State = "failed" if has_failed(answer) else "made"
        if state == "made":
            self._bill.give_up(call)
        fact = self._bill.note(subject, call, answer, state)
        leaves_empty_answer = "error" in answer and call.key in self._empty_keys
        if "lost" not in answer and not leaves_empty_answer:
            self._answers[call.key] = answer
            self._progress.add(answer, fact.usd)
        self._spending.spend(subject, call, answer)


Ask = Callable[[Subject, Sequence[Call]], Iterator[list[tuple[int, Answer]]]]
"""How calls are sent: yields positions in the calls and their answers, as they arrive."""

Then = Callable[[Sequence[str]], Sequence[Call]]
"""Takes the keys of the calls that were just answered; returns
the calls that follow from their answers.
"""


class Sent(NamedTuple):
    """The result of sending calls.

    Attributes:
        calls: The calls, then those that followed from their answers, also where they
            were not sent.
        unasked: Why no more calls are sent; empty if no limit is reached.
    """

    calls: Sequence[Call]
    unasked: str = ""


class Following(NamedTuple):
    """Calls that follow from answers to a batch.

    Attributes:
        joined: Those that were sent within the batch.
        later: Those that are left to a later batch.
    """

    joined: Sequence[Call] = ()
    later: Sequence[Call] = ()


def ask_here(
    subject: Subject,
    calls: Sequence[Call],
) -> Iterator[list[tuple[int, Answer]]]:
    """Send the calls to the subject's recommender in this process."""
    return subject.ask(calls)


class Batches:
    """Sends calls in batches and stores their answers as they arrive.

    Args:
        arrivals: Stores the answers.
        ask: How calls are sent; None if the subject's recommender answers in this
            process.
        bill: Records calls in flight that get no answer.
        spending: How many calls the limits allow at once.
        stopping: Why no more calls are sent.
        progress: Shows how far the calls are.
    """

    def __init__(
        self,
        arrivals: Arrivals,
        ask: Ask | None,
        *,
        bill: Bill,
        spending: Spending,
        stopping: Stopping,
        progress: Progress,
    ) -> None:
        self._arrivals = arrivals
        self._ask: Ask = ask or ask_here
        self._is_here = ask is None
        self._bill = bill
        self._spending = spending
        self._stopping = stopping
        self._progress = progress

    def send(
        self,
        subject: Subject,
        calls: Sequence[Call],
        ask: Ask | None,
        then: Then | None = None,
    ) -> Sent:
        """Send calls, and those that follow from their
        answers, until a limit is reached.
        """
        if not calls:
            return Sent(calls)
        with self._progress.batch(subject.name, len(calls)):
            unpriced = self._spending.unpriced(subject, calls)
            if unpriced:
                return Sent(calls, unpriced)
            with_following = list(calls)
            waiting = list(calls)
            while waiting and not self._stopping.reason(subject):
                room = self._spending.room(subject, waiting)
                batch = waiting[:room]
                waiting = waiting[room:]
                self._spending.reserve(subject, batch)
                following = self._send_batch(subject, batch, ask, then)
                with_following += following.joined
                with_following += following.later
                waiting += following.later
            return Sent(with_following, self._stopping.final(subject))

    def _send_batch(
        self,
        subject: Subject,
        calls: Sequence[Call],
        ask: Ask | None,
        then: Then | None,
    ) -> Following:
        """Send one batch; returns the calls that follow from its answers."""
        send = ask or self._ask
        arrivals = send(subject, tuple(calls))
        in_batch = list(
            calls,
        )  # positions of calls that join the batch go on behind these
        later: list[Call] = []
        winds_down = False
        try:
            for arrived in arrivals:
                answered = [
                    (in_batch[position], answer) for position, answer in arrived
                ]
                self._arrivals.store(subject, answered)
                if self._stopping.reason(subject) and not winds_down:
                    # Calls in flight are paid for, so wait for them if the subject can.
                    winds_down = self._is_here and subject.wind_down()
                    if not winds_down:
                        return Following(in_batch[len(calls) :], later)
                if then is not None and not winds_down:
                    following = self._follow(subject, answered, ask, then)
                    in_batch += following.joined
                    later += following.later
        finally:
            if ask is None and self._is_here:
                self._note_in_flight(subject, in_batch)
            close = getattr(arrivals, "close", None)  # cancels the calls in flight
            if close is not None:
                close()
        if not winds_down:
            self._fail_unanswered(subject, in_batch)
        return Following(in_batch[len(calls) :], later)

    def _follow(
        self,
        subject: Subject,
        answered: Sequence[Answered],
        ask: Ask | None,
        then: Then,
    ) -> Following:
        """Begin the calls that follow from answers: send them within the batch in
        flight, or leave them to a later one.
        """
        following = then(self._arrivals.keys_to_follow(answered))
        self._arrivals.expect(subject, following)
        if following and self._joins(subject, following, ask):
            return Following(joined=following)
        return Following(later=following)

    def _joins(self, subject: Subject, calls: Sequence[Call], ask: Ask | None) -> bool:
        """Send calls within the batch in flight, if no limit must be checked before;
        returns whether they were.
        """
        is_plain_batch = not self._spending.is_limited and ask is None and self._is_here
        if not is_plain_batch or not subject.also(calls):
            return False
        self._progress.more(len(calls))
        return True

    def _fail_unanswered(self, subject: Subject, calls: Sequence[Call]) -> None:
        for call in calls:
            if not self._arrivals.has_answer(call):
                no_answer: Answer = {"error": f"{subject.name} gave no answer"}
                self._arrivals.store(subject, [(call, no_answer)])

    def _note_in_flight(self, subject: Subject, calls: Sequence[Call]) -> None:
        """Count calls without an answer that may have been paid for."""
        for position in subject.in_flight():
            call = calls[position]
            if not self._arrivals.has_answer(call):
                self._bill.note(subject, call, LOST, "failed")
                self._spending.spend(subject, call, LOST)
