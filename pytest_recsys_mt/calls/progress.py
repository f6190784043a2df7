"""Shows the progress of the calls on the terminal."""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, TextIO, cast

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
    """

    def __init__(
        self, stream: TextIO | None, after: float = SHOWN_AFTER, every: float = SHOWN_EVERY
    ) -> None:
        self._stream = stream
        self._every = every
        self._after = after
        self._bar: tqdm[Any] | None = None
        self._cached = 0
        self._failed = 0
        self._tokens = 0
        self._usd: float | None = 0.0

    def line(self) -> TextIO | None:
        """A stream to the terminal that begins on a new line; None shows nothing."""
        return None if self._stream is None else cast("TextIO", _OwnLine(self._stream))

    @contextlib.contextmanager
    def batch(self, name: str, calls: int) -> Iterator[None]:
        """Show the progress of `calls` calls to a recommender while they are sent inside."""
        if self._stream is None:
            yield
            return
        from tqdm import tqdm

        with tqdm(
            total=calls,
            desc=f"calls to {name}",
            file=_OwnLine(self._stream),  # pyright: ignore[reportArgumentType] - tqdm only writes
            unit="call",
            delay=self._after,
            mininterval=self._every,
            miniters=1,
            leave=False,
            dynamic_ncols=True,
            smoothing=0.1,
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
                bar.refresh()
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
        if self._bar is not None:
            self._bar.total = (self._bar.total or 0) + calls

    def found(self) -> None:
        """Count an answer from the cache."""
        self._cached += 1

    def add(self, answer: Mapping[str, Any], usd: float | None) -> None:
        """Count an answer that has arrived."""
        self._failed += "error" in answer
        self._tokens += sum((answer.get("usage") or ())[:2])
        self._usd = None if usd is None or self._usd is None else self._usd + usd
        if self._bar is not None:
            self._bar.set_postfix_str(self._sofar, refresh=False)
            self._bar.update()

    @property
    def _sofar(self) -> str:
        parts = [f"{self._cached} cached", f"{self._failed} failed", f"{self._tokens} tokens"]
        if self._usd:
            parts.append(f"${self._usd:.2f}")
        return ", ".join(parts)

    def close(self) -> None:
        """Release the terminal."""
        if self._stream is not None:
            self._stream.close()
            self._stream = None


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
