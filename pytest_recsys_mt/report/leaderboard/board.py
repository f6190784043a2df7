"""What several models reached on the same tests, and which of them is really ahead of which.

Models are compared as the gate compares two runs, with a margin of 0; one is *ahead* if that claim holds after
Holm's correction over all measures and pairs of a board.
"""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, combinations
from typing import Any

from pytest_recsys_mt.gate.baseline import is_number
from pytest_recsys_mt.gate.comparison import compare, keyed
from pytest_recsys_mt.gate.document import Document, Row
from pytest_recsys_mt.gate.nodeids import parts_of, spoken_of
from pytest_recsys_mt.gate.policy import Policy
from pytest_recsys_mt.gate.states import detail_of, grouped, measured
from pytest_recsys_mt.oracles.statistics.corrections import holm
from pytest_recsys_mt.report.leaderboard.pools import Key, Pool, pools_of
from pytest_recsys_mt.report.short_names import letters_of, named
from pytest_recsys_mt.safety.errors import DataError
from pytest_recsys_mt.safety.sanitize import one_line

PLAIN = Policy(margin=0.0)
"""Any difference counts, however small."""

BETTER = {"at least": "higher", "at most": "lower", "within": "nearer 0"}
"""Which values are better, by what a row allows."""


@dataclass(frozen=True)
class Cell:
    """What one model reached on one measure, whether it is the best, and the models that it is ahead of."""

    value: float
    interval: tuple[float, float] | None
    status: str
    best: bool
    ahead: tuple[str, ...]


@dataclass(frozen=True)
class Line:
    """One measure.

    Attributes:
        table: What its table is called: its test and metric, or what its row says.
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


@dataclass(frozen=True)
class Spent:
    """What the answers of one model took in a suite; `missed` is the share without a choice that could be read."""

    calls: int
    tokens: int
    usd: float | None
    seconds: float | None
    missed: float | None


@dataclass(frozen=True)
class Board:
    """One suite on one data set.

    Attributes:
        alpha: Chance that any model is wrongly called ahead on this board.
        pairs: Pairs of models with a value of the same measure, over all measures.
        compared: How many of them were compared; the others have no values of the same users.
        partial: Why records of it are partial, by their names.
    """

    suite: str
    data: str
    models: Sequence[str]
    published: Sequence[str]
    sources: Sequence[str]
    lines: Sequence[Line]
    alpha: float
    pairs: int
    compared: int
    spent: Mapping[str, Spent]
    baselines: Sequence[str] = ()
    partial: Mapping[str, str] = field(default_factory=dict)

    def ahead(self, one: str, other: str) -> int:
        """On how many measures one model is ahead of another one."""
        return sum(one in line.cells and other in line.cells[one].ahead for line in self.lines)


def boards_of(records: Sequence[tuple[str, Document]], suite: str = "") -> list[Board]:
    """The boards of some records with their names: one for each suite on each data set.

    Raises:
        DataError: If a model stands in two records of the same prompts, if records of one data set differ in what values
            depend on, or if there is nothing to show.
    """
    boards = []
    for pool in pools_of(records):
        every_row = chain.from_iterable(pool.rows.values())
        for name in dict.fromkeys(row["suite"] for row in every_row):
            if suite not in ("", name):
                continue
            board = _board(pool, name)
            if board.lines:
                boards.append(board)
    if not boards:
        every_row = chain.from_iterable(record["results"] for _, record in records)
        suites = ", ".join(sorted({str(row["suite"]) for row in every_row}))
        wanted = f"of the suite {suite!r} " if suite else ""
        raise DataError(
            f"the records have no value {wanted}to compare; their suites: {one_line(suites) or 'none'}"
        )
    return boards


def _board(pool: Pool, suite: str) -> Board:
    """The board of one suite; without lines if no value of it can be shown."""
    every_row = chain.from_iterable(pool.rows.values())
    rows = [row for row in every_row if row["suite"] == suite]
    shown = [row for row in rows if detail_of(row, "column") is not False]
    by_model = grouped(shown, lambda row: row["model"])
    alpha = float(pool.first[1]["settings"].get("alpha", 0.05))
    ahead, compared = _ahead(by_model, alpha)
    lines = _lines(by_model, ahead)
    published_tables = [detail_of(row, "published") for row in shown]
    sources = [str(table["source"]) for table in published_tables if table]
    spent = {}
    partial = {}
    for called, held in by_model.items():
        name, record, model = pool.origin[called]
        spent[called] = _spent(record, model, suite, held)
        if record["gate"]["incomplete"]:
            partial[name] = one_line("; ".join(str(why) for why in record["gate"]["incomplete"]))
    return Board(
        suite=suite,
        data=str(pool.first[1]["data"]),
        models=list(by_model),
        published=_distinct(line.published for line in lines),
        sources=list(dict.fromkeys(sources)),
        lines=lines,
        alpha=alpha,
        pairs=sum(math.comb(len(line.cells), 2) for line in lines),
        compared=compared,
        spent=spent,
        baselines=_distinct(line.baselines for line in lines),
        partial=partial,
    )


def _distinct(names: Iterable[Iterable[str]]) -> list[str]:
    """Each name once, in their order."""
    return list(dict.fromkeys(chain.from_iterable(names)))


def _lines(
    by_model: Mapping[str, Sequence[Row]], ahead: Mapping[Key, Mapping[str, tuple[str, ...]]]
) -> list[Line]:
    """The measures that have a value, those of one table together."""
    names: dict[Key, str] = {}
    row_of: dict[str, dict[Key, Row]] = {}
    for model, rows in by_model.items():
        keyed_rows = list(keyed(rows))
        row_of[model] = dict(keyed_rows)
        for (_, name), (key, _) in zip(named(rows), keyed_rows, strict=True):
            names[key] = name
    lines = [_line(key, row_of, ahead.get(key, {})) for key in names]
    # A short name that two measures of a table have is replaced by the name of the row.
    count_of_name = Counter((line.table, line.name) for line in lines)
    lines = [
        line if count_of_name[line.table, line.name] == 1 else replace(line, name=name)
        for line, name in zip(lines, names.values(), strict=True)
    ]
    tables = list(dict.fromkeys(line.table for line in lines))
    place_of = {table: place for place, table in enumerate(tables)}
    lines.sort(key=lambda line: (place_of[line.table], line.place))
    return [line for line in lines if line.cells]


def _ahead(
    rows: Mapping[str, Sequence[Row]], alpha: float
) -> tuple[dict[Key, dict[str, tuple[str, ...]]], int]:
    """Which models are ahead of which others, by measure, and how many pairs of values were compared."""
    claims: list[tuple[float, Key, str, str]] = []
    for one, other in combinations(rows, 2):
        findings = compare(rows[one], rows[other], PLAIN, alpha)
        for (key, _), found in zip(keyed(rows[other]), findings, strict=True):
            if found["worse"] is None:
                continue
            # Without p-values, each user has the same value of both.
            p_worse = 1.0 if found["p_worse"] is None else found["p_worse"]
            p_better = 1.0 if found["p_better"] is None else found["p_better"]
            claims.append((p_worse, key, one, other))
            claims.append((p_better, key, other, one))
    adjusted = holm([p for p, *_ in claims])
    ahead: dict[Key, dict[str, tuple[str, ...]]] = {}
    for p, (_, key, better, worse) in zip(adjusted, claims, strict=True):
        if p <= alpha:
            others_by_model = ahead.setdefault(key, {})
            others_by_model[better] = (*others_by_model.get(better, ()), worse)
    # Each pair is two claims, one in each direction.
    return ahead, len(claims) // 2


def _line(
    key: Key, by_model: Mapping[str, Mapping[Key, Row]], ahead: Mapping[str, tuple[str, ...]]
) -> Line:
    """One measure, from its row of each model that has one."""
    held = {model: rows[key] for model, rows in by_model.items() if key in rows}
    values = {}
    for model, row in held.items():
        value = _value_of(row)
        if value is not None:
            values[model] = value
    first = next(iter(held.values()))
    declared = detail_of(first, "column")
    column = declared if isinstance(declared, dict) else {}
    allowed = column.get("allowed", first.get("allowed"))
    best = _best(values, allowed)
    cells = {}
    for model, value in values.items():
        bounds = held[model].get("interval")
        interval = None if bounds is None else (float(bounds[0]), float(bounds[1]))
        status = str(held[model]["status"])
        cells[model] = Cell(value, interval, status, model in best, ahead.get(model, ()))
    test = spoken_of(key[0])
    parameters = parts_of(key[0]).parameters
    metric = str(measured(first).metric or first.get("measures") or first["oracle"])
    place = column.get("place", 0)
    return Line(
        table=str(column.get("table", f"{test}: {metric}")),
        name=str(column.get("name", parameters or test)),
        metric=metric,
        better=BETTER.get(str(allowed), ""),
        cells=cells,
        published=dict(_published(held.values())),
        baselines=dict(_baselines(held.values())),
        place=float(place) if is_number(place) else 0.0,
    )


def _value_of(row: Row) -> float | None:
    """The value that a board shows of a row; None if it has none."""
    if row["status"] in ("error", "not-applicable"):
        return None
    value = measured(row).value
    if value is None or not math.isfinite(value):
        return None
    return value


def _baselines(rows: Iterable[Row]) -> Iterator[tuple[str, float]]:
    """The values of simple rules that rows have in their details, by the names of the rules."""
    for row in rows:
        baselines = detail_of(row, "baselines")
        if not isinstance(baselines, dict):
            continue
        for name, value in baselines.items():
            if is_number(value):
                yield str(name), float(value)


def _best(values: Mapping[str, float], allowed: object) -> set[str]:
    """The models of the best value; none if all have one value, or nobody knows which values are better."""
    goodness_of = {
        "at least": lambda value: value,
        "at most": lambda value: -value,
        "within": lambda value: -abs(value),
    }
    if len(set(values.values())) < 2 or str(allowed) not in goodness_of:
        return set()
    goodness = {model: goodness_of[str(allowed)](value) for model, value in values.items()}
    most = max(goodness.values())
    return {model for model, value in goodness.items() if value == most}


def _published(rows: Iterable[Row]) -> Iterator[tuple[str, float]]:
    for row in rows:
        given = detail_of(row, "published")
        if not given:
            continue
        columns = [letters_of(str(column)) for column in given["columns"]]
        metric = letters_of(str(measured(row).metric))
        if metric not in columns and len(columns) != 2:
            continue
        at = columns.index(metric) if metric in columns else 1
        for cells in given["rows"]:
            value = cells[at] if at < len(cells) else None
            if isinstance(value, int | float) and not str(cells[0]).endswith("(this run)"):
                yield str(cells[0]), float(value)


def _spent(record: Document, model: str, suite: str, rows: Sequence[Row]) -> Spent:
    """What the answers of one model took in a suite, by the calls and the figures of its record."""
    every_call_row = record["calls"]["by"]
    calls = [each for each in every_call_row if (each["suite"], each["model"]) == (suite, model)]
    costs = [each["usd"] for each in calls]
    known_costs = [cost for cost in costs if cost is not None]
    every_figures: list[Mapping[str, Any]] = [detail_of(row, "figures") or {} for row in rows]
    # Rows of multiple-choice questions have these figures.
    figures = [each for each in every_figures if "missed_rate" in each]
    questions = [int(each.get("questions", 0)) for each in figures]
    missed = [
        float(each["missed_rate"]) * count for each, count in zip(figures, questions, strict=True)
    ]
    seconds = [each.get("seconds", 0.0) for each in figures]
    knows_seconds = bool(figures) and None not in seconds
    return Spent(
        calls=sum(each["cached"] + each["made"] for each in calls),
        tokens=sum(each["prompt_tokens"] + each["completion_tokens"] for each in calls),
        usd=None if None in costs else sum(known_costs),
        seconds=sum(seconds) if knows_seconds else None,
        missed=sum(missed) / sum(questions) if sum(questions) else None,
    )
