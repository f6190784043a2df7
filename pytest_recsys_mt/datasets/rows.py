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

from pytest_recsys_mt.errors import DataError

Kind = Literal["id", "integer", "number", "text", "time", "value"]
"""The content of a column: ids and text stay as written (an id is never empty), integers fit 64
bits, numbers are finite.  A time is an integer, a number or a text, whichever the first row has; see
`times`.  A value is a text, or what a JSON record holds."""

HINT = (
    "; name it behind the path, as in ?user=HEADER&item=HEADER, or ?columns=user,item,rating where the file has no "
    "header"
)
WANTED = {"id": "an id", "integer": "a whole number", "number": "a number"}
_TYPE = re.compile(r":(token|float)(_seq)?$")  # what RecBole writes behind the name of a column


@dataclass(frozen=True)
class Column:
    """One column of a file."""

    name: str  # in the frame of `Rows`
    kind: Kind
    aliases: tuple[str, ...] = ()  # its headers, in the form of `normal`; without any, its name
    required: bool = True


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

    def only(self, kept: npt.NDArray[np.bool_]) -> Rows:
        """The rows that `kept`, shape (rows,), marks, with their places."""
        if kept.all():
            return self
        numbers = np.flatnonzero(kept)
        frame = self.frame[kept].reset_index(drop=True)
        return Rows(self.path, frame, lambda row: self.place(int(numbers[row])))

    def converted(self, column: Column) -> pd.Series[Any]:
        """A column of typed cells, as Parquet and JSON have them, in its kind."""
        cells, kind = self.frame[column.name], column.kind
        numeric = pd.api.types.is_numeric_dtype(cells) and not pd.api.types.is_bool_dtype(cells)
        if kind == "text":
            return cells.where(cells.notna(), "").astype(str)
        if kind in ("time", "value"):
            return cells
        if kind == "id" and not numeric:
            texts = cells.astype(str)
            no_id = cells.map(lambda cell: isinstance(cell, dict | list | np.ndarray))
            wrong = (cells.isna() | (texts == "") | no_id).to_numpy(dtype=bool)
            self.refuse(wrong, lambda row: self._not(column.name, row, "an id"))
            return texts
        if kind == "id" and pd.api.types.is_integer_dtype(cells) and not cells.isna().any():
            # The largest of those without a sign do not fit int64.
            return cells.astype(str if pd.api.types.is_unsigned_integer_dtype(cells) else "int64")
        series = pd.to_numeric(cells, errors="coerce").astype("float64")
        numbers = series.to_numpy()
        wrong = ~np.isfinite(numbers)
        if (
            kind != "number"
        ):  # as a float, a larger one has lost digits; a larger integer does not fit
            wrong |= (numbers % 1 != 0) | (np.abs(numbers) >= 2.0**53)
        wanted = WANTED["number" if kind == "number" else "integer"]
        self.refuse(wrong, lambda row: self._not(column.name, row, wanted))
        return series if kind == "number" else cells.astype("int64")

    def _not(self, column: str, row: int, wanted: str) -> str:
        return f"{column} is {self.cell(column, row)!r}, not {wanted}"


def joined(folder: Path, parts: Sequence[Rows]) -> Rows:
    """The rows of several files of a folder, as those of one."""
    if len(parts) == 1:
        return parts[0]
    frame = pd.concat([part.frame for part in parts], ignore_index=True)
    ends = np.cumsum([len(part.frame) for part in parts])

    def place(row: int) -> str:
        at = int(np.searchsorted(ends, row, side="right"))
        before = int(ends[at - 1]) if at else 0
        return f"{parts[at].path.name}, {parts[at].place(row - before)}"

    return Rows(folder, frame, place)


@cache
def normal(header: str) -> str:
    """A header for comparison: lower case, without spaces, hyphens, underscores and RecBole's type."""
    return "".join(c for c in _TYPE.sub("", header).casefold() if c not in " -_\t")


def match(header: Sequence[str], columns: tuple[Column, ...], where: str) -> dict[int, Column]:
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
                f"{where}: no column {column.name!r} among {list(header)!r}; it may be called "
                f"{', '.join(names)} (case, spaces, hyphens and underscores do not count){HINT}"
            )
        if places and (other := found.get(places[0])):
            raise DataError(
                f"{where}: the header {header[places[0]]!r} means {other.name!r} and {column.name!r}; name another one"
            )
        found |= dict.fromkeys(places, column)
    return found
