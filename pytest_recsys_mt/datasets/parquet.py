"""Reads Parquet: a file, or a folder of files with the same columns, some of which may
stand in the names of folders (``day=2026-01-01``).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from pytest_recsys_mt.datasets.archives import suffix
from pytest_recsys_mt.datasets.frames import of_arrow, rows_of
from pytest_recsys_mt.datasets.rows import Column, Rows, joined
from pytest_recsys_mt.safety.errors import DataError

if TYPE_CHECKING:
    from pyarrow.dataset import Dataset, Fragment  # type: ignore[import-untyped]

SUFFIXES = (".parquet", ".pq")


def is_parquet(path: Path) -> bool:
    """Whether a path is a Parquet file by its ending, or a folder of such files."""
    return is_folder(path) if path.is_dir() else suffix(path) in SUFFIXES


def is_folder(path: Path) -> bool:
    """Whether a folder holds one table in several Parquet files: it has the ending
    itself, or folders named ``COLUMN=VALUE``, or files of several parts
    (``part-0.parquet``).
    """
    files = _files(path)
    if not any(suffix(file) in SUFFIXES for file in files):
        return False
    inner = [file for file in files if file.parent != path]
    if path.suffix.lower() in SUFFIXES or inner:
        return all("=" in file.parent.name for file in inner)
    return all(file.name.startswith("part-") for file in files)


def _files(folder: Path) -> list[Path]:
    """The files of a folder at any depth, without those that Spark and others mark as
    no data by an underscore or a dot.
    """
    found = []
    for path in sorted(folder.rglob("*"), key=_place):
        inner = path.relative_to(folder).parts
        if path.is_file() and not any(part[0] in "._" for part in inner):
            found.append(path)
    return found


def _place(path: Path) -> tuple[object, ...]:
    """Orders paths with numbers by these: ``part-2`` before ``part-10``."""
    pieces = re.split(r"(\d+)", str(path))
    return tuple((int(each), "") if each.isdigit() else (-1, each) for each in pieces)


def _hive(files: Sequence[Path], folder: Path) -> object:
    """The columns in the names of folders, as texts: ``item=007`` is no number."""
    import pyarrow as pa  # type: ignore[import-untyped]
    from pyarrow import dataset

    names: dict[str, None] = {}
    for file in files:
        for part in file.relative_to(folder).parts[:-1]:
            names |= dict.fromkeys([part.partition("=")[0]])
    schema = pa.schema([(name, pa.string()) for name in names])
    return dataset.partitioning(schema, flavor="hive")


def _opened(path: Path) -> Dataset:
    try:
        import pyarrow as pa
        from pyarrow import dataset
    except ImportError as problem:
        raise DataError(
            f"{str(path)!r}: Parquet needs pyarrow: pip install 'pytest-recsys-mt[parquet]', or save the table as CSV",
        ) from problem
    files = _files(path) if path.is_dir() else [path]
    others = [file for file in files if suffix(file) not in SUFFIXES]
    if others:
        raise DataError(
            f"{str(path)!r} holds {len(others):,} files that are not Parquet, the first is {str(others[0])!r}; take "
            f"them out, or begin their names with an underscore",
        )
    try:
        opened = dataset.dataset(
            [str(file) for file in files],
            format="parquet",
            partitioning=_hive(files, path) if path.is_dir() else None,
            partition_base_dir=str(path) if path.is_dir() else None,
        )
        if len(files) == 1:
            return opened
        parts = [part.physical_schema for part in opened.get_fragments()]
        # A column may be missing in older files, or have a smaller type there.
        schema = _unified([*parts, opened.schema], path)
        return opened.replace_schema(schema)
    except (pa.ArrowException, OSError) as problem:
        raise DataError(
            f"{str(path)!r} is not a sound Parquet file: {problem}",
        ) from problem


def _unified(schemas: Sequence[Any], folder: Path) -> Any:
    import pyarrow as pa

    try:
        return pa.unify_schemas(schemas, promote_options="permissive")
    except pa.ArrowException as problem:
        raise DataError(
            f"the files of {str(folder)!r} do not fit together as one table: {problem}",
        ) from problem


def header(path: Path) -> list[str]:
    """The names of the columns; DataError if it is not a
    Parquet file, or pyarrow is not installed.
    """
    return [str(name) for name in _opened(path).schema.names]


def read(path: Path, columns: tuple[Column, ...]) -> Rows:
    """Read one file, or the files of a folder; only the columns that are looked for.

    Raises:
        DataError: If a file cannot be read, lacks a column, or has a cell of a wrong
            kind; places are rows, from 1.
    """
    table = _opened(path)
    # A part of a folder may be empty, as Spark writes them.
    fragments = [part for part in table.get_fragments() if part.count_rows()]
    if not fragments:
        raise DataError(f"{str(path)!r} has no rows")
    parts = []
    for part in fragments:
        file = Path(part.path) if path.is_dir() else path
        parts.append(_read(part, table, file, columns))
    return joined(path, parts)


def _read(
    part: Fragment,
    table: Dataset,
    file: Path,
    columns: tuple[Column, ...],
) -> Rows:
    from pyarrow import ArrowException

    def cells(wanted: list[str]) -> pd.DataFrame:
        try:
            return of_arrow(part.to_table(schema=table.schema, columns=wanted))
        except (ArrowException, ValueError, OSError) as problem:
            raise DataError(
                f"{str(file)!r} is not a sound Parquet file: {problem}",
            ) from problem

    return rows_of(file, list(map(str, table.schema.names)), columns, cells)
