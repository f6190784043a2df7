"""Tables whose cells have types: those of Parquet files, and the objects of pandas,
Polars, Arrow, DuckDB and databases.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from pytest_recsys_mt.datasets.bad_rows import kept
from pytest_recsys_mt.datasets.rows import Column, Rows, match
from pytest_recsys_mt.safety.errors import DataError

if TYPE_CHECKING:
    import pyarrow as pa  # type: ignore[import-untyped]

KNOWN = (
    "a table of pandas, Polars, Arrow or DuckDB, a cursor of a database (DB-API) whose query has run, or a list of "
    "dicts"
)
"""What `frame_of` takes, for errors."""


def rows_of(
    path: Path,
    names: list[str],
    columns: tuple[Column, ...],
    read: Callable[[list[str]], pd.DataFrame],
) -> Rows:
    """The rows of a table of typed cells.

    Args:
        path: The file, or what stands for it in errors.
        names: The headers of the table.
        columns: The columns to look for.
        read: Reads the columns of some headers.

    Raises:
        DataError: If a column is missing, there is no row, or a cell has a wrong kind;
            places are rows, from 1.
    """
    column_by_place = match(names, columns, f"{str(path)!r}")
    cells = read([names[place] for place in column_by_place])
    if not len(cells):
        raise DataError(f"{str(path)!r} has no rows")
    cells.columns = pd.Index([column.name for column in column_by_place.values()])
    numbers = kept(path, len(cells))
    cells = _without_objects(cells.iloc[numbers].reset_index(drop=True))
    rows = Rows(
        path,
        cells,
        lambda row: f"row {numbers[row] + 1}",
        lambda rows: {path: numbers[rows]},
    )
    for column in column_by_place.values():
        cells[column.name] = rows.converted(column)
    return rows


def _without_objects(cells: pd.DataFrame) -> pd.DataFrame:
    """Cells whose objects have the type of a column, if they are of one and none is
    missing: pandas makes floats of whole numbers beside missing ones.
    """
    for place, name in enumerate(cells.columns):
        column = cells.iloc[:, place]
        if column.dtype == object and not column.isna().any():
            cells[name] = column.infer_objects()
    return cells


def of_arrow(table: pa.Table) -> pd.DataFrame:
    """A table of Arrow for pandas, in which whole numbers keep all their digits beside
    missing ones. Bytes, as Impala writes texts, are texts in UTF-8 if all are.
    """
    import pyarrow as pa

    for place, field in enumerate(table.schema):
        if pa.types.is_binary(field.type) or pa.types.is_large_binary(field.type):
            with contextlib.suppress(pa.ArrowInvalid):
                texts = table.column(place).cast(pa.large_string())
                table = table.set_column(place, field.name, texts)
    frame: pd.DataFrame = table.to_pandas(
        integer_object_nulls=True,
        date_as_object=False,
        ignore_metadata=True,
    )
    return frame


def frame_of(table: object, where: str) -> pd.DataFrame:
    """The table that a user's code gives, for pandas.

    Args:
        table: One of `KNOWN`.
        where: Begins the text of an error.

    Raises:
        DataError: If it is none of these.
    """
    if isinstance(table, pd.DataFrame):
        return table.reset_index(drop=table.index.names == [None])
    if _is_cursor(table):
        return _of_cursor(table, where)
    # A lazy frame of Polars, and a data set of Arrow.
    for method in ("collect", "to_table"):
        if callable(getattr(table, method, None)):
            table = getattr(table, method)()
    if hasattr(table, "__arrow_c_stream__"):
        try:
            import pyarrow
        except ImportError:
            pass
        else:
            return of_arrow(pyarrow.table(table))
    for method in ("df", "to_pandas", "toPandas"):
        if callable(getattr(table, method, None)):
            return _converted(table, method, where)
    if isinstance(table, Iterable) and not isinstance(table, str | bytes | Mapping):
        return _of_dicts(table, where)
    raise DataError(f"{where} gives {_kind(table)}, which is no table: give {KNOWN}")


def _converted(table: object, method: str, where: str) -> pd.DataFrame:
    try:
        frame = getattr(table, method)()
    except ImportError as problem:
        raise DataError(
            f"{where} gives {_kind(table)}, whose {method}() needs a package that is missing: {problem}; "
            f"pip install 'pytest-recsys-mt[parquet]'",
        ) from problem
    if not isinstance(frame, pd.DataFrame):
        raise DataError(
            f"{where} gives {_kind(table)}, whose {method}() gives {_kind(frame)}; give {KNOWN}",
        )
    return frame


def _is_cursor(table: object) -> bool:
    return hasattr(table, "description") and callable(getattr(table, "fetchall", None))


def _of_cursor(cursor: Any, where: str) -> pd.DataFrame:
    if not cursor.description:
        raise DataError(
            f"{where} gives a cursor without columns: return it after cursor.execute('SELECT ...')",
        )
    names = [column[0] for column in cursor.description]
    rows = [tuple(row) for row in cursor.fetchall()]
    # As objects: whole numbers beside missing ones would become floats.
    return pd.DataFrame(rows, columns=pd.Index(names), dtype=object)


def _of_dicts(table: Iterable[object], where: str) -> pd.DataFrame:
    rows = list(table)
    if not rows:
        raise DataError(f"{where} gives no rows")
    for row in rows:
        if not isinstance(row, Mapping):
            raise DataError(
                f"{where} gives a {type(table).__name__} that holds {_kind(row)}; give {KNOWN}",
            )
    names = list(dict.fromkeys(name for row in rows for name in row))  # type: ignore[attr-defined]
    return pd.DataFrame(rows, columns=pd.Index(names), dtype=object)


def _kind(value: object) -> str:
    kind = type(value)
    name = kind.__qualname__
    if kind.__module__ == "builtins":
        return f"{value!r:.60}" if value is None else f"a {name}"
    return f"a {kind.__module__}.{name}"
