"""The text of a delimited file: its layout, its first
lines, and its rows as `csv` reads them.
"""

import csv
import io
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Literal

from pytest_recsys_mt.datasets.archives import most, opened
from pytest_recsys_mt.datasets.rows import Column
from pytest_recsys_mt.safety.errors import DataError

SEPARATORS = (",", ";", "\t", "|", "::")
"""The possible separators of a header, if the layout names none."""
COLUMNS = 10_000
"""Most columns of a file."""
LINE = 1 << 24
"""Most bytes of a line; a longer one would be read into
memory completely, many times over.
"""
# The ASCII unit separator replaces `::`, as pandas' fast engine takes only one
# character.
_STAND_IN = "\x1f"


@dataclass(frozen=True)
class Layout:
    """The format of a delimited file; the columns stand in
    the order of a file without a header.
    """

    columns: tuple[Column, ...]
    # A character, or ``::``; empty: that of `SEPARATORS` in the header.
    separator: str = ""
    header: bool = True
    # Or ``latin-1``, which also accepts a copy re-encoded to UTF-8.
    encoding: str = "utf-8"
    quoted: bool = True  # whether fields may stand in double quotes
    escape: str | None = None  # the character before a double quote in a field
    decimal: str = "."
    ragged: bool = False  # whether fields at the end of a line may be missing
    skipped: frozenset[int] = frozenset()  # rows below the header that are left out
    width: int = 0  # fields of a row, behind which empty ones are cut off; 0: any
    # Whether the last field of `width` has all others of the line, with blanks between.
    takes_the_rest: bool = False

    @property
    def delimiter(self) -> str:
        """The character between fields once the file is open."""
        return self.separator if len(self.separator) == 1 else _STAND_IN

    @property
    def quoting(self) -> Literal[0, 3]:
        """`quoted` for pandas and `csv`."""
        return csv.QUOTE_MINIMAL if self.quoted else csv.QUOTE_NONE


def _encoding(path: Path, layout: Layout) -> str:
    """The encoding of the file: UTF-16 by its mark, and UTF-8
    for a file of Latin 1 that was re-encoded.
    """
    with opened(path) as stream:
        start = stream.read(2)
        if start in (b"\xff\xfe", b"\xfe\xff"):
            return "utf-16"
        if layout.encoding != "latin-1":
            return layout.encoding
        try:
            (start + stream.read()).decode()
        except UnicodeDecodeError:
            return layout.encoding
    return "utf-8"


def walk(path: Path, layout: Layout) -> Iterator[tuple[int, list[str]]]:
    """The rows of a file, the header among them, each with the number of its first
    line; blank lines are left out, and the rows that the layout skips.
    """
    decoder = "utf-8-sig" if layout.encoding == "utf-8" else layout.encoding
    with (
        opened(path) as stream,
        io.TextIOWrapper(stream, encoding=decoder, newline="") as text,
    ):
        lines: Iterator[str] = text
        if layout.delimiter != layout.separator:
            lines = (line.replace(layout.separator, layout.delimiter) for line in text)
        reader = csv.reader(
            lines,
            delimiter=layout.delimiter,
            quoting=layout.quoting,
            escapechar=layout.escape,
        )
        last_line = 0
        number = -1 if layout.header else 0
        try:
            for fields in reader:
                is_blank = not fields or (len(fields) == 1 and not fields[0].strip())
                if not is_blank:
                    if layout.takes_the_rest:
                        last = layout.width - 1
                        if layout.delimiter == " ":  # several blanks, or tabs
                            fields = " ".join(fields).split()
                        fields[last:] = [" ".join(fields[last:])]
                    elif layout.width and not any(fields[layout.width :]):
                        del fields[layout.width :]
                    if number not in layout.skipped:
                        yield last_line + 1, fields
                    number += 1
                last_line = reader.line_num
        except UnicodeDecodeError as problem:
            raise _undecodable(path, layout.encoding) from problem
        except UnicodeError as problem:  # UTF-16 without its mark
            raise DataError(f"{str(path)!r}: {problem}") from problem
        except csv.Error as problem:
            raise DataError(
                f"{str(path)!r}, line {last_line + 1}: {problem}",
            ) from problem


def _undecodable(path: Path, encoding: str) -> DataError:
    """The error for the first line that is not in the encoding."""
    with opened(path) as stream:
        for number, line in enumerate(stream, 1):
            try:
                line.decode(encoding)
            except UnicodeDecodeError as problem:
                return DataError(
                    f"{str(path)!r}, line {number}: byte {line[problem.start]:#04x} at column "
                    f"{problem.start + 1} is not {encoding.upper()}; save the file as "
                    f"{encoding.upper()}, or name its encoding behind the path, as in ?encoding=latin-1",
                )
    return DataError(f"{str(path)!r} is not {encoding.upper()}")


def _require_lines(path: Path) -> None:
    """Refuse a file that would take too much memory: one
    with an endless line, or a packed bomb.
    """
    start = 0
    limit = most(path)
    with opened(path) as stream:
        while chunk := stream.read(LINE):
            if len(chunk) == LINE and b"\n" not in chunk and b"\r" not in chunk:
                raise DataError(
                    f"{str(path)!r} has a line of more than {LINE:,} bytes around byte {start:,}; a table "
                    f"has one line each row: is it another kind of file?",
                )
            start += len(chunk)
            if start > limit:
                raise DataError(
                    f"{str(path)!r} unpacks to more than {limit:,} bytes, which no table of its size does",
                )


def head(path: Path, layout: Layout) -> tuple[list[str], list[str], Layout]:
    """The start of a file.

    Returns:
        The fields of its first line, the fields of the second (empty if there is none),
        and the layout with encoding and separator.

    Raises:
        DataError: If it is no file, is empty, or its first lines are far too long or
            wide.
    """
    if not path.is_file():
        what_it_is = ", but a pipe or a device" if path.exists() else ""
        raise DataError(f"no file {str(path)!r}{what_it_is}")
    _require_lines(path)
    layout = replace(layout, encoding=_encoding(path, layout))
    if not layout.separator:
        layout = replace(layout, separator=_separator(path, layout))
    first_lines = list(islice(walk(path, layout), 2))
    if not first_lines:
        raise DataError(f"{str(path)!r} is empty")
    for line, fields in first_lines:
        if len(fields) > COLUMNS:
            raise DataError(
                f"{str(path)!r}, line {line}: {len(fields):,} columns where at most {COLUMNS:,} are read; is "
                f"it a table with one row each interaction, and is its separator {layout.separator!r}?",
            )
    header = first_lines[0][1]
    first_row = first_lines[1][1] if len(first_lines) > 1 else []
    return header, first_row, layout


def _separator(path: Path, layout: Layout) -> str:
    with (
        opened(path) as stream,
        io.TextIOWrapper(stream, encoding=layout.encoding) as text,
    ):
        try:
            line = text.readline(LINE)
        except UnicodeError:
            return SEPARATORS[0]
    return max(SEPARATORS, key=line.count)
