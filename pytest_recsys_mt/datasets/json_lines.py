"""Files with one record a line, read line by line."""

import ast
import json
import re
from collections.abc import Callable, Container, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd

from pytest_recsys_mt.datasets.archives import most, opened
from pytest_recsys_mt.datasets.rows import Column, Rows, normal
from pytest_recsys_mt.errors import DataError

SUFFIXES = (".json", ".jsonl", ".ndjson")
LONGEST = 4 << 20
"""Most bytes of a record. The longest published ones have some hundred thousand."""


def literal(line: str) -> Any:
    """A record as JSON, or, as in Amazon's set of 2014, as a Python literal, which is never run; ValueError for others."""
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
) -> Iterator[tuple[int, dict[str, Any]]]:
    """The records of a file, one a line, with the numbers of the lines.

    `parse` raises ValueError for an invalid line. One is not parsed whose values of `key`, all in plain sight, are
    not `wanted`.

    Raises:
        DataError: If the file is damaged, or a line is too long or not a record; the text names the file and the line.
    """
    number = total = 0
    with opened(path) as stream:
        limit = most(path)
        while packed := stream.readline(LONGEST + 1):
            number += 1
            total += len(packed)
            if total > limit:
                raise DataError(f"{str(path)!r} unpacks to more than {limit:,} bytes: a bomb")
            where = f"{str(path)!r}, line {number}"
            if len(packed) > LONGEST:
                raise DataError(f"{where}: longer than {LONGEST:,} bytes")
            try:
                line = packed.decode("utf-8-sig" if number == 1 else "utf-8")
            except UnicodeDecodeError as problem:
                raise DataError(f"{where}: this is not UTF-8 ({problem})") from problem
            named = [*key.finditer(line)] if key else []
            others = all(each.lastindex and each[each.lastindex] not in wanted for each in named)
            if not line.strip() or (named and others):
                continue
            try:
                record = parse(line)
                if "\\ud" in line.lower():  # half of a character is no text
                    json.dumps(record, ensure_ascii=False, default=str).encode()
            except (ValueError, RecursionError) as problem:
                raise DataError(f"{where}: {line[:80]!r} is not a record ({problem})") from problem
            if not isinstance(record, dict):
                raise DataError(
                    f"{where}: {line[:80]!r} is not a record; write one JSON object a line"
                )
            yield number, record


def read(
    path: Path, columns: tuple[Column, ...], each: str = "", wanted: Container[str] | None = None
) -> Rows:
    """The columns of all records. `each` names the field that holds the rows of a record, which have its other
    fields too. Of `wanted` items alone, if it is given.

    Raises:
        DataError: As `records`, or if a record lacks a required column or has a cell of a wrong kind.
    """
    item = next((column for column in columns if column.name == "item"), None)
    key = None
    if wanted is not None and item is not None and not each:
        fields = "|".join(map(re.escape, item.aliases or (item.name,)))
        # An id with an escape is decoded before it is compared: such a line is parsed.
        value = r"""u?"([^"\\]*)"|u?'([^'\\]*)'|(\d+)"""
        key = re.compile(rf"""["'](?:{fields})["']\s*:\s*(?:(?:{value})\s*[,}}])?""", re.IGNORECASE)
    cells: list[list[Any]] = []
    numbers: list[int] = []
    for number, record in records(path, key=key, wanted=wanted or ()):
        for row in _rows(record, each):
            named = {normal(name): value for name, value in row.items()}
            found = [_cell(named, column) for column in columns]
            for column, value in zip(columns, found, strict=True):
                if column.required and value is None:
                    raise DataError(
                        f"{str(path)!r}, line {number}: no {column.name!r} among {list(row)[:20]!r}; it may "
                        f"be called {', '.join(column.aliases or (column.name,))}"
                    )
            cells.append(found)
            numbers.append(number)
    if not cells:
        raise DataError(f"{str(path)!r} has no rows")
    frame = pd.DataFrame(cells, columns=pd.Index([column.name for column in columns]))
    rows = Rows(path, frame, lambda row: f"line {numbers[row]}")
    present = [column for column in columns if frame[column.name].notna().any()]
    converted = {column.name: rows.converted(column) for column in present}
    return replace(rows, frame=pd.DataFrame(converted))


def _rows(record: dict[str, Any], each: str) -> Iterator[dict[str, Any]]:
    if not each:
        yield record
        return
    listed = record.get(each)
    for row in listed if isinstance(listed, list) else ():
        if isinstance(row, dict):
            yield {**record, each: None, **row}


def _cell(named: dict[str, Any], column: Column) -> Any:
    for alias in column.aliases or (normal(column.name),):
        value: Any = named
        for part in alias.split("."):
            value = value.get(part) if isinstance(value, dict) else None
            if isinstance(value, dict):
                value = {normal(name): inner for name, inner in value.items()}
        if value is not None and value != "":
            return value
    return None
