"""Reads delimited files: pandas reads, and if it refuses
a file, a second pass finds the line.
"""

import contextlib
import csv
import io
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import islice, product
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import pandas as pd

from pytest_recsys_mt.datasets.archives import opened
from pytest_recsys_mt.datasets.bad_rows import (
    EXAMPLES,
    BadRowsError,
    Trouble,
    kept,
    skipped,
)
from pytest_recsys_mt.datasets.delimited_text import LINE, Layout, head, walk
from pytest_recsys_mt.datasets.rows import WANTED, Column, Kind, Rows, match
from pytest_recsys_mt.safety.errors import DataError

_DTYPES: Mapping[Kind, str] = {
    "id": "str",
    "integer": "int64",
    "number": "float64",
    "text": "str",
    "value": "str",
}
FIRST_ROWS = 21
"""Rows by which the kind of a column of times is told."""

_PLAIN_NUMBER = re.compile("0|[1-9][0-9]*")
_NO_NUMBER = re.compile(rb"\+|_| |0(?<![0-9.-]0)[0-9]")
"""The parts of a field that a number does not keep: of ``007``, ``+7``, a space."""


def read(path: Path, layout: Layout) -> Rows:
    """Read one file, without the columns that the layout does not name.

    Raises:
        DataError: If the file is missing, empty, in another encoding, lacks a column,
            or has a row with a wrong number of fields or with a field of a wrong kind.
    """
    skipped_rows = skipped(path)
    layout = replace(layout, skipped=frozenset(skipped_rows.tolist()))
    header, first_row, layout = head(path, layout)
    if layout.header:
        columns = match(header, layout.columns, f"{str(path)!r}, line 1")
        width = len(header)
    else:
        columns = dict(enumerate(layout.columns))
        width = len(columns)
        first_row = header
    if len(first_row) > width:  # each line may end in a separator
        layout = replace(layout, width=width)
    columns = _with_kinds_of_times(columns, path, layout)
    frame = _parsed(path, layout, width, columns, first_row)
    if frame is None or not _is_sound(frame, path, layout, header, columns):
        _explain(path, layout, width, columns)
    numbers = kept(path, len(frame) + len(skipped_rows))
    if frame.empty:
        where = " below its header" if layout.header else ""
        raise DataError(f"{str(path)!r} has no rows{where}")
    frame = frame[[str(place) for place in columns]]
    frame.columns = pd.Index([column.name for column in columns.values()])
    return Rows(
        path,
        frame,
        lambda row: f"line {_line(path, layout, row)}",
        lambda rows: {path: numbers[rows]},
    )


def _with_kinds_of_times(
    columns: Mapping[int, Column],
    path: Path,
    layout: Layout,
) -> dict[int, Column]:
    """The columns by place, those of times with the kind that most of the first rows
    have.
    """
    known = {}
    for place, column in columns.items():
        if column.kind == "time":
            start = int(layout.header)
            rows = islice(walk(path, layout), start, start + FIRST_ROWS)
            kinds: Counter[Kind] = Counter(
                _kind_of_time(_field(fields, place)) for _, fields in rows
            )
            kind: Kind = kinds.most_common(1)[0][0] if kinds else "text"
            known[place] = replace(column, kind=kind)
        else:
            known[place] = column
    return known


def _field(fields: Sequence[str], place: int) -> str:
    """A field of a row; empty if the row is too short."""
    return fields[place] if place < len(fields) else ""


def _parsed(
    path: Path,
    layout: Layout,
    width: int,
    columns: Mapping[int, Column],
    first_row: Sequence[str],
) -> pd.DataFrame | None:
    """The table as pandas reads it, its columns named by their places; None if pandas
    refuses it.

    `width` is the number of columns of the file, which has more than `columns`.
    """
    dtypes = dict.fromkeys(map(str, range(width)), "category")
    for place, column in columns.items():
        dtypes[str(place)] = _DTYPES[column.kind]
    dtypes_to_try = [dtypes]
    # Ids that are whole numbers are read in a fraction of the time and memory; as text
    # they are the same.
    ids = _places_of("id", columns)
    first_ids = [_field(first_row, int(place)) for place in ids]
    if all(_PLAIN_NUMBER.fullmatch(field) for field in first_ids) and _numbers_keep_ids(
        path,
    ):
        dtypes_to_try.insert(0, dtypes | dict.fromkeys(ids, "int64"))
    layouts_to_try = [layout]
    if layout.separator != ",":  # numbers may have a decimal comma
        layouts_to_try.append(replace(layout, decimal=","))
    for layout_tried, dtypes_tried in product(layouts_to_try, dtypes_to_try):
        with contextlib.suppress(ValueError, OverflowError):
            return _frame(path, layout_tried, dtypes_tried)
    return None


def _places_of(kind: Kind, columns: Mapping[int, Column]) -> list[str]:
    """The columns of a kind in the frame of `_parsed`."""
    return [str(place) for place, column in columns.items() if column.kind == kind]


def _is_sound(
    frame: pd.DataFrame,
    path: Path,
    layout: Layout,
    header: Sequence[str],
    columns: Mapping[int, Column],
) -> bool:
    """Whether pandas read the file as it is written: it
    accepts some rows that are wrong.
    """
    # pandas uses surplus fields of the first row as row labels, and fills in missing
    # ones.
    if not isinstance(frame.index, pd.RangeIndex):
        return False
    width = len(frame.columns)
    last = columns.get(width - 1)
    missing_would_pass = last is None or _DTYPES[last.kind] == "str"
    if missing_would_pass and not layout.ragged:
        widths = (len(fields) for _, fields in walk(path, layout))
        if any(found != width for found in widths):
            return False
    numbers = frame[_places_of("number", columns)]
    if not np.isfinite(numbers).all(axis=None):
        return False
    id_places = _places_of("id", columns)
    ids = frame[id_places]
    if ids.dtypes.eq("int64").all():
        return True  # numbers are neither empty nor a header
    if (ids == "").any(axis=None):
        return False
    if not layout.header:
        return True
    named = [header[int(place)].casefold() for place in id_places]
    if not (ids.apply(lambda cells: cells.str.casefold()) == named).all(axis=1).any():
        return True
    # It may be an item whose id is "id": the whole header must stand there again.
    rows = islice(walk(path, layout), 1, None)
    return not any(_is_header(fields, header) for _, fields in rows)


def _is_header(fields: Sequence[str], header: Sequence[str] | None) -> bool:
    """Whether a row repeats the header, in any case."""
    return header is not None and list(map(str.casefold, fields)) == list(
        map(str.casefold, header),
    )


def _frame(path: Path, layout: Layout, dtypes: Mapping[str, str]) -> pd.DataFrame:
    # pandas first casts numbers that do not fit, of which numpy warns; they are refused
    # by their text.
    with opened(path) as packed, np.errstate(invalid="ignore"):
        stream: Any = packed
        if layout.skipped or layout.width:
            stream, layout = _without_skipped(path, layout)
        elif layout.delimiter != layout.separator:
            content = packed.read().replace(
                layout.separator.encode(),
                layout.delimiter.encode(),
            )
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


def _without_skipped(path: Path, layout: Layout) -> tuple[io.BytesIO, Layout]:
    """The file without the rows and the empty fields that the layout leaves out, and the
    layout of that.
    """
    text = io.StringIO()
    writer = csv.writer(text, delimiter=layout.delimiter, lineterminator="\n")
    writer.writerows(fields for _, fields in walk(path, layout))
    written = replace(layout, encoding="utf-8", quoted=True, escape=None)
    return io.BytesIO(text.getvalue().encode("utf-8", "surrogateescape")), written


def _kind_of_time(field: str) -> Kind:
    if _fits(field, "integer") and "." not in field:
        return "integer"
    return "number" if _fits(field, "number") else "text"


def _numbers_keep_ids(path: Path) -> bool:
    """Whether every number below the first line is written as Python writes it."""
    with opened(path) as stream:
        # Two bytes of each chunk are searched with the next one: a match may lie across
        # both.
        end = stream.readline()[-2:]
        while chunk := stream.read(LINE):
            if _NO_NUMBER.search(end + chunk, 1):
                return False
            end = chunk[-2:]
    return True


def _explain(
    path: Path,
    layout: Layout,
    width: int,
    columns: Mapping[int, Column],
) -> NoReturn:
    """Raise the error for the wrong rows of a file that pandas refuses, or reads
    wrongly.
    """
    rows = walk(path, layout)
    header = next(rows)[1] if layout.header else None
    found: dict[str, tuple[list[int], list[str]]] = {}
    number = 0
    for line, fields in rows:
        while number in layout.skipped:
            number += 1
        wrong = _fault(fields, header, width, layout, columns)
        if wrong is not None:
            kind, text = wrong
            numbers, examples = found.setdefault(kind, ([], []))
            numbers.append(number)
            if len(examples) < EXAMPLES:
                examples.append(f"{str(path)!r}, line {line}: {text}")
        number += 1
    kept(path, number)
    if found:
        raise BadRowsError(
            [
                Trouble({path: np.array(numbers)}, examples)
                for numbers, examples in found.values()
            ],
        )
    raise DataError(
        f"{str(path)!r} cannot be read as a table separated by {layout.separator!r}",
    )


def _fault(
    fields: Sequence[str],
    header: Sequence[str] | None,
    width: int,
    layout: Layout,
    columns: Mapping[int, Column],
) -> tuple[str, str] | None:
    """What is wrong with a row, as a kind and in words; None if nothing is."""
    if _is_header(fields, header):
        return "header", (
            "the header stands here again, as where one file was appended to another; take out that line"
        )
    if len(fields) > width or (len(fields) < width and not layout.ragged):
        names = ", ".join(column.name for column in columns.values())
        return "fields", f"{len(fields)} fields where {width} are expected ({names})"
    for place, column in columns.items():
        field = _field(fields, place)
        plain = field
        if layout.separator != ",":  # numbers may have a decimal comma
            plain = field.replace(",", ".")
        if not _fits(plain, column.kind):
            return column.name, f"{column.name} is {field!r}, not {WANTED[column.kind]}"
    return None


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
    if kind == "number":
        return True
    return value.is_integer() and abs(value) < 2**63


def _line(path: Path, layout: Layout, row: int) -> int:
    """The line of a row, which counts from 0."""
    rows_before = row + 1 if layout.header else row
    line, _ = next(islice(walk(path, layout), rows_before, None))
    return line
