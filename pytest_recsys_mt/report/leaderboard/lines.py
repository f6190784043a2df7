"""The lines of a board: each a measure, with the value of every model."""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from pytest_recsys_mt.gate.baseline import is_number
from pytest_recsys_mt.gate.comparison import keyed
from pytest_recsys_mt.gate.document import Row
from pytest_recsys_mt.gate.nodeids import parts_of, spoken_of
from pytest_recsys_mt.gate.states import detail_of, measured
from pytest_recsys_mt.report.leaderboard.pools import Key
from pytest_recsys_mt.report.short_names import letters_of, named

BETTER = {"at least": "higher", "at most": "lower", "within": "nearer 0"}
"""Which values are better, by the side that a row allows."""

GOODNESS: Mapping[str, Callable[[float], float]] = {
    "at least": lambda value: value,
    "at most": lambda value: -value,
    "within": lambda value: -abs(value),
}
"""A number that is greater for better values, by the side that a row allows."""

Ahead = dict[str, tuple[str, ...]]
"""On one measure, the models that each model is ahead of."""


@dataclass(frozen=True)
class Cell:
    """The value of one model on one measure, whether it is the
    best, and the models that it is ahead of.
    """

    value: float
    interval: tuple[float, float] | None
    status: str
    best: bool
    ahead: tuple[str, ...]


@dataclass(frozen=True)
class Line:
    """One measure.

    Attributes:
        table: The name of its table: its test and metric, or the name in its row.
        better: Which values are better: ``higher``, ``lower`` or ``nearer 0``.
        baselines: Values of simple rules on the same questions, by their names.
    """

    table: str
    name: str
    metric: str
    better: str
    cells: Mapping[str, Cell]
    published: Mapping[str, float]
    baselines: Mapping[str, float] = field(default_factory=dict)
    place: float = 0.0


def lines_of(
    by_model: Mapping[str, Sequence[Row]],
    ahead: Mapping[Key, Ahead],
) -> list[Line]:
    """The measures that have a value, those of one table together."""
    short_name_of: dict[Key, str] = {}
    rows_of_model: dict[str, dict[Key, Row]] = {}
    for model, rows in by_model.items():
        keyed_rows = list(keyed(rows))
        rows_of_model[model] = dict(keyed_rows)
        for (key, _), (_, name) in zip(keyed_rows, named(rows), strict=True):
            short_name_of[key] = name
    lines = [_line(key, rows_of_model, ahead.get(key, {})) for key in short_name_of]
    lines = _with_distinct_names(lines, list(short_name_of.values()))
    # Tables keep their order; within one, lines stand in the places that they declare.
    tables = dict.fromkeys(line.table for line in lines)
    place_of_table = {table: place for place, table in enumerate(tables)}
    lines.sort(key=lambda line: (place_of_table[line.table], line.place))
    return [line for line in lines if line.cells]


def _with_distinct_names(
    lines: Sequence[Line],
    other_names: Sequence[str],
) -> list[Line]:
    """The lines; where two of one table have the same
    name, each takes its other one instead.
    """
    count_of_name = Counter((line.table, line.name) for line in lines)
    renamed = []
    for line, other_name in zip(lines, other_names, strict=True):
        is_alone = count_of_name[line.table, line.name] == 1
        renamed.append(line if is_alone else replace(line, name=other_name))
    return renamed


def _line(
    key: Key,
    rows_of_model: Mapping[str, Mapping[Key, Row]],
    ahead: Ahead,
) -> Line:
    """One measure, from its row of each model that has one."""
    row_of = {model: rows[key] for model, rows in rows_of_model.items() if key in rows}
    first = next(iter(row_of.values()))
    declared = detail_of(first, "column")
    column = declared if isinstance(declared, dict) else {}
    allowed = str(column.get("allowed", first.get("allowed")))
    test = spoken_of(key[0])
    parameters = parts_of(key[0]).parameters
    metric = str(measured(first).metric or first.get("measures") or first["oracle"])
    place = column.get("place", 0)
    return Line(
        table=str(column.get("table", f"{test}: {metric}")),
        name=str(column.get("name", parameters or test)),
        metric=metric,
        better=BETTER.get(allowed, ""),
        cells=_cells(row_of, allowed, ahead),
        published=dict(_published(row_of.values())),
        baselines=dict(_baselines(row_of.values())),
        place=float(place) if is_number(place) else 0.0,
    )


def _cells(row_of: Mapping[str, Row], allowed: str, ahead: Ahead) -> dict[str, Cell]:
    """The values of the models that have one.

    Args:
        row_of: The row of each model.
        allowed: The side that the rows allow, a key of `BETTER` if it is known which
            values are better.
        ahead: The models that each is ahead of.
    """
    values = {}
    for model, row in row_of.items():
        value = _value_of(row)
        if value is not None:
            values[model] = value
    best = _best(values, allowed)
    cells = {}
    for model, value in values.items():
        row = row_of[model]
        bounds = row.get("interval")
        cells[model] = Cell(
            value=value,
            interval=None if bounds is None else (float(bounds[0]), float(bounds[1])),
            status=str(row["status"]),
            best=model in best,
            ahead=ahead.get(model, ()),
        )
    return cells


def _value_of(row: Row) -> float | None:
    """The value that a board shows of a row; None if it has none."""
    if row["status"] in ("error", "not-applicable"):
        return None
    value = measured(row).value
    if value is None or not math.isfinite(value):
        return None
    return value


def _baselines(rows: Iterable[Row]) -> Iterator[tuple[str, float]]:
    """The values of simple rules that rows have in their
    details, by the names of the rules.
    """
    for row in rows:
        baselines = detail_of(row, "baselines")
        if not isinstance(baselines, dict):
            continue
        for name, value in baselines.items():
            if is_number(value):
                yield str(name), float(value)


def _best(values: Mapping[str, float], allowed: str) -> set[str]:
    """The models of the best value; none if all have one value,
    or it is not known which values are better.
    """
    if len(set(values.values())) < 2 or allowed not in GOODNESS:
        return set()
    goodness_of = GOODNESS[allowed]
    most = max(goodness_of(value) for value in values.values())
    return {model for model, value in values.items() if goodness_of(value) == most}


def _published(rows: Iterable[Row]) -> Iterator[tuple[str, float]]:
    """The published values of the metric of rows, by the names of their models."""
    for row in rows:
        table = detail_of(row, "published")
        if not table:
            continue
        columns = [letters_of(str(column)) for column in table["columns"]]
        metric = letters_of(str(measured(row).metric))
        if metric in columns:
            place = columns.index(metric)
        elif len(columns) == 2:
            place = 1  # the place next to the names
        else:
            continue
        for cells in table["rows"]:
            name = str(cells[0])
            value = cells[place] if place < len(cells) else None
            if isinstance(value, int | float) and not name.endswith("(this run)"):
                yield name, float(value)
