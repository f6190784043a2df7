"""Asks what the bodies of many tests wait for, all together, before the tests run.

A body is run; where an answer is missing it is left, and the calls it waits for are sent together with those of
all other bodies. Once its own answers are there it is run again from its start, until nothing is missing. The
answers are then in the cache when the test itself runs.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Sequence
from functools import partial

from pytest_recsys_mt.calls.call import Call
from pytest_recsys_mt.calls.executor import Executor, Waiting
from pytest_recsys_mt.calls.subject import Subject

Body = Callable[[], None]
"""Runs a test as far as its answers go: raises `Waiting` where some are missing."""


class Rehearsal:
    """Runs bodies until they wait for no more answers.

    Args:
        executor: Sends the calls.
        bodies: The bodies; each may be run many times.
    """

    def __init__(self, executor: Executor, bodies: Sequence[Body]) -> None:
        self._executor = executor
        self._ready = deque(bodies)
        self._missing: dict[Body, set[str]] = {}
        self._waiters: defaultdict[str, list[Body]] = defaultdict(list)
        self._wanted: defaultdict[int, dict[str, Call]] = defaultdict(dict)
        self._subjects: dict[int, Subject] = {}
        self._sent: set[str] = set()

    def run(self) -> None:
        """Run and ask until every body has ended, or a limit of the run is reached.

        Raises:
            CacheError: If answers cannot be read.
        """
        self._go_on()
        while self._wanted:
            asked = max(self._wanted, key=lambda each: len(self._wanted[each]))
            subject, calls = self._subjects[asked], self._affordable(asked)
            if not calls:
                return
            self._sent.update(call.key for call in calls)
            answers = self._executor.execute(subject, calls, then=partial(self._then, asked))
            if any("unasked" in answer for answer in answers):
                return
            # Failed calls too: their bodies find the failure.
            self._arrived(list(self._sent))
            self._go_on()

    def _affordable(self, asked: int) -> list[Call]:
        """The calls to send to a recommender: all, or those of as many bodies as a limit can pay for.

        The other bodies are left to their tests: a part of what they wait for would be of no use.
        """
        wanted = {call.key: call for call in self._taken(asked)}
        own = {
            body: {key: wanted[key] for key in missing if key in wanted}
            for body, missing in self._missing.items()
        }
        ordered = {key: call for calls in own.values() for key, call in calls.items()}
        room = self._executor.room(self._subjects[asked], list(ordered.values()))
        if room >= len(wanted):
            return list(wanted.values())
        kept: dict[str, Call] = {}
        for body, calls in own.items():
            if calls and len(kept | calls) > room:
                del self._missing[body]
            else:
                kept |= calls
        return sorted(kept.values(), key=lambda call: call.key)

    def _then(self, asked: int, keys: Sequence[str]) -> list[Call]:
        self._arrived(keys)
        self._go_on()
        calls = self._taken(asked)
        self._sent.update(call.key for call in calls)
        return calls

    def _taken(self, asked: int) -> list[Call]:
        """The calls that bodies wait for, in a random order, so that a change during the run affects all alike."""
        return sorted(self._wanted.pop(asked, {}).values(), key=lambda call: call.key)

    def _arrived(self, keys: Sequence[str]) -> None:
        """Make ready the bodies that wait for no other answer."""
        self._sent.difference_update(keys)
        for key in keys:
            for body in self._waiters.pop(key, ()):
                if body not in self._missing:
                    continue
                self._missing[body].discard(key)
                if not self._missing[body]:
                    self._ready.append(body)

    def _go_on(self) -> None:
        """Run what is ready, and note what it waits for."""
        while self._ready:
            body = self._ready.popleft()
            try:
                with self._executor.only_known():
                    body()
            except Waiting as waiting:
                self._note(body, waiting)

    def _note(self, body: Body, waiting: Waiting) -> None:
        if waiting.subject is None:
            return
        self._missing[body] = {call.key for call in waiting.calls}
        self._subjects[id(waiting.subject)] = waiting.subject
        for call in waiting.calls:
            self._waiters[call.key].append(body)
            if call.key not in self._sent:
                self._wanted[id(waiting.subject)][call.key] = call
