"""Handles signals that stop a run, so that it ends and still writes its record.

pytest treats a second Ctrl-C like the first, even while it is ending, and handles
neither the SIGTERM by which supervisors and CI stop a run, nor the SIGHUP of a terminal
that is closed. Each would lose the record.
"""

import contextlib
import os
import signal
import threading
import time
from collections.abc import Sequence
from typing import Any

from pytest_recsys_mt.calls.scheduling import interrupted

PATIENCE = 10.0
"""Seconds that workers have to report their results."""


TOGETHER = 2.0
"""Seconds within which further signals are one with the
last: an impatient user presses Ctrl-C several times.
"""


class Interruptions:
    """Handles SIGINT, SIGTERM and SIGHUP.

    The first signal ends the run as Ctrl-C does, the second is ignored, the third ends
    the process; but that of a worker, which its controller ends.

    Args:
        worker: Whether this process is a worker of xdist.
    """

    def __init__(self, *, worker: bool) -> None:
        self._worker = worker
        self._signals = 0  # how many signals counted
        self._last = -TOGETHER  # when the last one came, counted or not
        self._before: dict[int, Any] = {}  # the handlers that were replaced

    def take(self) -> None:
        """Start handling the signals that nothing else handles or ignores."""
        if threading.current_thread() is not threading.main_thread():
            return
        interrupted.clear()
        for name in ("SIGINT", "SIGTERM", "SIGHUP"):
            number = getattr(signal, name, None)
            if number is None:  # Windows lacks SIGHUP
                continue
            before = signal.getsignal(number)
            if before in (
                signal.SIG_DFL,
                signal.default_int_handler,
            ):  # nohup has SIGHUP ignored
                self._before[number] = before
                signal.signal(number, self._take)

    def give_back(self) -> None:
        """Stop handling signals."""
        interrupted.clear()
        while self._before:
            number, handler = self._before.popitem()
            signal.signal(number, handler)

    def finish(self) -> None:
        """Treat the run as ending: the next signal is ignored, as after a first one."""
        self._signals = max(self._signals, 1)

    def _take(self, number: int, _frame: object) -> None:
        previous = self._last
        self._last = time.monotonic()
        if self._signals and self._last - previous < TOGETHER:
            return
        self._signals += 1
        if self._signals == 1:
            interrupted.set()
            raise KeyboardInterrupt
        if self._signals > 2 and not self._worker:
            # The earlier handler would only raise, and code may catch all and go on.
            signal.signal(number, signal.SIG_DFL)
            signal.raise_signal(number)


def end_workers(nodes: Sequence[Any]) -> int:
    """Stop the workers of this machine, and wait until they have reported their
    results.

    They get one signal: a further one would break off the report of a worker that is
    ending, which takes seconds on a busy machine. A worker that goes on, as its code
    has caught the signal, is killed.

    Returns:
        The number of workers that were killed, whose last calls were not reported.
    """
    local = [node for node in nodes if node.gateway.spec.popen]
    _signal(_running(local), signal.SIGINT)
    latest = time.monotonic() + PATIENCE
    while _running(local) and time.monotonic() < latest:
        time.sleep(0.02)
    killed = _running(local)
    _signal(killed, _KILL)
    return len(killed)


_KILL = getattr(signal, "SIGKILL", signal.SIGTERM)  # Windows has none


def _running(nodes: Sequence[Any]) -> list[Any]:
    """The workers that have not reported their end."""
    return [node for node in nodes if not node._down]


def _signal(nodes: Sequence[Any], number: int) -> None:
    # Windows sends Ctrl-C to the workers too, and there os.kill would end them without
    # a report.
    if os.name != "posix":
        return
    for node in nodes:
        with contextlib.suppress(ProcessLookupError):
            os.kill(node.gateway._rinfo().pid, number)
