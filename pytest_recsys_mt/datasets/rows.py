"""The rows of a file: their columns by meaning, and the place of each row for errors."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pandas as pd

from pytest_recsys_mt.datasets.bad_rows import (
    EXAMPLES,
    BadRowsError,
    Integers,
    Numbers,
    Trouble,
)
from pytest_recsys_mt.safety.errors import DataError

Kind = Literal["id", "integer", "number", "text", "time", "value"]
"""The content of a column: ids and text stay as written (an id is never empty),
integers fit 64 bits, numbers are finite.  A time is an integer, a number or a text,
whichever the first row has; see `times`.  A value is a text, or the value of a JSON
record.
"""

HINT = (
    "; name it behind the path, as in ?user=HEADER&item=HEADER, ?sequence=HEADER where cells list items, "
    "or ?columns=user,item,rating where the file has no header"
)
HINT_FOR_BLANKS = (
    "; for a file without a header whose fields stand between blanks, write ?columns=user,item&sep=blank behind the path, "
    "or ?columns=user,sequence&sep=blank where a line lists all items of a user"
)
WANTED = {"id": "an id", "integer": "a whole number", "number": "a number"}
LISTS = (list, tuple, np.ndarray)
"""What a cell of several values is."""
_NO_IDS = (dict, bytes, *LISTS)
_TYPE = re.compile(r":(token|float)(_seq)?$")
"""The type that RecBole writes behind the name of a column."""


@dataclass(frozen=True)
class Column:
    """One column of a file."""

    name: str  # in the frame of `Rows`
    kind: Kind
    aliases: tuple[
        str,
        ...,
    ] = ()  # its headers, in the form of `normal`; without any, its name
    required: bool = True
    header: str = ""  # as it is written, if one is named: it counts before others


@dataclass(frozen=True)
class Rows:
    """The rows of one file, numbered from 0, and their places for errors: ``line 7``."""

    path: Path
    frame: pd.DataFrame
    place: Callable[[int], str]
    # The rows of files that some of these rows are; without it, those of `path` with
    # the same numbers.
    origin: Callable[[Integers], Numbers] | None = None
    # Whether the timestamps are times, and not the places of the rows.
    timed: bool = True

    def cell(self, column: str, row: int) -> Any:
        """One value, as a plain Python object."""
        value = self.frame[column].iloc[row]
        return value.item() if isinstance(value, np.generic) else value

    def refuse(self, wrong: npt.NDArray[np.bool_], why: Callable[[int], str]) -> None:
        """Raise `BadRowsError` for the rows that `wrong`, shape (rows,), marks; `why`
        receives the number of one.
        """
        if wrong.any():
            numbers = np.flatnonzero(wrong)
            examples = [
                f"{str(self.path)!r}, {self.place(row)}: {why(row)}"
                for row in numbers[:EXAMPLES].tolist()
            ]
            raise BadRowsError([Trouble(self.origins(numbers), examples)])

    def origins(self, rows: Integers) -> Numbers:
        """The rows of files that some of these rows are."""
        return {self.path: rows} if self.origin is None else self.origin(rows)

    def refuse_repeats(self, column: str) -> None:
        """Raise if a column that identifies rows repeats."""
        series = self.frame[column]

        def why(row: int) -> str:
            first = int((series == series.iloc[row]).to_numpy().argmax())
            return f"{column} {self.cell(column, row)!r} stands at {self.place(first)} already"

        self.refuse(series.duplicated().to_numpy(), why)

    def only(self, kept: npt.NDArray[np.bool_]) -> Rows:
        """The rows that `kept`, shape (rows,), marks, with their places."""
        if kept.all():
            return self
        numbers = np.flatnonzero(kept)
        frame = self.frame[kept].reset_index(drop=True)
        return Rows(
            self.path,
            frame,
            lambda row: self.place(int(numbers[row])),
            lambda rows: self.origins(numbers[rows]),
        )

    def converted(self, column: Column) -> pd.Series[Any]:
        """A column of typed cells, as Parquet and JSON have them, in its kind."""
        cells = self.frame[column.name]
        if column.kind == "text":
            return cells.where(cells.notna(), "").astype(str)
        if column.kind in ("time", "value"):
            return cells
        if column.kind == "number":
            return self._numbers(column)
        if column.kind == "integer":
            return self._integers(column)
        if column.name == "item" and are_lists(cells):
            return cells  # see `sequences`
        types = pd.api.types
        if not types.is_numeric_dtype(cells) or types.is_bool_dtype(cells):
            return self._text_ids(column)
        if types.is_integer_dtype(cells) and not cells.isna().any():
            # The largest of those without a sign do not fit int64.
            return cells.astype(
                str if types.is_unsigned_integer_dtype(cells) else "int64",
            )
        return self._integers(column)

    def _text_ids(self, column: Column) -> pd.Series[Any]:
        cells = self.frame[column.name]
        texts = cells.astype(str)
        is_other = cells.map(lambda cell: isinstance(cell, _NO_IDS))
        is_no_id = cells.isna() | (texts == "") | is_other
        self._refuse_kind(is_no_id.to_numpy(dtype=bool), column, "an id")
        return texts

    def _numbers(self, column: Column) -> pd.Series[Any]:
        numbers = _as_floats(self.frame[column.name])
        self._refuse_kind(~np.isfinite(numbers.to_numpy()), column, WANTED["number"])
        return numbers

    def _integers(self, column: Column) -> pd.Series[Any]:
        """Whole numbers, which may be stored as floats:
        those have lost digits from 2**53 on.
        """
        cells = self.frame[column.name]
        numbers = _as_floats(cells).to_numpy()
        is_whole = np.isfinite(numbers) & (numbers % 1 == 0)
        is_exact = np.abs(numbers) < 2.0**53
        self._refuse_kind(~(is_whole & is_exact), column, WANTED["integer"])
        return cells.astype("int64")

    def _refuse_kind(
        self,
        wrong: npt.NDArray[np.bool_],
        column: Column,
        wanted: str,
    ) -> None:
        name = column.name
        self.refuse(
            wrong,
            lambda row: f"{name} is {self.cell(name, row)!r}, not {wanted}",
        )


def are_lists(cells: pd.Series[Any]) -> bool:
    """Whether the first cell that is there is a list."""
    if cells.dtype != object:
        return False
    present = cells[cells.notna()]
    return len(present) > 0 and isinstance(present.iloc[0], LISTS)


def _as_floats(cells: pd.Series[Any]) -> pd.Series[Any]:
    """The cells as float64; NaN for those that are no numbers."""
    return pd.to_numeric(cells, errors="coerce").astype("float64")


def joined(folder: Path, parts: Sequence[Rows]) -> Rows:
    """The rows of several files of a folder, as those of one."""
    if len(parts) == 1:
        return parts[0]
    frames = [part.frame for part in parts]
    frame = pd.concat(frames, ignore_index=True)
    ends = np.cumsum([len(frame) for frame in frames])

    def place(row: int) -> str:
        number = int(np.searchsorted(ends, row, side="right"))
        part = parts[number]
        row_in_part = row - int(ends[number]) + len(part.frame)
        return f"{part.path.name}, {part.place(row_in_part)}"

    def origin(rows: Integers) -> Numbers:
        found: dict[Path, Integers] = {}
        starts = ends - [len(frame) for frame in frames]
        for part, start, end in zip(parts, starts, ends, strict=True):
            own = rows[(rows >= start) & (rows < end)] - start
            if len(own):
                found |= part.origins(own)
        return found

    return Rows(folder, frame, place, origin)


@cache
def normal(header: str) -> str:
    """A header for comparison: lower case, without spaces,
    hyphens, underscores and RecBole's type.
    """
    letters = _TYPE.sub("", header).casefold()
    return "".join(letter for letter in letters if letter not in " -_\t")


def match(
    header: Sequence[str],
    columns: tuple[Column, ...],
    where: str,
) -> dict[int, Column]:
    """The columns found in a header, by position, in the order of `columns`.

    Args:
        header: The names in the file, in their order.
        columns: The columns to look for.
        where: The file and the line, for errors.

    Raises:
        DataError: If a required column is missing, two headers mean the same column, or
            one means two.
    """
    column_by_place: dict[int, Column] = {}
    for column in columns:
        names = column.aliases or (normal(column.name),)
        found = [place for place, name in enumerate(header) if normal(name) in names]
        places: Sequence[int] = found
        if len(places) > 1:
            places = _preferred(places, header, column, names)
        if len(places) > 1:
            both = [header[place] for place in places]
            raise DataError(
                f"{where}: the headers {both!r} all mean {column.name!r}; keep one of them, or name it behind the path, as in "
                f"?{column.name}={both[0]}",
            )
        if not places and column.required:
            raise DataError(f"{where}: {_absent(column, names, header)}")
        for place in places:
            if place in column_by_place:
                other = column_by_place[place]
                raise DataError(
                    f"{where}: the header {header[place]!r} means {other.name!r} and {column.name!r}; name another one",
                )
            column_by_place[place] = column
    return column_by_place


def _absent(column: Column, names: Sequence[str], header: Sequence[str]) -> str:
    """That a header lacks a column, and how to name the columns of the table."""
    fields = header[0].split() if len(header) == 1 else []
    hint = HINT_FOR_BLANKS if len(fields) > 1 else HINT
    same = "case, spaces, hyphens and underscores do not count"
    if column.header and normal(column.header) != normal(column.name):
        more = hint if hint == HINT_FOR_BLANKS else ""
        return f"no column {column.header!r}, which is to be the {column.name}, among {list(header)!r} ({same}){more}"
    return f"no column {column.name!r} among {list(header)!r}; it may be called {', '.join(names)} ({same}){hint}"


def _preferred(
    places: Sequence[int],
    header: Sequence[str],
    column: Column,
    names: Sequence[str],
) -> Sequence[int]:
    """Of several columns with a meaning, the one that is named as it is written; of
    times, which say the same in several forms, the one whose name comes first.
    """
    written = [place for place in places if header[place] == column.header]
    if written or column.name != "timestamp":
        return written or places
    return sorted(places, key=lambda place: names.index(normal(header[place])))[:1]
