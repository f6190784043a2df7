"""What several models reached on the same tests, and which of them is really ahead of
which.

Models are compared as the gate compares two runs, with a margin of 0; one is *ahead* if
that claim holds after Holm's correction over all measures and pairs of a board.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, combinations
from typing import Any, NamedTuple

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

GOODNESS: Mapping[str, Callable[[float], float]] = {
    "at least": lambda value: value,
    "at most": lambda value: -value,
    "within": lambda value: -abs(value),
}
"""A number that is greater for better values, by what a row allows."""

Ahead = dict[str, tuple[str, ...]]
"""On one measure, the models that each model is ahead of."""


@dataclass(frozen=True)
class Cell:
    """What one model reached on one measure, whether it is the
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
    """What the answers of one model took in a suite; `missed` is the share without a
    choice that could be read.
    """

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
        compared: How many of them were compared; the others have no values of the same
            users.
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
        count = 0
        for line in self.lines:
            cell = line.cells.get(one)
            if cell is not None and other in cell.ahead:
                count += 1
        return count


def boards_of(records: Sequence[tuple[str, Document]], suite: str = "") -> list[Board]:
    """The boards of some records with their names: one for each suite on each data set.

    Raises:
        DataError: If a model stands in two records of the same prompts, if records of
            one data set differ in what values depend on, or if there is nothing to
            show.
    """
    boards = []
    for pool in pools_of(records):
        for name in _suites_of(pool):
            if suite in ("", name):
                board = _board(pool, name)
                if board.lines:
                    boards.append(board)
    if not boards:
        every_row = chain.from_iterable(record["results"] for _, record in records)
        suites = sorted({str(row["suite"]) for row in every_row})
        told = one_line(", ".join(suites)) or "none"
        wanted = f"of the suite {suite!r} " if suite else ""
        raise DataError(
            f"the records have no value {wanted}to compare; their suites: {told}",
        )
    return boards


def _suites_of(pool: Pool) -> list[str]:
    """The suites of the rows of a pool, each once."""
    every_row = chain.from_iterable(pool.rows.values())
    return list(dict.fromkeys(row["suite"] for row in every_row))


def _board(pool: Pool, suite: str) -> Board:
    """The board of one suite; without lines if no value of it can be shown."""
    _, first_record = pool.first
    every_row = chain.from_iterable(pool.rows.values())
    rows = [row for row in every_row if row["suite"] == suite]
    shown = [row for row in rows if detail_of(row, "column") is not False]
    by_model = grouped(shown, lambda row: row["model"])
    alpha = float(first_record["settings"].get("alpha", 0.05))
    ahead, compared = _ahead(by_model, alpha)
    lines = _lines(by_model, ahead)
    spent = {}
    partial = {}
    for called, rows_of_model in by_model.items():
        name, record, model = pool.origin[called]
        spent[called] = _spent(record, model, suite, rows_of_model)
        incomplete = record["gate"]["incomplete"]
        if incomplete:
            partial[name] = one_line("; ".join(str(reason) for reason in incomplete))
    return Board(
        suite=suite,
        data=str(first_record["data"]),
        models=list(by_model),
        published=_distinct(line.published for line in lines),
        sources=_sources(shown),
        lines=lines,
        alpha=alpha,
        pairs=sum(math.comb(len(line.cells), 2) for line in lines),
        compared=compared,
        spent=spent,
        baselines=_distinct(line.baselines for line in lines),
        partial=partial,
    )


def _sources(rows: Iterable[Row]) -> list[str]:
    """Where the published values in the details of rows stand, each once."""
    sources = []
    for row in rows:
        published = detail_of(row, "published")
        if published:
            sources.append(str(published["source"]))
    return list(dict.fromkeys(sources))


def _distinct(names: Iterable[Iterable[str]]) -> list[str]:
    """Each name once, in their order."""
    return list(dict.fromkeys(chain.from_iterable(names)))


def _lines(
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


class _Claim(NamedTuple):
    """That one model is better than another on a measure, and the p-value of that."""

    p: float
    key: Key
    better: str
    worse: str


def _ahead(
    rows: Mapping[str, Sequence[Row]],
    alpha: float,
) -> tuple[dict[Key, Ahead], int]:
    """Which models are ahead of which others, by measure, and
    how many pairs of values were compared.
    """
    claims: list[_Claim] = []
    for one, other in combinations(rows, 2):
        findings = compare(rows[one], rows[other], PLAIN, alpha)
        for (key, _), found in zip(keyed(rows[other]), findings, strict=True):
            if found["worse"] is None:
                continue
            # Without p-values, each user has the same value of both.
            p_worse = 1.0 if found["p_worse"] is None else found["p_worse"]
            p_better = 1.0 if found["p_better"] is None else found["p_better"]
            claims.append(_Claim(p_worse, key, better=one, worse=other))
            claims.append(_Claim(p_better, key, better=other, worse=one))
    adjusted = holm([claim.p for claim in claims])
    ahead: dict[Key, Ahead] = {}
    for claim, p in zip(claims, adjusted, strict=True):
        if p <= alpha:
            ahead_on_measure = ahead.setdefault(claim.key, {})
            others = ahead_on_measure.get(claim.better, ())
            ahead_on_measure[claim.better] = (*others, claim.worse)
    # Each pair is two claims, one in each direction.
    return ahead, len(claims) // 2


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
    """What each model with a value reached.

    Args:
        row_of: The row of each model.
        allowed: What the rows allow, a key of `BETTER` if it is known which values are
            better.
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
    or nobody knows which values are better.
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
            place = 1  # that beside the names
        else:
            continue
        for cells in table["rows"]:
            name = str(cells[0])
            value = cells[place] if place < len(cells) else None
            if isinstance(value, int | float) and not name.endswith("(this run)"):
                yield name, float(value)


def _spent(record: Document, model: str, suite: str, rows: Sequence[Row]) -> Spent:
    """What the answers of one model took in a suite, by the
    calls and the figures of its record.
    """
    calls = []
    for row_of_calls in record["calls"]["by"]:
        place = (row_of_calls["suite"], row_of_calls["model"])
        if place == (suite, model):
            calls.append(row_of_calls)
    answered = sum(each["cached"] + each["made"] for each in calls)
    tokens = sum(each["prompt_tokens"] + each["completion_tokens"] for each in calls)
    every_figures = [detail_of(row, "figures") or {} for row in rows]
    # Rows of multiple-choice questions have these figures.
    figures = [each for each in every_figures if "missed_rate" in each]
    return Spent(
        calls=answered,
        tokens=tokens,
        usd=_sum_if_known([each["usd"] for each in calls]),
        seconds=_sum_if_known([each.get("seconds", 0.0) for each in figures])
        if figures
        else None,
        missed=_missed(figures),
    )


def _sum_if_known(numbers: Sequence[float | None]) -> float | None:
    """The sum of some numbers; None if any of them is."""
    known = [number for number in numbers if number is not None]
    return sum(known) if len(known) == len(numbers) else None


def _missed(figures: Sequence[Mapping[str, Any]]) -> float | None:
    """The share of all questions without a choice that
    could be read; None without questions.
    """
    questions = 0
    missed = 0.0
    for each in figures:
        count = int(each.get("questions", 0))
        questions += count
        missed += float(each["missed_rate"]) * count
    return missed / questions if questions else None
