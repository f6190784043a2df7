"""Runs the bodies of many tests side by side, and sends the calls of all of them
together.

Each body runs once, as a greenlet. Where an answer is missing it is parked, and the
calls it waits for are sent with those of all other bodies. Once its answers are there
it goes on. A body that has not ended when its test comes, as after a limit of the run,
goes on then and sends its own calls.
"""

import asyncio
import contextlib
import contextvars
import importlib.util
import threading
from collections import defaultdict, deque
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Protocol

from pytest_recsys_mt.calls.call import Call
from pytest_recsys_mt.calls.executor import Executor
from pytest_recsys_mt.calls.scheduling import Decision
from pytest_recsys_mt.calls.subject import Subject
from pytest_recsys_mt.safety.errors import RecsysError

CAN_PARK = importlib.util.find_spec("greenlet") is not None
"""Whether bodies can be parked; else each runs when its test comes."""

if TYPE_CHECKING or CAN_PARK:
    from greenlet import GreenletExit, getcurrent, greenlet


@dataclass(frozen=True)
class Wanted:
    """The calls that a part of the schedule waits for.

    Attributes:
        subject: The subject of the calls. None: a body that waits until nothing else is
            sent (`last`), or for its test.
        calls: The calls.
        last: See `subject`.
    """

    subject: Subject | None = None
    calls: Sequence[Call] = ()
    last: bool = False


class Part(Protocol):
    """A part of the schedule."""

    def go_on(self) -> Wanted | None:
        """Run until answers are missing, which are returned; None at the end."""
        ...


@dataclass(eq=False)
class FirstLook:
    """The first questions of a test whose body does not run before the test does."""

    subject: Subject
    calls: Sequence[Call]
    _sent: bool = False

    def go_on(self) -> Wanted | None:
        """Wait for the answers, once."""
        self._sent, sent = True, self._sent
        return None if sent else Wanted(self.subject, self.calls)


class Body:
    """The one run of a test's body.

    Args:
        run: The body.
        within: Surrounds every stretch of it before its test.

    Attributes:
        returned: The value that it returned.
        raised: The error that it raised.
    """

    def __init__(
        self,
        run: Callable[[], object],
        within: Callable[[], AbstractContextManager[object]],
    ) -> None:
        self.returned: object = None
        self.raised: BaseException | None = None
        self._run = run
        self._within = within
        self._loop = (
            _running_loop()
        )  # a notebook, for one, runs all tests within its own
        self._greenlet = greenlet(self._to_its_end)
        self._greenlet.gr_context = contextvars.copy_context()

    def _to_its_end(self) -> None:
        try:
            self.returned = self._run()
        except (KeyboardInterrupt, GreenletExit):
            raise
        except BaseException as error:  # noqa: BLE001 - also pytest's outcomes; its test raises it
            self.raised = error

    def go_on(self) -> Wanted | None:
        """Run until it is parked or has ended."""
        self._greenlet.parent = getcurrent()
        with self._within():
            wanted: Wanted | None = self._greenlet.switch()
        return wanted

    def finish(self) -> None:
        """Run to its end, within its test; it sends the calls that it lacks."""
        while not self._greenlet.dead:
            self._greenlet.parent = getcurrent()
            self._greenlet.switch()

    def close(self) -> None:
        """End it where it is parked: its test does not come."""
        if self._greenlet and not self._greenlet.dead:
            with self._within():
                self._greenlet.throw()

    @property
    def runs_now(self) -> bool:
        """Whether the code that needs answers is its own, and may be parked: not a
        thread's, nor that of an event loop of its own.
        """
        return self._greenlet is getcurrent() and _running_loop() is self._loop

    def park(self, wanted: Wanted) -> None:
        """Leave it; returns when it goes on."""
        assert self._greenlet.parent is not None
        self._greenlet.parent.switch(wanted)


class Schedule:
    """Runs parts, and sends the calls that they wait for; the `Scheduler` of the
    executor while a part runs.

    Args:
        executor: Sends the calls.
        parts: The parts to run, in the order in which they begin.
    """

    def __init__(self, executor: Executor, parts: Sequence[Part]) -> None:
        self._executor = executor
        self._ready = deque(parts)
        self._missing: dict[Part, set[str]] = {}
        self._waiters: defaultdict[str, list[Part]] = defaultdict(list)
        self._wanted: defaultdict[int, dict[str, Call]] = defaultdict(dict)
        self._subjects: dict[int, Subject] = {}
        self._sent: set[str] = set()
        self._last: list[Part] = []
        self._running: Body | None = None

    def run(self) -> None:
        """Run and send until every part has ended or waits for its test, or a limit of
        the run is reached.

        Raises:
            CacheError: If answers cannot be read.
        """
        self._go_on()
        while self._wanted or self._last:
            if not self._wanted:
                self._ready.extend(self._last)
                self._last.clear()
            elif not self._send():
                break
            self._go_on()

    def _send(self) -> bool:
        subject_id = max(self._wanted, key=lambda each: len(self._wanted[each]))
        subject, calls = self._subjects[subject_id], self._affordable(subject_id)
        if not calls:
            return False
        self._sent.update(call.key for call in calls)
        answers = self._executor.execute(
            subject,
            calls,
            then=partial(self._then, subject_id),
        )
        if any("unasked" in answer for answer in answers):
            return False
        self._arrived(
            list(self._sent),
        )  # failed calls too: their bodies find the failure
        return True

    def _affordable(self, subject_id: int) -> list[Call]:
        """The calls to send to a recommender: all, or those of as many parts as a limit
        can pay for. The other parts are left to their tests: some of their calls would
        be of no use.
        """
        wanted = {call.key: call for call in self._taken(subject_id)}
        own = {
            part: {key: wanted[key] for key in missing if key in wanted}
            for part, missing in self._missing.items()
        }
        ordered = {key: call for calls in own.values() for key, call in calls.items()}
        room = self._executor.room(self._subjects[subject_id], list(ordered.values()))
        if room >= len(wanted):
            return list(wanted.values())
        kept: dict[str, Call] = {}
        for part, calls in own.items():
            if calls and len(kept | calls) > room:
                del self._missing[part]
            else:
                kept |= calls
        return sorted(kept.values(), key=lambda call: call.key)

    def _then(self, subject_id: int, keys: Sequence[str]) -> list[Call]:
        self._arrived(keys)
        self._go_on()
        calls = self._taken(subject_id)
        self._sent.update(call.key for call in calls)
        return calls

    def _taken(self, subject_id: int) -> list[Call]:
        return sorted(
            self._wanted.pop(subject_id, {}).values(), key=lambda call: call.key
        )

    def _arrived(self, keys: Sequence[str]) -> None:
        self._sent.difference_update(keys)
        for key in keys:
            for part in self._waiters.pop(key, ()):
                if part not in self._missing:
                    continue
                self._missing[part].discard(key)
                if not self._missing[part]:
                    del self._missing[part]
                    self._ready.append(part)

    def _go_on(self) -> None:
        while self._ready:
            part = self._ready.popleft()
            self._running = part if isinstance(part, Body) else None
            with self._executor.scheduled_by(self):
                wanted = part.go_on()
            self._running = None
            if wanted is not None:
                self._note(part, wanted)

    def _note(self, part: Part, wanted: Wanted) -> None:
        if wanted.last:
            self._last.append(part)
        if wanted.subject is None:
            return
        self._missing[part] = {call.key for call in wanted.calls}
        self._subjects[id(wanted.subject)] = wanted.subject
        for call in wanted.calls:
            self._waiters[call.key].append(part)
            if call.key not in self._sent:
                self._wanted[id(wanted.subject)][call.key] = call

    def decide(self, subject: Subject | None, calls: Sequence[Call]) -> Decision:
        """Park the body that runs until its calls have answers; calls from outside a
        body are sent at once.

        Raises:
            RecsysError: If the code that needs the answers cannot be parked.
        """
        body = self._running
        if body is None:
            return Decision.SEND
        if not body.runs_now:
            raise RecsysError(
                f"a test that runs ahead asks in {_caller()}, where it cannot wait for answers while other tests run; "
                f"mark this test with @pytest.mark.recsys_once, so that it runs by itself",
            )
        body.park(Wanted(subject, calls))
        return Decision.LOOK_AGAIN

    def settles(self) -> bool:
        """Park the body that runs until nothing else is
        sent; returns whether it was parked.
        """
        body = self._running
        if body is None or not body.runs_now:
            return False
        body.park(Wanted(last=True))
        return True


def _running_loop() -> asyncio.AbstractEventLoop | None:
    with contextlib.suppress(RuntimeError):
        return asyncio.get_running_loop()
    return None


def _caller() -> str:
    thread = threading.current_thread()
    return (
        "an event loop of its own"
        if thread is threading.main_thread()
        else f"the thread {thread.name!r}"
    )
