"""The calls of one batch in flight, and how their answers reach another thread."""

import asyncio
import contextlib
import queue
from collections.abc import Awaitable, Callable, Iterator, Sequence
from functools import partial

from pytest_recsys_mt.requests import Completion, Prompt

Told = tuple[int, Completion | None]
"""The position of a call and its answer; None for an attempt without an answer that may have been
paid for and may be repeated."""

Ask = Callable[[Prompt, Callable[[], Awaitable[None]]], Awaitable[Completion]]
"""Asks one prompt; awaits the second argument after each failed attempt that may have been paid."""


class Flight:
    """Asks a limited number of prompts at a time, and yields each answer as it arrives.

    Each worker waits until its answer is taken before it asks the next prompt: a caller that counts
    the cost of answers can `stop` in time, however slowly it counts.
    """

    def __init__(self) -> None:
        self._arrived: queue.SimpleQueue[tuple[Told, Callable[[], object]] | None] = (
            queue.SimpleQueue()
        )
        self._workers: list[asyncio.Task[None]] = []
        self._sending: set[asyncio.Task[None] | None] = set()
        self._loop: asyncio.AbstractEventLoop | None = None
        self.stopped = False

    def __iter__(self) -> Iterator[Told]:
        """The results of the calls, until `end`."""
        while (arrived := self._arrived.get()) is not None:
            told, taken = arrived
            yield told
            with contextlib.suppress(RuntimeError):  # the loop may have closed
                taken()

    async def ask_all(self, prompts: Sequence[Prompt], most: int, ask: Ask) -> None:
        """Ask all prompts, at most `most` at a time."""
        self._loop = asyncio.get_running_loop()
        waiting = iter(enumerate(prompts))

        async def work() -> None:
            for index, prompt in waiting:
                answer = await ask(prompt, partial(self._tell, (index, None)))
                await self._tell((index, answer))
                if self.stopped:
                    return

        async with asyncio.TaskGroup() as group:
            self._workers = [group.create_task(work()) for _ in range(min(most, len(prompts)))]

    @contextlib.contextmanager
    def sending(self) -> Iterator[None]:
        """Surrounds an attempt: from here on it may be paid for, so `stop` lets it end."""
        task = asyncio.current_task()
        self._sending.add(task)
        try:
            yield
        finally:
            self._sending.discard(task)

    def stop(self) -> None:
        """Start no further attempt; attempts in flight may end and are yielded. Thread-safe."""
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._stop)

    def _stop(self) -> None:
        self.stopped = True
        for worker in self._workers:
            if worker not in self._sending:
                worker.cancel()

    def end(self) -> None:
        """Declare that no more results will come."""
        self._arrived.put(None)

    async def _tell(self, told: Told) -> None:
        taken = asyncio.Event()
        wake = partial(asyncio.get_running_loop().call_soon_threadsafe, taken.set)
        self._arrived.put((told, wake))
        await taken.wait()
