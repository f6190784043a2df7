"""A terminal that a test looks at: what a program writes to it, as rows of text."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys
import termios
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

SEQUENCE = re.compile(
    r"\x1b\[([0-9;]*)([A-Za-z])|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b(.)|(.)",
    re.DOTALL,
)
"""What is between ``ESC ]`` and its end says something to the terminal, not on it:
pytest 9.0 tells of its progress so.
"""


class Screen:
    """The rows of a terminal, and the escape sequences that the plugin and pytest use."""

    def __init__(self, rows: int = 24, columns: int = 80) -> None:
        self.rows, self.columns = rows, columns
        self._cells = [[" "] * columns for _ in range(rows)]
        self._row = self._column = 0
        self._kept = (0, 0)

    def feed(self, text: str) -> None:
        for found in SEQUENCE.finditer(text):
            number, command, escape, character = found.groups()
            if command:
                self._command(command, int(number or 1) if command != "m" else 0)
            elif escape:
                self._escape(escape)
            elif character:
                self._print(character)

    def lines(self) -> list[str]:
        """The rows that are not empty."""
        return [
            row for row in ("".join(cells).rstrip() for cells in self._cells) if row
        ]

    def _command(self, command: str, number: int) -> None:
        if command == "B":
            self._row = min(self.rows - 1, self._row + number)
        elif command == "K":
            self._cells[self._row][self._column :] = [" "] * (
                self.columns - self._column
            )
        else:
            assert command == "m", f"the screen does not know ESC [ {command}"

    def _escape(self, escape: str) -> None:
        if escape == "D":
            self._down()
        elif escape == "M":
            assert self._row > 0
            self._row -= 1
        elif escape == "7":
            self._kept = (self._row, self._column)
        else:
            assert escape == "8", f"the screen does not know ESC {escape}"
            self._row, self._column = self._kept

    def _print(self, character: str) -> None:
        if character == "\r":
            self._column = 0
        elif character == "\n":
            self._down()
        else:
            if self._column == self.columns:
                self._column = 0
                self._down()
            self._cells[self._row][self._column] = character
            self._column += 1

    def _down(self) -> None:
        if self._row < self.rows - 1:
            self._row += 1
            return
        del self._cells[0]
        self._cells.append([" "] * self.columns)


def pytest_on_a_terminal(
    folder: Path,
    *arguments: str,
    look: Callable[[Sequence[str]], None] = lambda _: None,
    rows: int = 24,
    environment: Mapping[str, str] | None = None,
    only_errors: bool = False,
) -> tuple[int, list[str]]:
    """Run a real pytest on a terminal.

    Args:
        folder: Where it is started.
        *arguments: Of pytest.
        look: Gets the rows after each piece that was written.
        rows: Of the terminal.
        environment: Further variables.
        only_errors: Whether standard output goes nowhere.

    Returns:
        Its exit code, and the rows at its end.
    """
    ours, theirs = pty.openpty()
    termios.tcsetwinsize(theirs, (rows, 80))
    screen = Screen(rows)
    with subprocess.Popen(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *arguments],
        cwd=folder,
        stdin=theirs,
        stdout=subprocess.DEVNULL if only_errors else theirs,
        stderr=theirs,
        env={**os.environ, "TERM": "xterm", **(environment or {})},
    ) as started:
        os.close(theirs)
        rest = b""
        try:
            while piece := _read(ours):
                whole, rest = _whole(rest + piece)
                screen.feed(whole)
                look(screen.lines())
        except BaseException:
            started.kill()
            raise
    os.close(ours)
    return started.returncode, screen.lines()


def _whole(piece: bytes) -> tuple[str, bytes]:
    """The text up to the last whole character and sequence, and the bytes behind it."""
    cut = piece.rfind(b"\x1b")
    if (
        cut >= 0
        and re.match(rb"\x1b(?:\[[0-9;]*[A-Za-z]|\][^\x07]*\x07|[^\[\]])", piece[cut:])
        is None
    ):
        return piece[:cut].decode(), piece[cut:]
    try:
        return piece.decode(), b""
    except UnicodeDecodeError as error:
        return piece[: error.start].decode(), piece[error.start :]


def _read(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, 65536)
    except OSError:  # the other end of a terminal is closed
        return b""
