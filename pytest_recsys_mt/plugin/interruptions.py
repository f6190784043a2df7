"""A run that is told to stop: it ends, and there is time to write down what it did.

pytest takes a second Ctrl-C as it takes the first, also in the middle of ending, and knows nothing of the SIGTERM by
which supervisors and CI stop a run. Either would lose the record.
"""

from __future__ import annotations

import contextlib
import os
import signal
import threading
import time
from collections.abc import Sequence
from typing import Any

PATIENCE = 10.0
"""Seconds that workers have to say what they did."""


class Interruptions:
    """Takes SIGINT and SIGTERM.

    The first one ends the run as Ctrl-C does, the second one is left out, the third one ends the process.

    Args:
        worker: Whether this process is a worker, which its controller ends.
    """

    def __init__(self, *, worker: bool) -> None:
        self._worker = worker
        self._told = 0
        self._before: dict[int, Any] = {}

    def take(self) -> None:
        """From now on, take the signals that nobody else has taken or ignores."""
        if threading.current_thread() is not threading.main_thread():
            return
        for number in (signal.SIGINT, signal.SIGTERM):
            before = signal.getsignal(number)
            if before in (signal.SIG_DFL, signal.default_int_handler):
                self._before[number] = before
                signal.signal(number, self._take)

    def give_back(self) -> None:
        """Take no more of them."""
        while self._before:
            signal.signal(*self._before.popitem())

    def finish(self) -> None:
        """The run ends by itself: what comes now is left out, as after a first one."""
        self._told = max(self._told, 1)

    def _take(self, number: int, _frame: object) -> None:
        self._told += 1
        if self._told == 1:
            raise KeyboardInterrupt
        if self._told > 2 and not self._worker:
            self.give_back()
            signal.raise_signal(number)


def end_workers(nodes: Sequence[Any]) -> None:
    """Have workers of this machine stop, and wait until they have said what they did.

    Args:
        nodes: As xdist's controller has them.
    """
    local = [node for node in nodes if node.gateway.spec.popen]
    for node in (node for node in local if not node._down):
        with contextlib.suppress(ProcessLookupError):
            os.kill(node.gateway._rinfo().pid, signal.SIGINT)
    latest = time.monotonic() + PATIENCE
    while time.monotonic() < latest and not all(node._down for node in local):
        time.sleep(0.02)
