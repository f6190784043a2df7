"""Reads the files of a part of a description as one table."""

from __future__ import annotations

from collections.abc import Container, Sequence
from pathlib import Path

from pytest_recsys_mt.datasets import delimited, json_lines, parquet
from pytest_recsys_mt.datasets.description import Part
from pytest_recsys_mt.datasets.packed import suffix
from pytest_recsys_mt.datasets.rows import Rows, joined
from pytest_recsys_mt.errors import DataError

TEXT = (".csv", ".tsv", ".txt", ".dat", ".data", ".inter", ".item", ".user")
"""Endings of delimited files."""


def table(
    paths: Sequence[Path], part: Part, folder: Path, wanted: Container[str] | None = None
) -> Rows:
    """The files of a part, as one table; of JSON only the records of `wanted` items."""
    return joined(folder, [_table(path, part, wanted) for path in paths])


def _table(path: Path, part: Part, wanted: Container[str] | None) -> Rows:
    columns = part.layout
    ending = suffix(path)
    if ending in parquet.SUFFIXES:
        return parquet.read(path, columns)
    if ending in json_lines.SUFFIXES:
        return json_lines.read(path, columns, part.each, wanted)
    return delimited.read(path, layout_of(path, part))


def layout_of(path: Path, part: Part) -> delimited.Layout:
    """The layout of a delimited file; DataError if its ending is none of a table."""
    if not part.file and suffix(path) not in TEXT:
        raise DataError(
            f"{str(path)!r}: a table ends in {', '.join((*TEXT, *json_lines.SUFFIXES))} or "
            f"{parquet.SUFFIXES[0]}, not in {suffix(path)!r}"
        )
    return delimited.Layout(
        part.layout,
        part.sep,
        not part.columns,
        part.encoding,
        part.quoted,
        part.escape,
        ragged=part.ragged,
    )
