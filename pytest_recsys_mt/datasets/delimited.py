"""Reads delimited files: pandas reads, and if it refuses a file, a second pass finds the line."""

import contextlib
import csv
import io
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import islice, product
from pathlib import Path
from typing import Any, Literal, NoReturn

import numpy as np
import pandas as pd

from pytest_recsys_mt.datasets.archives import most, opened
from pytest_recsys_mt.datasets.rows import WANTED, Column, Kind, Rows, match
from pytest_recsys_mt.errors import DataError

_DTYPES: Mapping[Kind, str] = {
    "id": "str",
    "integer": "int64",
    "number": "float64",
    "text": "str",
    "value": "str",
}
SEPARATORS = (",", ";", "\t", "|", "::")
"""What a header may be divided by, if the layout does not say it."""
COLUMNS = 10_000
"""Most columns of a file."""
LINE = 1 << 24
"""Most bytes of a line; a longer one would be read into memory completely, many times over."""
_STAND_IN = "\x1f"  # the ASCII unit separator replaces `::`, as pandas' fast engine takes only one character
_NO_NUMBER = re.compile(rb"\+|_| |0(?<![0-9.-]0)[0-9]")
"""What numbers do not keep of a field: ``007``, ``+7``, a space."""


@dataclass(frozen=True)
class Layout:
    """The format of a delimited file; the columns stand in the order of a file without a header."""

    columns: tuple[Column, ...]
    separator: str = ""  # a character, or ``::``; empty: that of `SEPARATORS` in the header
    header: bool = True
    encoding: str = "utf-8"  # or ``latin-1``, which also accepts a copy re-encoded to UTF-8
    quoted: bool = True  # whether fields may stand in double quotes
    escape: str | None = None  # the character before a double quote in a field
    decimal: str = "."
    ragged: bool = False  # whether fields at the end of a line may be missing

    @property
    def delimiter(self) -> str:
        """The character between fields once the file is open."""
        return self.separator if len(self.separator) == 1 else _STAND_IN

    @property
    def quoting(self) -> Literal[0, 3]:
        """`quoted` for pandas and `csv`."""
        return csv.QUOTE_MINIMAL if self.quoted else csv.QUOTE_NONE


def read(path: Path, layout: Layout) -> Rows:
    """Read one file, without the columns that the layout does not name.

    Raises:
        DataError: If the file is missing, empty, in another encoding, lacks a column, or has a row
            with a wrong number of fields or with a field of a wrong kind.
    """
    header, first, layout = head(path, layout)
    if layout.header:
        columns = match(header, layout.columns, f"{str(path)!r}, line 1")
        width, sample = len(header), first
    else:
        columns = dict(enumerate(layout.columns))
        width, sample = len(columns), header
    fields = {at: sample[at] if at < len(sample) else "" for at in columns}
    columns = {
        at: replace(column, kind=_kind_of_time(fields[at])) if column.kind == "time" else column
        for at, column in columns.items()
    }
    dtypes: dict[str, str] = {str(position): "category" for position in range(width)}
    dtypes |= {str(position): _DTYPES[column.kind] for position, column in columns.items()}
    ids = [str(at) for at, column in columns.items() if column.kind == "id"]
    # Ids that are whole numbers are read in a fraction of the time and memory; as text they are the same.
    quick = all(re.fullmatch("0|[1-9][0-9]*", fields[int(at)]) for at in ids) and _numbers_keep_ids(
        path
    )
    kinds = [dtypes | dict.fromkeys(ids, "int64"), dtypes] if quick else [dtypes]
    commas = [] if layout.separator == "," else [replace(layout, decimal=",")]
    frame = None
    for tried, each in product([layout, *commas], kinds):
        with contextlib.suppress(ValueError, OverflowError):
            frame = _frame(path, tried, each)
            break
    if frame is None:
        _explain(path, layout, width, columns)
    # pandas uses surplus fields of the first row as row labels, and fills in missing ones.
    sound = isinstance(frame.index, pd.RangeIndex)
    if sound and not layout.ragged and dtypes[str(width - 1)] in ("str", "category"):
        sound = all(len(row) == width for _, row in _walk(path, layout))
    numbers = [str(at) for at, column in columns.items() if column.kind == "number"]
    finite = np.isfinite(frame[numbers]).all(axis=None)
    if frame[ids].dtypes.eq("int64").all():
        ids = []  # numbers are neither empty nor a header
    named = [header[int(at)] for at in ids] if layout.header else []
    again = bool(named) and bool((frame[ids] == named).all(axis=1).any())
    if again:  # it may be an item whose id is "id"
        again = any(fields == header for _, fields in islice(_walk(path, layout), 1, None))
    if not sound or not finite or again or any((frame[at] == "").any() for at in ids):
        _explain(path, layout, width, columns)
    if frame.empty:
        raise DataError(f"{str(path)!r} has no rows{' below its header' * layout.header}")
    frame = frame[[str(position) for position in columns]]
    frame.columns = pd.Index([column.name for column in columns.values()])
    return Rows(path, frame, lambda row: f"line {_line(path, layout, row)}")


def _frame(path: Path, layout: Layout, dtypes: Mapping[str, str]) -> pd.DataFrame:
    # pandas first casts numbers that do not fit, of which numpy warns; they are refused by their text.
    with opened(path) as packed, np.errstate(invalid="ignore"):
        stream: Any = packed
        if layout.delimiter != layout.separator:
            content = packed.read().replace(layout.separator.encode(), layout.delimiter.encode())
            stream = io.BytesIO(content)
        return pd.read_csv(
            stream,
            sep=layout.delimiter,
            header=0 if layout.header else None,
            names=list(dtypes),
            dtype=dtypes,  # pyright: ignore[reportArgumentType]
            na_filter=False,
            quoting=layout.quoting,
            escapechar=layout.escape,
            decimal=layout.decimal,
            encoding=layout.encoding,
            engine="c",
        )


def _kind_of_time(field: str) -> Kind:
    if _fits(field, "integer") and "." not in field:
        return "integer"
    return "number" if _fits(field, "number") else "text"


def _numbers_keep_ids(path: Path) -> bool:
    with opened(path) as stream:
        end = stream.readline()[-2:]
        while chunk := stream.read(LINE):
            if _NO_NUMBER.search(end + chunk, 1):
                return False
            end = chunk[-2:]
    return True


def _encoding(path: Path, layout: Layout) -> str:
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


def _walk(path: Path, layout: Layout) -> Iterator[tuple[int, list[str]]]:
    decoder = "utf-8-sig" if layout.encoding == "utf-8" else layout.encoding
    with opened(path) as stream, io.TextIOWrapper(stream, encoding=decoder, newline="") as text:
        lines: Iterator[str] = text
        if layout.delimiter != layout.separator:
            lines = (line.replace(layout.separator, layout.delimiter) for line in text)
        reader = csv.reader(
            lines, delimiter=layout.delimiter, quoting=layout.quoting, escapechar=layout.escape
        )
        last = 0
        try:
            for fields in reader:
                if len(fields) > 1 or (fields and fields[0].strip()):
                    yield last + 1, fields
                last = reader.line_num
        except UnicodeDecodeError as problem:
            raise _undecodable(path, layout.encoding) from problem
        except UnicodeError as problem:  # UTF-16 without its mark
            raise DataError(f"{str(path)!r}: {problem}") from problem
        except csv.Error as problem:
            raise DataError(f"{str(path)!r}, line {last + 1}: {problem}") from problem


def _undecodable(path: Path, encoding: str) -> DataError:
    with opened(path) as stream:
        for number, line in enumerate(stream, 1):
            try:
                line.decode(encoding)
            except UnicodeDecodeError as problem:
                return DataError(
                    f"{str(path)!r}, line {number}: byte {line[problem.start]:#04x} at column "
                    f"{problem.start + 1} is not {encoding.upper()}; save the file as "
                    f"{encoding.upper()}"
                )
    return DataError(f"{str(path)!r} is not {encoding.upper()}")


def _require_lines(path: Path) -> None:
    start, limit = 0, most(path)
    with opened(path) as stream:
        while chunk := stream.read(LINE):
            if len(chunk) == LINE and b"\n" not in chunk and b"\r" not in chunk:
                raise DataError(
                    f"{str(path)!r} has a line of more than {LINE:,} bytes around byte {start:,}; a table "
                    f"has one line each row: is it another kind of file?"
                )
            start += len(chunk)
            if start > limit:
                raise DataError(
                    f"{str(path)!r} unpacks to more than {limit:,} bytes, which no table of its size does"
                )


def head(path: Path, layout: Layout) -> tuple[list[str], list[str], Layout]:
    """The header of a file, the fields of its first row (empty if there is none), and its layout with encoding and
    separator; DataError if it has no such start.
    """
    if not path.is_file():
        raise DataError(f"no file {str(path)!r}" + ", but a pipe or a device" * path.exists())
    _require_lines(path)
    layout = replace(layout, encoding=_encoding(path, layout))
    if not layout.separator:
        layout = replace(layout, separator=_separator(path, layout))
    first = list(islice(_walk(path, layout), 2))
    if not first:
        raise DataError(f"{str(path)!r} is empty")
    for line, fields in first:
        if len(fields) > COLUMNS:
            raise DataError(
                f"{str(path)!r}, line {line}: {len(fields):,} columns where at most {COLUMNS:,} are read; is "
                f"it a table with one row each interaction, and is its separator {layout.separator!r}?"
            )
    return first[0][1], first[1][1] if len(first) > 1 else [], layout


def _separator(path: Path, layout: Layout) -> str:
    with opened(path) as stream, io.TextIOWrapper(stream, encoding=layout.encoding) as text:
        try:
            line = text.readline(LINE)
        except UnicodeError:
            return SEPARATORS[0]
    return max(SEPARATORS, key=line.count)


def _explain(path: Path, layout: Layout, width: int, columns: Mapping[int, Column]) -> NoReturn:
    names = ", ".join(column.name for column in columns.values())
    rows = _walk(path, layout)
    header = next(rows)[1] if layout.header else None
    for line, fields in rows:
        where = f"{str(path)!r}, line {line}"
        if fields == header:
            raise DataError(
                f"{where}: the header stands here again, as where one file was appended to another; take out that line"
            )
        if len(fields) > width or (len(fields) < width and not layout.ragged):
            raise DataError(f"{where}: {len(fields)} fields where {width} are expected ({names})")
        for position, column in columns.items():
            field = fields[position] if position < len(fields) else ""
            plain = field if layout.separator == "," else field.replace(",", ".")
            if not _fits(plain, column.kind):
                raise DataError(f"{where}: {column.name} is {field!r}, not {WANTED[column.kind]}")
    raise DataError(f"{str(path)!r} cannot be read as a table separated by {layout.separator!r}")


def _fits(field: str, kind: Kind) -> bool:
    if kind in ("text", "value"):
        return True
    if kind == "id":
        return field != ""
    try:
        value = float(field)
    except ValueError:
        return False
    if "_" in field or not np.isfinite(value):
        return False
    return kind == "number" or (value.is_integer() and abs(value) < 2**63)


def _line(path: Path, layout: Layout, row: int) -> int:
    return next(islice(_walk(path, layout), layout.header + row, None))[0]
