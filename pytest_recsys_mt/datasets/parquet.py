"""Reads Parquet tables, whose cells have types and whose rows have no lines."""

from pathlib import Path

import pandas as pd

from pytest_recsys_mt.datasets.bad_rows import kept
from pytest_recsys_mt.datasets.rows import Column, Rows, match
from pytest_recsys_mt.safety.errors import DataError

SUFFIXES = (".parquet", ".pq")


def header(path: Path) -> list[str]:
    """The names of the columns; DataError if it is not a
    Parquet file, or pyarrow is not installed.
    """
    try:
        from pyarrow import ArrowException  # type: ignore[import-untyped]
        from pyarrow.parquet import read_schema  # type: ignore[import-untyped]
    except ImportError as problem:
        raise DataError(
            f"{str(path)!r}: Parquet needs pyarrow: pip install 'pytest-recsys-mt[parquet]', or save the table as CSV",
        ) from problem
    try:
        return [str(name) for name in read_schema(path).names]
    except (ArrowException, OSError) as problem:
        raise DataError(
            f"{str(path)!r} is not a sound Parquet file: {problem}",
        ) from problem


def read(path: Path, columns: tuple[Column, ...]) -> Rows:
    """Read one file.

    Raises:
        DataError: If the file cannot be read, lacks a column, or has a cell of a wrong
            kind; places are rows, from 1.
    """
    names = header(path)
    column_by_place = match(names, columns, f"{str(path)!r}")
    wanted = [names[place] for place in column_by_place]
    try:
        cells = pd.read_parquet(path, columns=wanted)
    except (ValueError, OSError) as problem:
        raise DataError(
            f"{str(path)!r} is not a sound Parquet file: {problem}",
        ) from problem
    if cells.empty:
        raise DataError(f"{str(path)!r} has no rows")
    # The index of a table that pandas wrote is read as a column.
    index_is_wanted = not set(wanted) <= set(cells.columns)
    cells = cells.reset_index(drop=not index_is_wanted)[wanted]
    cells.columns = pd.Index([column.name for column in column_by_place.values()])
    numbers = kept(path, len(cells))
    cells = cells.iloc[numbers].reset_index(drop=True)
    rows = Rows(
        path,
        cells,
        lambda row: f"row {numbers[row] + 1}",
        lambda rows: {path: numbers[rows]},
    )
    for column in column_by_place.values():
        cells[column.name] = rows.converted(column)
    return rows
