"""The actors of a recommender in a Ray cluster, and the calls that each was sent."""

import logging
import math
import os
import sys
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from pytest_recsys_mt.calls.answer import Answer, describe_failure
from pytest_recsys_mt.calls.call import Call
from pytest_recsys_mt.calls.remote.asker import Asker
from pytest_recsys_mt.calls.remote.cluster import Needs, offered, quietly, room
from pytest_recsys_mt.calls.remote.recipe import pack_calls
from pytest_recsys_mt.safety.errors import RecommenderError
from pytest_recsys_mt.safety.redaction import shortened
from pytest_recsys_mt.safety.sanitize import one_line

_log = logging.getLogger(__name__)

CHUNK = 256
"""Most calls that an actor receives at a time."""

ROUNDS = 4
"""Chunks per actor, if there are enough calls, so that
a slow actor causes little delay.
"""

SENDS = 2
"""Most times that a call is sent: again if the first actor died with it."""

STARTS = 3
"""How many actors may die before they are ready until
the recommender counts as the cause.
"""

_PATIENCE = 10.0  # seconds without news until the cluster is checked again


@dataclass(eq=False)
class _Actor:
    """An actor and the calls that it was sent.

    Attributes:
        handle: Ray's handle of it.
        pending: Its start, or the stream of its answers; None while it is idle.
        is_ready: Whether it has made its recommender.
        positions: The positions of the calls that it was sent last.
        unanswered: Those of them without an answer.
    """

    handle: Any
    pending: Any
    is_ready: bool = False
    positions: list[int] = field(default_factory=list)
    unanswered: set[int] = field(default_factory=set)


class _Batch:
    """Calls in chunks, of which each actor gets one at a time.

    Attributes:
        sample: The first call, packed, by which an actor checks that its recommender is
            that of the driver.
        chunks: The positions of the calls that no actor has now.
        times_sent: How often each call was sent, by its position.
    """

    def __init__(self, calls: Sequence[Call], chunk_size: int) -> None:
        self._calls = calls
        self.sample = pack_calls(calls[:1])
        self.chunks: deque[list[int]] = deque()
        self.times_sent: Counter[int] = Counter()
        positions = list(range(len(calls)))
        for start in range(0, len(calls), chunk_size):
            self.chunks.append(positions[start : start + chunk_size])

    def send_chunk(self, actor: _Actor) -> None:
        """Send the next chunk to an idle actor."""
        actor.positions = self.chunks.popleft()
        actor.unanswered = set(actor.positions)
        self.times_sent.update(actor.positions)
        packed = pack_calls([self._calls[position] for position in actor.positions])
        stream = actor.handle.ask.options(num_returns="streaming")
        actor.pending = stream.remote(packed)


class Pool:
    """Actors that all hold the same recommender.

    Args:
        name: The name of the recommender.
        recipe: How to make it, packed.
        training: Ray's reference to the data that it is fitted to.
        needs: The resources of each actor.
    """

    def __init__(self, name: str, recipe: bytes, training: Any, needs: Needs) -> None:
        self.name = name
        self._recipe = recipe
        self._training = training
        self._needs = needs
        self._actors: list[_Actor] = []
        self._start_failures: Counter[str] = Counter()
        self._died_early = 0

    def ask(self, calls: Sequence[Call]) -> Iterator[list[tuple[int, Answer]]]:
        """Send the calls; yields as `Subject.ask` does."""
        space = room(self._needs)
        if not space:
            raise self._no_room()
        chunk_size = min(CHUNK, math.ceil(len(calls) / (ROUNDS * space)))
        batch = _Batch(calls, chunk_size)
        wanted_actors = min(len(batch.chunks), space)
        for _ in range(wanted_actors - len(self._actors)):
            self._start(batch.sample)
        try:
            while batch.chunks or any(actor.unanswered for actor in self._actors):
                self._send_chunks(batch)
                for actor in self._wait():
                    if actor.is_ready:
                        yield from self._receive(actor, batch)
                    else:
                        self._finish_start(actor, batch.sample)
        finally:
            # Some are busy here only if the caller stopped reading, or an error was
            # raised.
            busy = [actor for actor in self._actors if actor.unanswered]
            for actor in busy:
                self._drop(actor)

    def close(self) -> None:
        """End the actors, even busy ones."""
        for actor in list(self._actors):
            self._drop(actor)

    def _start(self, sample: bytes) -> None:
        import ray

        remote: Any = ray.remote(Asker)
        with quietly():
            handle = remote.options(
                num_cpus=self._needs.cpus,
                num_gpus=self._needs.gpus,
                max_restarts=0,
                max_task_retries=0,
                scheduling_strategy="SPREAD",
            ).remote()
            ready = handle.prepare.remote(
                self._recipe,
                self._training,
                sample,
                os.getcwd(),
                list(sys.path),
            )
        self._actors.append(_Actor(handle, ready))

    def _finish_start(self, actor: _Actor, sample: bytes) -> None:
        """Note that an actor is ready, or why it cannot answer;
        one that died is replaced a few times.
        """
        import ray
        from ray.exceptions import RayError

        try:
            reason: str = ray.get(actor.pending)  # pyright: ignore[reportAssignmentType]
        except RayError as error:
            reason = _cause(error)
            self._died_early += 1
            if self._died_early < STARTS:
                self._start(sample)
        if not reason:
            actor.is_ready = True
            actor.pending = None
            return
        self._start_failures[reason] += 1
        self._drop(actor)
        if not self._actors:
            reasons = "; ".join(self._start_failures)
            raise RecommenderError(
                f"no Ray actor could make the recommender {self.name}: {reasons}",
            )
        _log.warning(
            "a Ray actor could not make the recommender %s: %s",
            self.name,
            reason,
        )

    def _send_chunks(self, batch: _Batch) -> None:
        for actor in self._actors:
            if batch.chunks and actor.is_ready and actor.pending is None:
                batch.send_chunk(actor)

    def _wait(self) -> list[_Actor]:
        """Wait for news; returns the actors that have some.

        While no actor is ready, checks from time to time that the cluster has room for
        one.
        """
        import ray

        pending = [actor.pending for actor in self._actors if actor.pending is not None]
        was_logged = False
        while True:
            # All that have news, rather than the first: each gets its turn.
            with_news, _ = ray.wait(pending, num_returns=len(pending), timeout=0)
            if not with_news:
                with_news, _ = ray.wait(pending, num_returns=1, timeout=_PATIENCE)
            if with_news:
                return [actor for actor in self._actors if actor.pending in with_news]
            if any(actor.is_ready for actor in self._actors):
                continue
            if not room(self._needs):
                raise self._no_room()
            if not was_logged:
                was_logged = True
                _log.warning(
                    "waiting for the Ray cluster: an actor needs %s",
                    self._needs,
                )

    def _receive(
        self,
        actor: _Actor,
        batch: _Batch,
    ) -> Iterator[list[tuple[int, Answer]]]:
        """The next answers of an actor, or the failure of the
        calls that it leaves without one.
        """
        import ray
        from ray.exceptions import RayError, RayTaskError

        try:
            arrived = ray.get(next(actor.pending))
        except StopIteration:
            failed = self._fail_unanswered(actor, "the recommender gave no answer")
        except RayTaskError as error:
            failed = self._fail_unanswered(
                actor,
                describe_failure(error.cause or error),
            )
        except RayError as error:
            yield from self._replace(actor, batch, error)
            return
        else:
            answers = [(actor.positions[place], answer) for place, answer in arrived]
            actor.unanswered.difference_update(
                position for position, answer in answers if "lost" not in answer
            )
            yield answers
            return
        if failed:
            yield failed

    def _fail_unanswered(self, actor: _Actor, reason: str) -> list[tuple[int, Answer]]:
        """The failure of the calls that an actor has not
        answered; it is idle from now on.
        """
        failed: list[tuple[int, Answer]] = [
            (position, {"error": reason}) for position in sorted(actor.unanswered)
        ]
        actor.pending = None
        actor.unanswered = set()
        return failed

    def _replace(
        self,
        actor: _Actor,
        batch: _Batch,
        error: Exception,
    ) -> Iterator[list[tuple[int, Answer]]]:
        """Start another actor for one that died; yields the
        failure of calls that were sent too often.
        """
        unanswered = sorted(actor.unanswered)
        self._drop(actor)
        # Resend one by one: if one call causes the death, the other calls survive.
        batch.chunks.extendleft(
            [position] for position in unanswered if batch.times_sent[position] < SENDS
        )
        lost = [
            position for position in unanswered if batch.times_sent[position] >= SENDS
        ]
        if lost:
            died = f"its Ray actor died each time: {_cause(error)}"
            reason = f"asked {SENDS} times, and {died}"
            yield [(position, {"error": reason[:300]}) for position in lost]
        self._start(batch.sample)

    def _drop(self, actor: _Actor) -> None:
        import ray

        self._actors.remove(actor)
        actor.unanswered = set()
        ray.kill(actor.handle, no_restart=True)

    def _no_room(self) -> RecommenderError:
        return RecommenderError(
            f"no node of the Ray cluster has room for {self.name}, which needs {self._needs}; its "
            f"nodes have: {offered() or 'nothing'}; change cpus= and gpus= in the spec, or add a node",
        )


def _cause(error: Exception) -> str:
    return shortened(f"{type(error).__name__}: {one_line(str(error))}", 240)
