"""Shows the progress of the calls on the terminal."""

from __future__ import annotations

import contextlib
import math
import os
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, TextIO, cast

from pytest_recsys_mt.calls.prices import dollars
from pytest_recsys_mt.calls.rate import Rate

if TYPE_CHECKING:
    from tqdm import tqdm

STANDARD_ERROR = 2
SHOWN_AFTER = 1.0
"""Seconds before a batch of calls shows its progress; shorter batches show none."""

SHOWN_EVERY = 0.2


def terminal(descriptor: int = STANDARD_ERROR) -> TextIO | None:
    """A separate stream to the terminal behind a file descriptor; None if it is no terminal.

    pytest replaces standard error by files while tests run. A copy of the descriptor, made before,
    still writes to the terminal and is not captured.
    """
    try:
        if not os.isatty(descriptor):
            return None
        return open(os.dup(descriptor), "w", encoding="utf-8", errors="replace")
    except OSError:
        return None


class Progress:
    """Counts the calls of a run, and shows each batch of them while it is sent.

    Args:
        stream: Stream to a terminal; None shows nothing.
        after: Seconds before a batch is shown.
        every: Seconds between two updates.
        clock: Returns the time in seconds, for the time left.
    """

    def __init__(
        self,
        stream: TextIO | None,
        after: float = SHOWN_AFTER,
        every: float = SHOWN_EVERY,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._stream = stream
        self._every = every
        self._after = after
        self._clock = clock
        self._bar: tqdm[Any] | None = None
        self._rate = Rate(clock)
        self._name = ""
        self._wanted = self._answered = 0
        self._calls = 0
        self._cached = 0
        self._failed = 0
        self._tokens = 0
        self._usd: float | None = 0.0
        self._most_calls: tuple[float, str] = (math.inf, "")
        self._most_usd: tuple[float, str] = (math.inf, "")

    def line(self) -> TextIO | None:
        """A stream to the terminal that begins on a new line; None shows nothing."""
        return None if self._stream is None else cast("TextIO", _OwnLine(self._stream))

    def at_most(self, calls: float | None, usd: float | None, why: str) -> None:
        """Show how much of an upper bound is used; of several bounds, of the smallest.

        Args:
            calls: The most calls that the run makes; None if unknown.
            usd: The most that they cost; None if unknown.
            why: Who says so, as the line shows it: ``planned`` or ``allowed``.
        """
        self._most_calls = min(self._most_calls, (math.inf if calls is None else calls, why))
        self._most_usd = min(self._most_usd, (math.inf if usd is None else usd, why))

    def spent(self, calls: int, usd: float) -> None:
        """Set what the run has spent so far, in all its processes."""
        self._calls, self._usd = calls, usd

    @contextlib.contextmanager
    def batch(self, name: str, calls: int) -> Iterator[None]:
        """Show the progress of `calls` calls to a recommender while they are sent inside."""
        if self._stream is None:
            yield
            return
        from tqdm import tqdm

        self._rate, self._name = Rate(self._clock), name
        self._wanted, self._answered = calls, 0
        with tqdm(
            total=calls,
            desc="calls",
            bar_format="{desc} {n_fmt}/{total_fmt} [{elapsed}{postfix}]",
            file=_OwnLine(self._stream),  # pyright: ignore[reportArgumentType] - tqdm only writes
            delay=self._after,
            mininterval=self._every,
            miniters=1,
            leave=False,
            dynamic_ncols=True,
        ) as bar:
            self._bar = bar
            with self._ticking(bar):
                yield
            self._bar = None

    @contextlib.contextmanager
    def _ticking(self, bar: tqdm[Any]) -> Iterator[None]:
        """Show the elapsed time, even while a recommender works on all calls at once."""
        done = threading.Event()

        def tick() -> None:
            wait = self._after
            while not done.wait(wait):
                bar.set_postfix_str(self._sofar)
                wait = self._every

        ticker = threading.Thread(target=tick, name="recsys-mt progress", daemon=True)
        ticker.start()
        try:
            yield
        finally:
            done.set()
            ticker.join()

    def more(self, calls: int) -> None:
        """Count calls that join the batch being sent."""
        self._wanted += calls
        if self._bar is not None:
            self._bar.total = self._wanted

    def found(self) -> None:
        """Count an answer from the cache."""
        self._cached += 1

    def add(self, answer: Mapping[str, Any], usd: float | None) -> None:
        """Count an answer that has arrived."""
        self._rate.add()
        self._answered += 1
        self._calls += 1
        self._failed += "error" in answer
        self._tokens += sum((answer.get("usage") or ())[:2])
        self._usd = None if usd is None or self._usd is None else self._usd + usd
        if self._bar is not None:
            self._bar.set_postfix_str(self._sofar, refresh=False)
            self._bar.update()

    @property
    def seconds_left(self) -> float | None:
        """How long the calls known so far will take at the rate of the latest ones; None if unknown."""
        rate = self._rate.per_second
        return (self._wanted - self._answered) / rate if rate else None

    @property
    def _sofar(self) -> str:
        """What is known, the most important first: a narrow terminal cuts the end."""
        left, parts = self.seconds_left, []
        if left is not None:
            parts += [f"about {_minutes(left)} left"]
        parts += [
            *filter(None, [self._of_the_most]),
            f"{self._rate.per_second:.1f}/s",
            self._name,
            f"{self._cached} cached",
            f"{self._failed} failed",
            f"{self._tokens} tokens",
        ]
        return ", ".join(parts)

    @property
    def _of_the_most(self) -> str:
        """What is spent, and of how much: of USD if they are known, else of calls."""
        (usd, why), (calls, told) = self._most_usd, self._most_calls
        if self._usd is not None and (self._usd or 0 < usd < math.inf):
            spent = f"spent {dollars(self._usd)}"
            return spent if usd == math.inf else f"{spent} of at most {dollars(usd)} {why}"
        if calls == math.inf:
            return ""
        return f"{self._calls} of at most {calls:g} calls {told}"

    def close(self) -> None:
        """Release the terminal."""
        if self._stream is not None:
            self._stream.close()
            self._stream = None


def _minutes(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes:02}:{rest:02}"


class _OwnLine:
    """A stream that begins on a new line, so that pytest's line of dots stays intact."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._begun = False
        self.encoding = stream.encoding

    def write(self, text: str) -> int:
        if not self._begun and text:
            self._begun = True
            self._stream.write("\n")
        return self._stream.write(text)

    def flush(self) -> None:
        self._stream.flush()

    def fileno(self) -> int:
        return self._stream.fileno()

    def isatty(self) -> bool:
        return True
