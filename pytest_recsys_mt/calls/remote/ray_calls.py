"""How an `Executor` sends calls to a Ray cluster: the actors of a recommender, and their calls."""

import logging
import math
import os
import sys
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pytest_recsys_mt.calls.answer import Answer, describe_failure
from pytest_recsys_mt.calls.call import Call
from pytest_recsys_mt.calls.remote import recipe as recipes
from pytest_recsys_mt.calls.remote.cluster import (
    Needs,
    connect,
    offered,
    quietly,
    require_ray,
    room,
)
from pytest_recsys_mt.calls.remote.recipe import Recipe, pack_calls, pack_recipe
from pytest_recsys_mt.calls.subject import Subject
from pytest_recsys_mt.calls.subjects import subject
from pytest_recsys_mt.datasets.dataset import Dataset
from pytest_recsys_mt.errors import RecommenderError
from pytest_recsys_mt.safety.redaction import shortened
from pytest_recsys_mt.safety.sanitize import one_line

_log = logging.getLogger(__name__)

CHUNK = 256
"""Most calls that an actor receives at a time."""

ROUNDS = 4
"""Chunks per actor, if there are enough calls, so that a slow actor causes little delay."""

ASKS = 2
"""Most times that a call is sent: again if the first actor died with it."""

STARTS = 3
"""How many actors may die before they are ready until the recommender counts as the cause."""

_PATIENCE = 10.0  # seconds without news until the cluster is checked again


@dataclass(eq=False)
class _Actor:
    handle: Any
    pending: Any  # its start, or the stream of its answers; None while it is idle
    ready: bool = False
    positions: list[int] = field(default_factory=list)
    left: set[int] = field(default_factory=set)  # positions of the calls that it has not answered


class Pool:
    """Actors that all hold the same recommender."""

    def __init__(self, name: str, recipe: bytes, training: Any, needs: Needs) -> None:
        self.name = name
        self._recipe = recipe
        self._training = training
        self._needs = needs
        self._actors: list[_Actor] = []
        self._reasons: Counter[str] = Counter()
        self._died_early = 0

    def ask(self, calls: Sequence[Call]) -> Iterator[list[tuple[int, Answer]]]:
        """Send the calls; yields as `Subject.ask` does."""
        space = room(self._needs)
        if not space:
            raise self._no_room()
        size = min(CHUNK, math.ceil(len(calls) / (ROUNDS * space)))
        positions = list(range(len(calls)))
        work = deque(positions[start : start + size] for start in range(0, len(calls), size))
        asked: Counter[int] = Counter()
        sample = pack_calls(calls[:1])
        for _ in range(min(len(work), space) - len(self._actors)):
            self._start(sample)
        try:
            while work or any(actor.left for actor in self._actors):
                self._hand_out(calls, work, asked)
                for actor in self._wait():
                    if actor.ready:
                        yield from self._hear(actor, work, asked, sample)
                    else:
                        self._started(actor, sample)
        finally:
            for actor in [actor for actor in self._actors if actor.left]:
                self._drop(actor)  # the caller stopped reading: drop the calls in flight

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
                self._recipe, self._training, sample, os.getcwd(), list(sys.path)
            )
        self._actors.append(_Actor(handle, ready))

    def _started(self, actor: _Actor, sample: bytes) -> None:
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
            actor.ready, actor.pending = True, None
            return
        self._reasons[reason] += 1
        self._drop(actor)
        if not self._actors:
            told = "; ".join(self._reasons)
            raise RecommenderError(f"no Ray actor could make the recommender {self.name}: {told}")
        _log.warning("a Ray actor could not make the recommender %s: %s", self.name, reason)

    def _hand_out(self, calls: Sequence[Call], work: deque[list[int]], asked: Counter[int]) -> None:
        for actor in self._actors:
            if work and actor.ready and actor.pending is None:
                actor.positions = work.popleft()
                actor.left = set(actor.positions)
                asked.update(actor.positions)
                packed = pack_calls([calls[position] for position in actor.positions])
                stream = actor.handle.ask.options(num_returns="streaming")
                actor.pending = stream.remote(packed)

    def _wait(self) -> list[_Actor]:
        import ray

        pending = [actor.pending for actor in self._actors if actor.pending is not None]
        told = False
        while True:
            ready, _ = ray.wait(pending, num_returns=len(pending), timeout=0)
            if not ready:
                ready, _ = ray.wait(pending, num_returns=1, timeout=_PATIENCE)
            if ready:
                return [actor for actor in self._actors if actor.pending in ready]
            if any(actor.ready for actor in self._actors):
                continue
            if not room(self._needs):
                raise self._no_room()
            if not told:
                told = True
                _log.warning("waiting for the Ray cluster: an actor needs %s", self._needs)

    def _hear(
        self, actor: _Actor, work: deque[list[int]], asked: Counter[int], sample: bytes
    ) -> Iterator[list[tuple[int, Answer]]]:
        import ray
        from ray.exceptions import RayError, RayTaskError

        try:
            arrived = ray.get(next(actor.pending))
        except StopIteration:
            failure = "the recommender gave no answer"
        except RayTaskError as error:
            failure = describe_failure(error.cause or error)
        except RayError as error:
            left = sorted(actor.left)
            self._drop(actor)
            # Resend one by one: if one call causes the death, the other calls survive.
            work.extendleft([position] for position in left if asked[position] < ASKS)
            lost = [position for position in left if asked[position] >= ASKS]
            if lost:
                reason = f"asked {ASKS} times, and its Ray actor died each time: {_cause(error)}"
                yield [(position, {"error": reason[:300]}) for position in lost]
            self._start(sample)
            return
        else:
            answers = [(actor.positions[place], answer) for place, answer in arrived]
            actor.left.difference_update(place for place, answer in answers if "lost" not in answer)
            yield answers
            return
        silent = sorted(actor.left)
        actor.pending, actor.left = None, set()
        if silent:
            yield [(position, {"error": failure}) for position in silent]

    def _drop(self, actor: _Actor) -> None:
        import ray

        self._actors.remove(actor)
        actor.left = set()
        ray.kill(actor.handle, no_restart=True)

    def _no_room(self) -> RecommenderError:
        return RecommenderError(
            f"no node of the Ray cluster has room for {self.name}, which needs {self._needs}; its "
            f"nodes have: {offered() or 'nothing'}; change cpus= and gpus= in the spec, or add a node"
        )


def _cause(error: Exception) -> str:
    return shortened(f"{type(error).__name__}: {one_line(str(error))}", 240)


class Asker:
    """Makes a recommender and asks it."""

    def __init__(self) -> None:
        self._subject: Subject | None = None

    def prepare(
        self, recipe: bytes, training: Dataset, call: bytes, folder: str, path: Sequence[str]
    ) -> str:
        """Make the recommender and fit it; returns why this actor cannot answer, empty if it can.

        File names are relative to `folder`, in which the run started. The `call` shows whether the
        recommender here is the one of the driver.
        """
        try:
            if Path(folder).is_dir():
                os.chdir(folder)
            sys.path += [place for place in path if place not in sys.path and Path(place).exists()]
            made: Recipe = recipes.unpack(recipe)
            known = subject(made.make(), made.name, made.prompt, made.fixture, made.timeout)
            known.fit(training, made.seed)
            (wanted,) = recipes.unpack(call)
            # Answers are stored under the driver's keys, so the model must be the driver's.
            here = recipes.same_call(known, wanted)
            if here.key != wanted.key:
                return f"it is another recommender there: {recipes.difference(wanted, here)}"
        except Exception as error:  # noqa: BLE001 - the driver reports any error
            return describe_failure(error)
        self._subject = known
        return ""

    def ask(self, packed: bytes) -> Iterator[list[tuple[int, Answer]]]:
        """Answer packed calls; yields as `Subject.ask` does."""
        calls: list[Call] = recipes.unpack(packed)
        assert self._subject is not None, "prepare() comes first"
        yield from self._subject.ask(calls)


class RayCalls:
    """Sends calls to an existing Ray cluster; the first call connects to it.

    Only one recommender has actors at a time: a second one would wait for its cores forever.
    """

    def __init__(self, training: Callable[[], Dataset]) -> None:
        require_ray()
        self._training = training
        self._sent: Any = None
        self._known: dict[int, tuple[bytes | RecommenderError, Needs]] = {}
        self._pool: Pool | None = None
        self._served: Subject | None = None
        self._connected = False

    def know(self, subject: Subject, recipe: Recipe, recommender: object, needs: Needs) -> None:
        """Store how to make the recommender of a subject, before it is fitted here.

        A recommender that cannot be sent raises only when it is asked: its answers may all be cached.
        """
        try:
            packed: bytes | RecommenderError = pack_recipe(recipe, recommender)
        except RecommenderError as error:
            packed = error
        self._known[id(subject)] = (packed, needs)

    def ask(self, subject: Subject, calls: Sequence[Call]) -> Iterator[list[tuple[int, Answer]]]:
        """Send the calls; yields as `Subject.ask` does."""
        subject = getattr(subject, "origin", subject)
        recipe, needs = self._known[id(subject)]
        if isinstance(recipe, RecommenderError):
            raise recipe
        self._connected = connect() or self._connected
        if self._pool is None or self._served is not subject:
            self._let_go()
            self._served = subject
            if self._sent is None:
                import ray

                self._sent = ray.put(self._training())
            self._pool = Pool(subject.name, recipe, self._sent, needs)
        try:
            yield from self._pool.ask(calls)
        finally:
            # Release the cores of idle actors for the next worker that asks.
            if "PYTEST_XDIST_WORKER" in os.environ:
                self._let_go()

    def close(self) -> None:
        """End the actors, and the connection if this object made it."""
        self._let_go()
        if self._connected:
            import ray

            self._sent = None
            self._connected = False
            ray.shutdown()

    def _let_go(self) -> None:
        if self._pool is not None:
            self._pool.close()
            self._pool = self._served = None
