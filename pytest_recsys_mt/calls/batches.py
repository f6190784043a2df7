"""Sends calls in batches, as far as the limits of the run allow."""

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from pytest_recsys_mt.calls.answer import LOST, Answer
from pytest_recsys_mt.calls.arrivals import Answered, Arrivals
from pytest_recsys_mt.calls.bill import Bill
from pytest_recsys_mt.calls.call import Call
from pytest_recsys_mt.calls.progress import Progress
from pytest_recsys_mt.calls.spending import Spending
from pytest_recsys_mt.calls.stopping import Stopping
from pytest_recsys_mt.calls.subject import Subject

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
