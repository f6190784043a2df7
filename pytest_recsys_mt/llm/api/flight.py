"""The calls of one batch in flight, and how their answers reach another thread."""

import asyncio
import contextlib
import itertools
import queue
from collections import deque
from collections.abc import Awaitable, Callable, Iterator, Sequence
from functools import partial

from pytest_recsys_mt.requests import Completion, Prompt

Arrival = tuple[int, Completion | None]
"""The position of a call and its answer; None for an attempt without an answer that may
have been paid for and may be repeated.
"""

Ask = Callable[[Prompt, Callable[[], Awaitable[None]]], Awaitable[Completion]]
"""Sends one prompt; awaits the second argument after each
failed attempt that may have been paid.
"""


class Flight:
    """Sends a limited number of prompts at a time, and yields the answers that have
    arrived.

    While `ahead` answers wait to be taken, no worker sends a prompt before its own
    answer is taken. With 0, a caller that counts the cost of answers can `stop` in
    time, however slowly it counts.
    """

    def __init__(self, ahead: int) -> None:
        self._ahead = ahead
        self._arrived: queue.SimpleQueue[
            tuple[Arrival, asyncio.Future[None]] | None
        ] = queue.SimpleQueue()
        self._waiting: deque[tuple[int, Prompt]] = deque()
        self._numbers = itertools.count()
        self._work: Callable[[], None] = lambda: None
        self._workers: set[asyncio.Task[None]] = set()
        self._sending: set[asyncio.Task[None] | None] = set()
        self._index_by_task: dict[asyncio.Task[None] | None, int] = {}
        self._unreported: set[int] = set()
        self._loop: asyncio.AbstractEventLoop | None = None
        self.stopped = False

    def __iter__(self) -> Iterator[list[Arrival]]:
        """The results of the calls, until `end`; those
        that arrived together in one list.
        """
        ended = False
        while not ended:
            arrived = [self._arrived.get()]
            with contextlib.suppress(queue.Empty):
                while True:
                    arrived.append(self._arrived.get_nowait())
            ended = arrived[-1] is None
            results = [each for each in arrived if each is not None]
            if results and self._loop is not None:
                yield [arrival for arrival, _ in results]
                self._unreported.difference_update(
                    position for (position, _), _ in results
                )
                with contextlib.suppress(RuntimeError):  # the loop may have closed
                    self._loop.call_soon_threadsafe(
                        _release,
                        [taken for _, taken in results],
                    )

    async def send_all(self, prompts: Sequence[Prompt], most: int, ask: Ask) -> None:
        """Send all prompts, and those that are added
        meanwhile, at most `most` at a time.
        """
        self._loop = asyncio.get_running_loop()

        async def work() -> None:
            while self._waiting and not self.stopped:
                index, prompt = self._waiting.popleft()
                self._index_by_task[asyncio.current_task()] = index
                answer = await ask(prompt, partial(self._hand_over, (index, None)))
                taken = self._hand_over((index, answer))
                # Who takes it may `add` prompts: the flight must not have ended by
                # then.
                if self._arrived.qsize() >= self._ahead or not self._waiting:
                    await taken

        def more() -> None:
            for _ in range(min(most - len(self._workers), len(self._waiting))):
                job = work()
                try:
                    worker = group.create_task(job)
                except RuntimeError:  # a call raised, and the flight breaks off
                    job.close()
                    return
                self._workers.add(worker)
                worker.add_done_callback(self._workers.discard)

        async with asyncio.TaskGroup() as group:
            self._work = more
            self._add(prompts)

    def add(self, prompts: Sequence[Prompt]) -> None:
        """Send these prompts too; their positions go on from the last. Thread-safe.

        Call it while an answer is being read from the iterator, so that the flight
        cannot have ended.
        """
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._add, prompts)

    def _add(self, prompts: Sequence[Prompt]) -> None:
        self._waiting.extend((next(self._numbers), prompt) for prompt in prompts)
        self._work()

    @contextlib.contextmanager
    def sending(self) -> Iterator[None]:
        """Surrounds an attempt: from here on it may be paid for, so `stop` lets it end."""
        task = asyncio.current_task()
        self._sending.add(task)
        self._unreported.add(self._index_by_task[task])
        try:
            yield
        finally:
            self._sending.discard(task)

    def unpaid(self) -> None:
        """Declare that the attempt that just failed cost nothing."""
        self._unreported.discard(self._index_by_task[asyncio.current_task()])

    @property
    def in_flight(self) -> list[int]:
        """The positions of the calls that may have been paid for
        since anything was yielded of them.
        """
        return sorted(self._unreported)

    def stop(self) -> None:
        """Start no further attempt; attempts in flight may
        end and are yielded. Thread-safe.
        """
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._stop)

    def _stop(self) -> None:
        self.stopped = True
        for worker in list(self._workers):
            if worker not in self._sending:
                worker.cancel()

    def end(self) -> None:
        """Declare that no more results will come."""
        self._arrived.put(None)

    def _hand_over(self, arrival: Arrival) -> asyncio.Future[None]:
        taken = asyncio.get_running_loop().create_future()
        self._arrived.put((arrival, taken))
        return taken


def _release(waited_for: Sequence[asyncio.Future[None]]) -> None:
    for taken in waited_for:
        if not taken.done():  # its worker may have been cancelled
            taken.set_result(None)
