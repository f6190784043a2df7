"""Reads delimited files: pandas reads, and if it refuses a file, a second pass finds the line."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import count, islice
from pathlib import Path
from typing import IO, Any, Literal, NoReturn

import numpy as np
import numpy.typing as npt
import pandas as pd

from pytest_recsys_mt.errors import DataError

Kind = Literal["id", "integer", "number", "text", "time", "date"]
"""The content of a column: ids and text stay as written (an id is never empty), integers fit 64
bits, numbers are finite, dates are ISO 8601 (UTC without a zone) and are read as Unix seconds.  A
time is an integer or a date, whichever the first row has."""

_DTYPES: Mapping[Kind, str] = {
    "id": "str",  # as categories pandas would turn "007" into 7
    "integer": "int64",
    "number": "float64",
    "text": "str",
    "date": "str",
}
_WANTED: Mapping[Kind, str] = {
    "id": "an id",
    "integer": "a whole number",
    "number": "a number",
    "text": "text",
    "date": "an ISO 8601 date (2001-01-31T12:00:00), as the first row has",
}
COLUMNS = 10_000
"""Most columns of a file."""
LINE = 1 << 24
"""Most bytes of a line; a longer one would be read into memory completely, many times over."""
_STAND_IN = "\x1f"
"""The ASCII unit separator replaces `::`, as pandas' fast engine takes only one character."""


@dataclass(frozen=True)
class Column:
    """One column of a file."""

    name: str  # in the result of `read`
    kind: Kind
    aliases: tuple[str, ...] = ()  # its headers, in the form of `normal`; without any, its name
    required: bool = True


@dataclass(frozen=True)
class Layout:
    """The format of a delimited file; the columns stand in the order of a file without a header."""

    columns: tuple[Column, ...]
    separator: str = ","  # one character, or ``::``
    header: bool = True
    encoding: str = "utf-8"  # or ``latin-1``, which also accepts a copy re-encoded to UTF-8
    quoted: bool = True  # whether fields may stand in double quotes
    ragged: bool = False  # whether fields at the end of a line may be missing

    @property
    def delimiter(self) -> str:
        """The character between fields once the file is open."""
        return self.separator if len(self.separator) == 1 else _STAND_IN

    @property
    def quoting(self) -> Literal[0, 3]:
        """`quoted` for pandas and `csv`."""
        return csv.QUOTE_MINIMAL if self.quoted else csv.QUOTE_NONE


def bare(separator: str, columns: Mapping[str, Kind], encoding: str = "utf-8") -> Layout:
    """The layout of a file without header and quotes, from its columns in their order."""
    of_file = tuple(Column(name, kind) for name, kind in columns.items())
    return Layout(of_file, separator, header=False, encoding=encoding, quoted=False)


@dataclass(frozen=True)
class Rows:
    """The rows of one file, numbered from 0, and their places for errors: ``line 7``."""

    path: Path
    frame: pd.DataFrame
    place: Callable[[int], str]

    def cell(self, column: str, row: int) -> Any:
        """One value, as a plain Python object."""
        value = self.frame[column].iloc[row]
        return value.item() if isinstance(value, np.generic) else value

    def refuse(self, wrong: npt.NDArray[np.bool_], why: Callable[[int], str]) -> None:
        """Raise for the first row that `wrong`, shape (rows,), marks; `why` receives its number."""
        if wrong.any():
            row = int(wrong.argmax())
            raise DataError(f"{str(self.path)!r}, {self.place(row)}: {why(row)}")

    def refuse_repeats(self, column: str) -> None:
        """Raise if a column that identifies rows repeats."""
        series = self.frame[column]

        def why(row: int) -> str:
            first = int((series == series.iloc[row]).to_numpy().argmax())
            return f"{column} {self.cell(column, row)!r} stands at {self.place(first)} already"

        self.refuse(series.duplicated().to_numpy(), why)


def normal(header: str) -> str:
    """A header for comparison: lower case, without spaces, hyphens and underscores."""
    return "".join(c for c in header.casefold() if c not in " -_\t")


def read(path: Path, layout: Layout) -> Rows:
    """Read one file, without the columns that the layout does not name.

    Raises:
        DataError: If the file is missing, empty, in another encoding, lacks a column, or has a row
            with a wrong number of fields or with a field of a wrong kind.
    """
    width, columns = _positions(path, layout)
    encoding = _encoding(path, layout)
    dtypes: dict[str, str] = {str(position): "category" for position in range(width)}
    dtypes |= {str(position): _DTYPES[column.kind] for position, column in columns.items()}
    try:
        with _open(path, layout) as stream:
            frame = pd.read_csv(
                stream,
                sep=layout.delimiter,
                header=0 if layout.header else None,
                names=list(dtypes),
                dtype=dtypes,  # pyright: ignore[reportArgumentType]
                na_filter=False,
                quoting=layout.quoting,
                encoding=encoding,
                engine="c",
            )
    except (ValueError, OverflowError) as problem:
        _explain(path, layout, encoding, width, columns, problem)
    # pandas uses surplus fields of the first row as row labels, and fills in missing ones.
    sound = isinstance(frame.index, pd.RangeIndex)
    if sound and not layout.ragged and columns.get(width - 1, _TEXT).kind == "text":
        sound = all(len(row) == width for _, row in _walk(path, layout, encoding))
    for position, column in columns.items():
        if column.kind == "number":
            sound = sound and bool(np.isfinite(frame[str(position)].to_numpy()).all())
        elif column.kind == "id":
            sound = sound and not (frame[str(position)] == "").any()
    if not sound:
        _explain(path, layout, encoding, width, columns, None)
    if frame.empty:
        raise DataError(f"{str(path)!r} has no rows{' below its header' * layout.header}")
    frame = frame[[str(position) for position in columns]]
    frame.columns = pd.Index([column.name for column in columns.values()])
    rows = Rows(path, frame, lambda row: f"line {_line(path, layout, encoding, row)}")
    for column in columns.values():
        if column.kind == "date":
            frame[column.name] = unix_seconds(rows, column.name)
    return rows


def unix_seconds(rows: Rows, column: str) -> npt.NDArray[np.int64]:
    """A column of ISO 8601 dates, as text or as times, in Unix seconds, shape (rows,)."""
    written = rows.frame[column]
    times = pd.to_datetime(written, format="ISO8601", utc=True, errors="coerce")
    rows.refuse(
        times.isna().to_numpy(),
        lambda row: f"{column} is {rows.cell(column, row)!r}, not {_WANTED['date']}",
    )
    return times.dt.tz_localize(None).to_numpy(dtype="datetime64[s]").astype(np.int64)


_TEXT = Column("", "text")


def _open(path: Path, layout: Layout) -> IO[bytes]:
    if layout.delimiter == layout.separator:
        return path.open("rb")
    content = path.read_bytes()
    return io.BytesIO(content.replace(layout.separator.encode(), layout.delimiter.encode()))


def _encoding(path: Path, layout: Layout) -> str:
    """The encoding to read with: latin-1 accepts all bytes, so check for a UTF-8 copy."""
    if layout.encoding != "latin-1":
        return layout.encoding
    try:
        path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return layout.encoding
    return "utf-8"


def _walk(path: Path, layout: Layout, encoding: str) -> Iterator[tuple[int, list[str]]]:
    """Every row of the file, including the header: the number of its first line, and its fields."""
    decoder = "utf-8-sig" if encoding == "utf-8" else encoding
    with (
        _open(path, layout) as stream,
        io.TextIOWrapper(stream, encoding=decoder, newline="") as text,
    ):
        reader = csv.reader(text, delimiter=layout.delimiter, quoting=layout.quoting)
        last = 0
        try:
            for fields in reader:
                if len(fields) > 1 or (fields and fields[0].strip()):
                    yield last + 1, fields
                last = reader.line_num
        except UnicodeDecodeError as problem:
            raise _undecodable(path, encoding) from problem
        except csv.Error as problem:
            raise DataError(f"{str(path)!r}, line {last + 1}: {problem}") from problem


def _undecodable(path: Path, encoding: str) -> DataError:
    with path.open("rb") as stream:
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
    """Check that a file consists of lines, without storing any of it."""
    with path.open("rb") as stream:
        for start in count(0, LINE):
            chunk = stream.read(LINE)
            if len(chunk) < LINE:
                return
            if b"\n" not in chunk and b"\r" not in chunk:
                raise DataError(
                    f"{str(path)!r} has a line of more than {LINE:,} bytes around byte {start:,}; a table "
                    f"has one line each row: is it another kind of file?"
                )


def head(path: Path, layout: Layout) -> tuple[list[str], list[str]]:
    """The header of a file and the fields of its first row (empty if there is none); DataError if
    it has no such start.
    """
    if not path.is_file():
        raise DataError(f"no file {str(path)!r}")
    _require_lines(path)
    first = list(islice(_walk(path, layout, _encoding(path, layout)), 2))
    if not first:
        raise DataError(f"{str(path)!r} is empty")
    for line, fields in first:
        if len(fields) > COLUMNS:
            raise DataError(
                f"{str(path)!r}, line {line}: {len(fields):,} columns where at most {COLUMNS:,} are read; is "
                f"it a table with one row each interaction, and is its separator {layout.separator!r}?"
            )
    return first[0][1], first[1][1] if len(first) > 1 else []


def _positions(path: Path, layout: Layout) -> tuple[int, dict[int, Column]]:
    header, first = head(path, layout)
    if not layout.header:
        return len(layout.columns), dict(enumerate(layout.columns))
    found = match(header, layout.columns, f"{str(path)!r}, line 1")
    for position, column in found.items():
        if column.kind == "time":
            field = first[position] if position < len(first) else ""
            dated = field != "" and not _fits(field, "number")
            found[position] = replace(column, kind="date" if dated else "integer")
    return len(header), found


def match(header: list[str], columns: tuple[Column, ...], where: str) -> dict[int, Column]:
    """The columns found in a header, by position, in the order of `columns`; raises `DataError` if
    a required column is missing, or two headers mean the same column.
    """
    found: dict[int, Column] = {}
    for column in columns:
        names = column.aliases or (normal(column.name),)
        places = [place for place, name in enumerate(header) if normal(name) in names]
        if len(places) > 1:
            both = [header[place] for place in places]
            raise DataError(
                f"{where}: the headers {both!r} all mean {column.name!r}; keep one of them"
            )
        if not places and column.required:
            raise DataError(
                f"{where}: no column {column.name!r} among {header!r}; it may be called "
                f"{', '.join(names)} (case, spaces, hyphens and underscores do not count)"
            )
        found |= dict.fromkeys(places, column)
    return found


def _explain(
    path: Path,
    layout: Layout,
    encoding: str,
    width: int,
    columns: Mapping[int, Column],
    cause: Exception | None,
) -> NoReturn:
    rows = _walk(path, layout, encoding)
    if layout.header:
        next(rows, None)
    names = ", ".join(column.name for column in columns.values())
    for line, fields in rows:
        where = f"{str(path)!r}, line {line}"
        if len(fields) > width or (len(fields) < width and not layout.ragged):
            raise DataError(
                f"{where}: {len(fields)} fields where {width} are expected ({names})"
            ) from cause
        for position, column in columns.items():
            field = fields[position] if position < len(fields) else ""
            if not _fits(field, column.kind):
                raise DataError(
                    f"{where}: {column.name} is {field!r}, not {_WANTED[column.kind]}"
                ) from cause
    raise DataError(f"{str(path)!r} cannot be read: {cause}") from cause


def _fits(field: str, kind: Kind) -> bool:
    if kind in ("text", "date"):  # dates are checked after pandas has parsed them
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


def _line(path: Path, layout: Layout, encoding: str, row: int) -> int:
    rows = _walk(path, layout, encoding)
    if layout.header:
        next(rows)
    return next(line for number, (line, _) in enumerate(rows) if number == row)
