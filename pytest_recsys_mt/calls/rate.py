"""How fast answers arrive."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable

WINDOW = 30.0
"""Seconds that count: an endpoint may become slower or faster."""

LEAST = 50
"""So many answers count, even if they took longer: fewer say little about the next ones."""


class Rate:
    """The rate of the answers to one batch of calls."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._times = deque([clock()])  # of the answers that count, behind the start of their time

    def add(self) -> None:
        """Count an answer that arrives now."""
        now = self._clock()
        self._times.append(now)
        while len(self._times) - 1 > LEAST and self._times[1] < now - WINDOW:
            self._times.popleft()

    @property
    def per_second(self) -> float:
        """Answers per second; 0 before the first."""
        seconds = self._clock() - self._times[0]
        return (len(self._times) - 1) / seconds if seconds > 0 else 0.0
