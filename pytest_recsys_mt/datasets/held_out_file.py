"""Interactions that are held out because they stand in a file of their own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from pytest_recsys_mt.datasets.description import Part
from pytest_recsys_mt.datasets.options import Report
from pytest_recsys_mt.datasets.reading import interactions
from pytest_recsys_mt.datasets.rows import Rows, match
from pytest_recsys_mt.datasets.sequences import HELD_OUT
from pytest_recsys_mt.datasets.splits import Cut
from pytest_recsys_mt.safety.errors import DataError


def with_test(
    path: Path,
    name: str,
    part: Part,
    header_of: Callable[[Path], Sequence[str]],
    report: Report,
) -> tuple[Rows, Cut]:
    """The rows of a table and of the one that is held out, and which these are.

    Args:
        path: The table for training.
        name: The path of the other one, from the folder of the first.
        part: The columns of both.
        header_of: Returns the names of the columns of a table.
        report: Called with each note on changes to the rows.

    Raises:
        DataError: If a file is wrong, or they have other columns.
    """
    other = path.parent / name
    if not other.is_file():
        raise DataError(
            f"test={name!r} is no file: {str(other)!r}; give the path of the table of held-out interactions, from the "
            f"folder of {str(path)!r}",
        )
    if other.resolve() == path.resolve():
        raise DataError(
            f"test={name!r} is the table for training itself, {str(path)!r}; name another one, or divide it with split=",
        )
    if not part.columns:
        _require_same_columns(path, other, part, header_of)
    both = part.read([path, other], path.parent)
    places = np.arange(len(both.frame))
    early = len(both.origins(places).get(path, ()))
    marked = replace(both, frame=both.frame.assign(**{HELD_OUT: places >= early}))
    rows, _ = interactions(marked, part, report)
    withheld = rows.frame[HELD_OUT].to_numpy(dtype=bool)
    rows = replace(rows, frame=rows.frame.drop(columns=HELD_OUT))
    for file, is_empty in ((path, withheld.all()), (other, not withheld.any())):
        if is_empty:
            raise DataError(f"{str(file)!r} holds no interactions")
    cut = Cut(f"test={name}", withheld)
    if rows.timed:
        _report_order(rows, cut, path, report)
    return rows, cut


def _require_same_columns(
    path: Path,
    other: Path,
    part: Part,
    header_of: Callable[[Path], Sequence[str]],
) -> None:
    names = []
    for file in (path, other):
        found = match(header_of(file), part.layout, repr(str(file))).values()
        names.append({column.name for column in found})
    for file, lacking in ((other, names[0] - names[1]), (path, names[1] - names[0])):
        if lacking:
            raise DataError(
                f"{str(file)!r} has no column for the {min(lacking)}, which the other of {path.name} and "
                f"{other.name} has; both need the same columns",
            )


def _report_order(rows: Rows, cut: Cut, path: Path, report: Report) -> None:
    times = rows.frame["timestamp"].to_numpy(dtype=np.int64)
    latest = times[~cut.withheld].max()
    count = int((times[cut.withheld] <= latest).sum())
    if count:
        report(
            f"{cut.name}: the files are not one cut in time; held-out interactions that are not later than the last of "
            f"{path.name}: {count:,} of {int(cut.withheld.sum()):,}",
        )
