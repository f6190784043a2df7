"""From the rows of records to the cells of a paper's table."""

from __future__ import annotations

import re
import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from pytest_recsys_mt.errors import DataError
from pytest_recsys_mt.gate.document import Row
from pytest_recsys_mt.gate.nodeids import parts_of
from pytest_recsys_mt.report.paper_tables.declared import Selected, Table

NONE = "–"


@dataclass(frozen=True)
class Filled:
    """A table with the values of a run.

    Attributes:
        times: How many values stand behind ±, over all cells: the smallest and the largest number.
    """

    table: Table
    lines: Mapping[str, Sequence[str]]
    means: Mapping[str, Sequence[float | None]]
    times: tuple[int, int] | None


def filled(table: Table, rows: Sequence[Row]) -> Filled | None:
    """A table with the values of some rows of records; None if none of them is of the table."""
    lines: dict[str, list[str]] = {}
    means: dict[str, list[float | None]] = {}
    times: set[int] = set()
    for model in dict.fromkeys(row["model"] for row in rows):
        own = [row for row in rows if row["model"] == model]
        for line in table.rows:
            name = line.name.format(model=model)
            cells = [_values(table, line, column, own, name) for column in table.columns]
            if not any(cells):
                continue
            columns = zip(cells, table.columns, strict=True)
            lines[name] = [_cell(found, table, column) for found, column in columns]
            means[name] = [
                statistics.fmean(value for value, _ in found) if found else None for found in cells
            ]
            times.update(map(len, filter(None, cells)))
    if not lines:
        return None
    return Filled(table, lines, means, (min(times), max(times)) if table.over else None)


def _values(
    table: Table, line: Selected, column: Selected, rows: Iterable[Row], name: str
) -> list[tuple[float, float | None]]:
    """The values of a cell and their own spreads, one for each value of the detail that the table averages over."""
    found: dict[object, tuple[float, float | None]] = {}
    for row in rows:
        if not (_selects(line, row) and _selects(column, row)):
            continue
        usual = "value" if row.get("metric") else "estimate"
        value = _figure(row, column.value or line.value or usual)
        if value is None:
            continue
        spread = _figure(row, column.spread or line.spread)
        part = row["details"].get(table.over) if table.over else None
        if part in found:
            again = f" twice for {table.over} {part!r}" if table.over else " twice"
            raise DataError(
                f"{table.title}: {column.name!r} of {name!r} stands in the records{again}; give records of "
                f"one run each"
            )
        found[part] = (
            column.times * value + column.plus,
            None if spread is None else column.times * spread,
        )
    return list(found.values())


def _selects(wanted: Selected, row: Row) -> bool:
    function = parts_of(row["nodeid"]).function
    metric = row.get("metric") or row["oracle"]
    return (
        wanted.test in ("", function)
        and wanted.metric in ("", metric)
        and wanted.relation in ("", row["relation"])
        and all(row["details"].get(name) == value for name, value in wanted.where.items())
    )


def _figure(row: Row, path: str) -> float | None:
    """A figure of a row; of numbers by user their standard deviation."""
    found: object = row if path else None
    for key in path.split("/"):
        found = found.get(key) if isinstance(found, Mapping) else None
    if isinstance(found, Mapping):
        numbers = [each for each in found.values() if isinstance(each, int | float)]
        return statistics.stdev(numbers) if len(numbers) > 1 else None
    return float(found) if isinstance(found, int | float) and not isinstance(found, bool) else None


def _cell(found: Sequence[tuple[float, float | None]], table: Table, column: Selected) -> str:
    if not found:
        return NONE
    values = [value for value, _ in found]
    told = f"{statistics.fmean(values):.{column.digits}f}"
    if re.fullmatch(r"-0\.?0*", told):
        told = told[1:]
    spread = found[0][1] if len(found) == 1 else None
    if table.spread and len(found) > 1:
        spread = statistics.stdev(values)
        if table.spread == "standard error":
            spread /= len(values) ** 0.5
    return told if spread is None else f"{told} ± {spread:.{column.digits}f}"


def agreements(found: Filled) -> tuple[Sequence[str], Sequence[Sequence[str]]]:
    """Kendall's tau-b of each two columns over the lines of the run, as the table's ``kendall`` asks.

    Returns:
        The names of the columns that have a value in every line, and a row of texts for each of them; nothing for
        fewer than three lines.
    """
    from scipy.stats import kendalltau

    whole: dict[str, list[float]] = {}
    for place, column in enumerate(found.table.columns):
        means = [mean for each in found.means.values() if (mean := each[place]) is not None]
        if column.name in found.table.kendall and len(means) == len(found.means):
            whole[column.name] = means
    if len(found.means) < 3 or len(whole) < 2:
        return [], []
    rows = [
        [f"{kendalltau(one, other)[0]:.2f}" for other in whole.values()] for one in whole.values()
    ]
    return list(whole), rows
