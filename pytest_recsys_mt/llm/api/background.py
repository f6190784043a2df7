"""An event loop in its own thread: async clients for
callers that may already be in a loop.
"""

import asyncio
import threading
import weakref
from collections.abc import Coroutine
from concurrent.futures import Future
from contextlib import AbstractAsyncContextManager
from typing import Any, TypeVar

T = TypeVar("T")

_PATIENCE = 5.0
"""Seconds that closing waits for the thread; a longer hang ends with the interpreter."""


class BackgroundLoop:
    """A running event loop that holds one resource open, from before the first task
    until after the last.

    It closes on `close`, when the last reference is dropped, or when the interpreter
    exits.
    """

    def __init__(self, resource: AbstractAsyncContextManager[Any]) -> None:
        started: Future[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = Future()
        # A daemon: other threads are joined before exit handlers run, so nothing would
        # stop it.
        thread = threading.Thread(
            target=_run,
            args=(resource, started),
            name="recsys-mt-calls",
            daemon=True,
        )
        thread.start()
        self._loop, stop = started.result()
        self._finalizer = weakref.finalize(self, _stop, self._loop, stop, thread)

    def submit(self, coroutine: Coroutine[Any, Any, T]) -> Future[T]:
        """Start a coroutine in the loop; cancelling the future cancels it."""
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop)

    def close(self) -> None:
        """Cancel running tasks, leave the resource, end the
        thread; a second call is a no-op.
        """
        self._finalizer()


def _run(
    resource: AbstractAsyncContextManager[Any],
    started: Future[tuple[asyncio.AbstractEventLoop, asyncio.Event]],
) -> None:
    async def live() -> None:
        async with resource:
            stop = asyncio.Event()
            started.set_result((asyncio.get_running_loop(), stop))
            await stop.wait()
            others = asyncio.all_tasks() - {asyncio.current_task()}
            for task in others:
                task.cancel()
            await asyncio.gather(*others, return_exceptions=True)

    try:
        asyncio.run(live())
    except BaseException as error:
        if started.done():
            raise
        started.set_exception(error)


def _stop(
    loop: asyncio.AbstractEventLoop,
    stop: asyncio.Event,
    thread: threading.Thread,
) -> None:
    if not loop.is_closed():
        loop.call_soon_threadsafe(stop.set)
    # The last reference may be dropped in the loop's own thread.
    if thread is not threading.current_thread():
        thread.join(_PATIENCE)
