"""Files with one record a line, read line by line."""

import ast
import json
import re
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from pytest_recsys_mt.datasets.archives import most, opened
from pytest_recsys_mt.datasets.bad_rows import (
    EXAMPLES,
    BadRowsError,
    Trouble,
    kept,
    skipped,
)
from pytest_recsys_mt.datasets.rows import Column, Rows, normal
from pytest_recsys_mt.safety.errors import DataError

SUFFIXES = (".json", ".jsonl", ".ndjson")
LONGEST = 4 << 20
"""Most bytes of a record. The longest published ones have some hundred thousand."""


def literal(line: str) -> Any:
    """A record as JSON, or, as in Amazon's set of 2014, as a Python literal, which is
    never run; ValueError for others.
    """
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        pass
    try:
        return ast.literal_eval(line.strip())
    except (SyntaxError, TypeError, MemoryError, RecursionError) as problem:
        raise ValueError(f"neither JSON nor a Python literal: {problem}") from None


def records(
    path: Path,
    parse: Callable[[str], Any] = literal,
    key: re.Pattern[str] | None = None,
    wanted: Container[str] = (),
    broken: Callable[[int, DataError], None] | None = None,
) -> Iterator[tuple[int, dict[str, Any]]]:
    """The records of a file, one a line, with the numbers of the lines.

    Args:
        path: The file, which may be packed.
        parse: The record of a line; it raises ValueError for an invalid one.
        key: Finds an id in an unparsed line; its group is the id, or no group matches
            if the line must be parsed to know it. To parse only the lines of wanted
            items is much faster.
        wanted: The ids whose lines are parsed, if there is a `key`. Lines without an id
            are parsed, too.
        broken: Receives the lines that are no records, with what is wrong with each;
            without it, the first one raises.

    Raises:
        DataError: If the file is damaged, or a line is too long or not a record; the
            text names the file and the line.
    """
    number = 0
    total = 0
    with opened(path) as stream:
        limit = most(path)
        while content := stream.readline(LONGEST + 1):
            number += 1
            total += len(content)
            if total > limit:
                raise DataError(
                    f"{str(path)!r} unpacks to more than {limit:,} bytes: a bomb",
                )
            where = f"{str(path)!r}, line {number}"
            if len(content) > LONGEST:
                raise DataError(f"{where}: longer than {LONGEST:,} bytes")
            encoding = "utf-8-sig" if number == 1 else "utf-8"
            try:
                line = content.decode(encoding)
            except UnicodeDecodeError as problem:
                raise DataError(f"{where}: this is not UTF-8 ({problem})") from problem
            if not line.strip() or _is_of_another_item(line, key, wanted):
                continue
            try:
                record = _record(line, parse, where)
            except DataError as error:
                if broken is None:
                    raise
                broken(number, error)
            else:
                yield number, record


def _is_of_another_item(
    line: str,
    key: re.Pattern[str] | None,
    wanted: Container[str],
) -> bool:
    """Whether all ids of an unparsed line are known, and none is wanted."""
    if key is None:
        return False
    matches = list(key.finditer(line))
    if not matches:
        return False
    for match in matches:
        if not match.lastindex:
            return False  # an id that only parsing reads
        if match[match.lastindex] in wanted:
            return False
    return True


def _record(line: str, parse: Callable[[str], Any], where: str) -> dict[str, Any]:
    try:
        record = parse(line)
        if "\\ud" in line.lower():  # half of a character is no text
            json.dumps(record, ensure_ascii=False, default=str).encode()
    except (ValueError, RecursionError) as problem:
        raise DataError(
            f"{where}: {line[:80]!r} is not a record ({problem})",
        ) from problem
    if not isinstance(record, dict):
        raise DataError(
            f"{where}: {line[:80]!r} is not a record; write one JSON object a line",
        )
    return record


def read(
    path: Path,
    columns: tuple[Column, ...],
    each: str = "",
    wanted: Container[str] | None = None,
) -> Rows:
    """The columns of all records.

    Args:
        path: The file, which may be packed.
        columns: The columns to read; those that no record has are left out.
        each: The field that holds the rows of a record, which have its other fields
            too; empty if a record is a row.
        wanted: The ids of the only items to read; all without it.

    Raises:
        DataError: As `records`, or if a record lacks a required column or has a cell of
            a wrong kind.
    """
    key = _pattern_of_ids(columns) if wanted is not None and not each else None
    cells: list[list[Any]] = []
    line_of_row: list[int] = []
    faults: dict[int, DataError] = {}

    def broken(number: int, error: DataError) -> None:
        faults[len(cells)] = error
        cells.append([None] * len(columns))
        line_of_row.append(number)

    for number, record in records(path, key=key, wanted=wanted or (), broken=broken):
        where = f"{str(path)!r}, line {number}"
        try:
            rows_of_record = list(rows_in(record, each, where))
        except DataError as error:
            broken(number, error)
            continue
        for row in rows_of_record:
            try:
                found = _cells(row, columns, where)
            except DataError as error:
                broken(number, error)
            else:
                cells.append(found)
                line_of_row.append(number)
    _refuse_faults(path, faults, len(cells))
    if not cells:
        raise DataError(f"{str(path)!r} has no rows")
    names = [column.name for column in columns]
    numbers = kept(path, len(cells))
    frame = pd.DataFrame(cells, columns=pd.Index(names))
    frame = frame.iloc[numbers].reset_index(drop=True)
    rows = Rows(
        path,
        frame,
        lambda row: f"line {line_of_row[numbers[row]]}",
        lambda rows: {path: numbers[rows]},
    )
    present = [column for column in columns if frame[column.name].notna().any()]
    converted = {column.name: rows.converted(column) for column in present}
    return replace(rows, frame=pd.DataFrame(converted))


def _pattern_of_ids(columns: Sequence[Column]) -> re.Pattern[str] | None:
    """Finds the fields of an unparsed line that may be the item's id, for `records`."""
    items = [column for column in columns if column.name == "item"]
    if not items:
        return None
    fields = "|".join(map(re.escape, items[0].aliases or (items[0].name,)))
    # An id with an escape is decoded before it is compared: such a line is parsed.
    value = r"""u?"([^"\\]*)"|u?'([^'\\]*)'|(\d+)"""
    return re.compile(
        rf"""["'](?:{fields})["']\s*:\s*(?:(?:{value})\s*[,}}])?""",
        re.IGNORECASE,
    )


def rows_in(record: dict[str, Any], each: str, where: str) -> Iterator[dict[str, Any]]:
    """The rows of a record: those that its field `each` lists, or itself.

    Raises:
        DataError: If the field is missing, empty or no list of records; the text begins
            with `where`.
    """
    if not each:
        yield record
        return
    listed = record.get(each)
    if not isinstance(listed, list) or not listed:
        what = "no" if each not in record else f"{listed!r:.60}, which is no"
        raise DataError(f"{where}: {each!r} has {what} list of rows")
    for row in listed:
        if not isinstance(row, dict):
            raise DataError(f"{where}: {each!r} lists {row!r:.60}, which is no record")
        yield {**record, each: None, **row}


def _refuse_faults(path: Path, faults: Mapping[int, DataError], rows: int) -> None:
    """Raise for the records without the cells of a row, of which some are not left out.

    Args:
        path: The file.
        faults: What is wrong with each such row, by its number.
        rows: How many rows there are.
    """
    numbers = np.setdiff1d(np.array(list(faults), np.int64), skipped(path))
    if not len(numbers):
        return
    kept(path, rows)
    if len(faults) == rows:
        raise faults[int(numbers[0])]
    examples = [str(faults[number]) for number in numbers[:EXAMPLES].tolist()]
    raise BadRowsError([Trouble({path: numbers}, examples)])


def _cells(row: Mapping[str, Any], columns: Sequence[Column], where: str) -> list[Any]:
    """The row's cell for each column, None if it has none;
    DataError if it lacks a required one.
    """
    named = {normal(name): value for name, value in row.items()}
    cells = [_cell(named, column) for column in columns]
    for column, cell in zip(columns, cells, strict=True):
        if column.required and cell is None:
            names = ", ".join(column.aliases or (column.name,))
            raise DataError(
                f"{where}: no {column.name!r} among {list(row)[:20]!r}; it may be called {names}; name it "
                f"behind the path, as in ?{column.name}=KEY, ?sequence=KEY where a record lists items, or ?each=KEY where it "
                f"lists rows",
            )
    return cells


def _cell(named: dict[str, Any], column: Column) -> Any:
    """The first value that is not empty under a name of the
    column; ``a.b`` names field b of the object a.
    """
    for alias in column.aliases or (normal(column.name),):
        value: Any = named
        for part in alias.split("."):
            value = value.get(part) if isinstance(value, dict) else None
            if isinstance(value, dict):
                value = {normal(name): inner for name, inner in value.items()}
        if value is not None and value != "":
            return value
    return None
