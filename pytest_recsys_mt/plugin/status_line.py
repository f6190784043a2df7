"""The line that shows how far a run is: below pytest's own
output on a terminal, else now and then in a log.
"""

import os
import threading
import time
from collections.abc import Callable
from typing import TextIO

from pytest_recsys_mt.safety.widths import fitting

STANDARD_OUTPUT, STANDARD_ERROR = 1, 2

SHOWN_AFTER = 0.5
"""Seconds without output of pytest before the line is shown: its dots
are progress too.
"""

SHOWN_EVERY = 0.25
"""Seconds between two updates on a terminal."""

LOGGED_EVERY = 30.0
"""Seconds between two lines in a log: a run in CI, or in a pipe."""

LOGGED_EVERY_HERE = 5.0
"""The same on a terminal that tests print to themselves (``-s``)."""

ROOM_BELOW = "\x1bD\x1bM"
"""Scrolls if the cursor is on the last row; its column stays."""

KEPT, BACK = "\x1b7", "\x1b8"
BELOW = "\r\x1b[B"
TO_THE_END = "\x1b[K"


def terminal() -> TextIO | None:
    """A separate stream to the terminal behind standard error or output; None if
    neither is one.

    pytest replaces both by files while tests run. A copy of the descriptor, made
    before, still writes to the terminal and is not captured.
    """
    if os.environ.get("TERM") == "dumb":
        return None
    return _copy(STANDARD_ERROR) or _copy(STANDARD_OUTPUT)


def log() -> TextIO | None:
    """A separate stream to standard error; None if it is closed."""
    return _copy(STANDARD_ERROR, any_file=True)


def _copy(descriptor: int, *, any_file: bool = False) -> TextIO | None:
    """A stream of a descriptor's copy; None if it is closed, or
    no terminal, unless `any_file` will do.
    """
    try:
        if not any_file and not os.isatty(descriptor):
            return None
        return open(os.dup(descriptor), "w", encoding="utf-8", errors="replace")
    except OSError:
        return None


class Shown:
    """Where the line goes."""

    every: float  # seconds between two calls of `tick`

    def tick(self) -> None:
        """Show the line as it is now."""
        raise NotImplementedError

    def hide(self) -> None:
        """Leave no trace of it, as something else is to be shown;
        an output that keeps every line does nothing.
        """


class Below(Shown):
    """Shows the line on the row below the cursor, and leaves the cursor and pytest's
    row as they are.

    Args:
        stream: The terminal.
        line: Makes the line.
        after: Seconds without other output before the line is shown.
        every: Seconds between two updates.
    """

    def __init__(
        self,
        stream: TextIO,
        line: Callable[[], str],
        after: float = SHOWN_AFTER,
        every: float = SHOWN_EVERY,
    ) -> None:
        self.every = every
        self._stream = stream
        self._line = line
        self._after = after
        self._hidden_at = time.monotonic()
        self._shown = ""

    def tick(self) -> None:
        """Show the line as it is now, unless something else was shown a moment ago."""
        if not self._shown and time.monotonic() - self._hidden_at < self._after:
            return
        text = fitting(self._line(), _columns(self._stream) - 1)
        if text and text != self._shown:
            self._write(f"{ROOM_BELOW}{KEPT}{BELOW}{text}{TO_THE_END}{BACK}")
        elif self._shown and not text:
            self._write(f"{KEPT}{BELOW}{TO_THE_END}{BACK}")
        self._shown = text

    def hide(self) -> None:
        if self._shown:
            self._write(f"{KEPT}{BELOW}{TO_THE_END}{BACK}")
        self._shown = ""
        self._hidden_at = time.monotonic()

    def _write(self, text: str) -> None:
        self._stream.write(text)
        self._stream.flush()


class Logged(Shown):
    """Writes the line to a log now and then, so that a long run does not look as if it
    hangs.

    Args:
        stream: The log.
        line: Makes the line.
        column: The column at which other output in the log ends.
        every: Seconds between two lines.
    """

    def __init__(
        self,
        stream: TextIO,
        line: Callable[[], str],
        column: Callable[[], int],
        every: float = LOGGED_EVERY,
    ) -> None:
        self.every = every
        self._stream = stream
        self._line = line
        self._column = column

    def tick(self) -> None:
        """Write the line as it is now."""
        text = self._line()
        if not text:
            return
        line_end = "\n" if self._column() else ""  # of a line that pytest has begun
        self._stream.write(f"{line_end}recsys-mt: {text}\n")
        self._stream.flush()


class Ticker:
    """Shows the line again and again in a thread, until it is stopped.

    Args:
        shown: Where the line goes.
    """

    def __init__(self, shown: Shown) -> None:
        self._shown = shown
        self._done = threading.Event()
        self._paused = False
        self._lock = threading.RLock()
        self._thread = threading.Thread(
            target=self._run,
            name="recsys-mt progress",
            daemon=True,
        )
        self._thread.start()

    def _run(self) -> None:
        while not self._done.wait(self._shown.every):
            with self._lock:
                if self._paused or self._done.is_set():
                    continue
                try:
                    self._shown.tick()
                except (OSError, ValueError):  # the terminal is gone
                    return

    def alone(self, write: Callable[..., object]) -> Callable[..., object]:
        """`write` as a function that hides the line first."""

        def hide_and_write(*arguments: object, **named: object) -> object:
            with self._lock:
                self._hide()
                return write(*arguments, **named)

        return hide_and_write

    def pause(self, paused: bool) -> None:
        """Stop showing the line for a while, or go on."""
        with self._lock:
            self._paused = paused
            self._hide()

    def stop(self) -> None:
        """Show nothing more."""
        self._done.set()
        with self._lock:
            self._hide()

    def _hide(self) -> None:
        try:
            self._shown.hide()
        except (OSError, ValueError):
            self._done.set()


def _columns(stream: TextIO) -> int:
    try:
        return os.get_terminal_size(stream.fileno()).columns or 80
    except OSError:
        return 80
