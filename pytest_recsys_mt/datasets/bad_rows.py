"""Rows that cannot be used: all of them are found and reported at once, or left out and
counted.

A reader raises `BadRowsError` for the rows that it cannot use. `settled` notes them and
reads again without them, until nothing is wrong, so that later checks see the other rows
as well. Only tables with such rows are read more than once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from pytest_recsys_mt.datasets.options import Report
from pytest_recsys_mt.safety.errors import DataError

Integers = npt.NDArray[np.int64]
Numbers = Mapping[Path, Integers]
"""Rows of files by their numbers, from 0."""

OPTION = "bad_rows"
"""The option behind a path: ``error``, ``skip``, or the share that may be left out."""

MOST_SKIPPED = 0.05
"""The largest share of a file's rows that ``skip`` leaves out."""

EXAMPLES = 3
"""Rows of a kind that are quoted."""

_Made = TypeVar("_Made")


@dataclass(frozen=True)
class Trouble:
    """The rows of a file that cannot be used for one reason.

    Attributes:
        numbers: Those rows, by file.
        examples: What is wrong with the first few, each with its place.
    """

    numbers: Numbers
    examples: Sequence[str]

    @property
    def count(self) -> int:
        """How many rows there are."""
        return sum(len(each) for each in self.numbers.values())


class BadRowsError(DataError):
    """Rows cannot be used; as an error it names the first one."""

    def __init__(self, troubles: Sequence[Trouble]) -> None:
        super().__init__(troubles[0].examples[0])
        self.troubles = troubles


@dataclass
class _Reading:
    """What is known while a source is read: the rows to leave out, and the rows of each
    file.
    """

    skipped: dict[Path, Integers] = field(default_factory=dict)
    rows: dict[Path, int] = field(default_factory=dict)

    @property
    def is_empty(self) -> bool:
        """Whether no row of a file is left."""
        return any(
            len(numbers) >= self.rows.get(path, len(numbers) + 1)
            for path, numbers in self.skipped.items()
        )

    def skip(self, numbers: Numbers) -> bool:
        """Leave out further rows; whether any of them was not yet left out."""
        is_new = False
        for path, found in numbers.items():
            before = self.skipped.get(path, np.empty(0, np.int64))
            self.skipped[path] = np.union1d(before, found)
            is_new |= len(self.skipped[path]) > len(before)
        return is_new


_READING: ContextVar[_Reading | None] = ContextVar("bad rows", default=None)


def skipped(path: Path) -> Integers:
    """The rows of a file that are left out, ascending."""
    reading = _READING.get()
    none = np.empty(0, np.int64)
    return none if reading is None else reading.skipped.get(path, none)


def kept(path: Path, rows: int) -> Integers:
    """The numbers of the rows of a file that are not left out.

    Args:
        path: The file.
        rows: How many rows it has.
    """
    reading = _READING.get()
    if reading is not None:
        reading.rows[path] = rows
    return np.setdiff1d(np.arange(rows), skipped(path), assume_unique=True)


def settled(
    read: Callable[[Report], _Made],
    choice: str,
    report: Report,
) -> _Made:
    """What `read` makes of a source, without the rows that it cannot use.

    Args:
        read: Reads it; it is called again for each kind of wrong rows.
        choice: The value of `OPTION`; empty for ``error``.
        report: Receives the notes of the last reading, and what was left out.

    Raises:
        DataError: If rows are wrong and may not be left out: with all their kinds.
    """
    allowed = _share(choice)
    reading = _Reading()
    troubles: list[Trouble] = []
    while True:
        notes: list[str] = []
        token = _READING.set(reading)
        try:
            made = read(notes.append)
            break
        except BadRowsError as error:
            new = [each for each in error.troubles if reading.skip(each.numbers)]
            if not new:
                raise
            troubles += new
        except DataError as error:
            if not troubles:
                raise
            if reading.is_empty:
                _require_allowed(troubles, reading, 0)
            refusal = _refusal(troubles, reading)
            if allowed:
                refusal = _all_in_words(troubles, reading)
            text = f"{refusal}\nand without these: {error}"
            raise DataError(text) from error
        finally:
            _READING.reset(token)
    if troubles:
        _require_allowed(troubles, reading, allowed)
        for each in troubles:
            report(f"left out, {_in_words(each)}")
        report(f"left out in all: {_total(reading)} (bad_rows)")
    for note in notes:
        report(note)
    return made


def _share(choice: str) -> float:
    """The share of rows that may be left out."""
    if choice in ("", "error"):
        return 0.0
    if choice == "skip":
        return MOST_SKIPPED
    try:
        share = float(choice)
    except ValueError:
        share = -1.0
    if not 0 < share < 1:
        raise DataError(
            f"{OPTION}={choice!r} is none of error, skip, and a share between 0 and 1 that may be left out, as in "
            f"{OPTION}=0.1",
        )
    return share


def _require_allowed(
    troubles: Sequence[Trouble],
    reading: _Reading,
    allowed: float,
) -> None:
    if allowed == 0:
        raise DataError(_refusal(troubles, reading))
    for path, numbers in reading.skipped.items():
        rows = reading.rows.get(path, len(numbers))
        if len(numbers) > allowed * rows:
            raise DataError(
                f"{_all_in_words(troubles, reading)}\nthat is {len(numbers) / rows:.1%} of the rows of {path.name}, and at most "
                f"{allowed:.0%} may be left out: correct them, read the file otherwise, or allow more with {OPTION}="
                f"{min(0.99, len(numbers) / rows + 0.01):.2f}",
            )


def _refusal(troubles: Sequence[Trouble], reading: _Reading) -> str:
    if len(troubles) == 1 and troubles[0].count == 1:
        return f"{troubles[0].examples[0]} ({OPTION}=skip behind the path leaves such rows out)"
    return f"{_all_in_words(troubles, reading)}\n{OPTION}=skip behind the path leaves them out and counts them"


def _all_in_words(troubles: Sequence[Trouble], reading: _Reading) -> str:
    lines = [f"{_total(reading)} cannot be used:"]
    lines += [f"  {_in_words(each)}" for each in troubles]
    return "\n".join(lines)


def _total(reading: _Reading) -> str:
    parts = []
    for path, numbers in reading.skipped.items():
        rows = reading.rows.get(path, len(numbers))
        verb = "row" if rows == 1 else "rows"
        parts.append(f"{len(numbers):,} of {rows:,} {verb} of {str(path)!r}")
    return ", ".join(parts)


def _in_words(trouble: Trouble) -> str:
    rows = "1 row" if trouble.count == 1 else f"{trouble.count:,} rows"
    more = "; ..." if trouble.count > len(trouble.examples) else ""
    return f"{rows}: {'; '.join(_short(trouble.examples))}{more}"


def _short(examples: Sequence[str]) -> Iterable[str]:
    """The examples, of which only the first names the file."""
    first, *others = examples
    yield first
    for each in others:
        yield each.partition(", ")[2]
