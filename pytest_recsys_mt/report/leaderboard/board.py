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

from pytest_recsys_mt.errors import DataError
from pytest_recsys_mt.gate.baseline import differences, is_number, prompts_of
from pytest_recsys_mt.gate.comparison import compare, keyed
from pytest_recsys_mt.gate.document import Document, Row
from pytest_recsys_mt.gate.nodeids import address, parts_of, spoken_of
from pytest_recsys_mt.gate.policy import Policy
from pytest_recsys_mt.gate.states import detail_of, grouped, measured
from pytest_recsys_mt.oracles.statistics.corrections import holm
from pytest_recsys_mt.report.short_names import letters_of, named
from pytest_recsys_mt.safety.sanitize import one_line

Key = tuple[str, str, int]
"""The test without its model, its oracle, and which of its verdicts by that oracle."""

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


@dataclass
class _Pool:
    """Records of the same users and settings, by model, or by model and prompts where one is asked with several.

    Attributes:
        origin: The name of the record, the record, and the model as it is there.
    """

    first: tuple[str, Document]
    rows: dict[str, list[Row]] = field(default_factory=dict)
    origin: dict[str, tuple[str, Document, str]] = field(default_factory=dict)


def boards_of(records: Sequence[tuple[str, Document]], suite: str = "") -> list[Board]:
    """The boards of some records with their names: one for each suite on each data set.

    Raises:
        DataError: If a model stands in two records of the same prompts, if records of one data set differ in what values
            depend on, or if there is nothing to show.
    """
    boards = []
    for pool in _pools(records):
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


def _pools(records: Sequence[tuple[str, Document]]) -> list[_Pool]:
    """The records by their data.

    Raises:
        DataError: If records of one data set cannot stand beside each other.
    """
    pools: dict[str, _Pool] = {}
    prompts: dict[str, set[str]] = {}
    for _, record in records:
        for model in record["models"]:
            prompts.setdefault(model, set()).add(prompts_of(record))
    for name, record in records:
        key = f"{record['data']} {record.get('data_digest')}"
        pool = pools.setdefault(key, _Pool((name, record)))
        first_name, first = pool.first
        # Models may have other tests: those that are missing are not compared.
        told = [text for text in differences(first, record) if not text.startswith("other tests")]
        if told:
            raise DataError(
                f"{name!r} cannot stand beside {first_name!r}: {'; '.join(told)} "
                f"(the baseline is the first, this run the second); run both alike"
            )
        for model in record["models"]:
            # Older records name no prompt.
            prompt = prompts_of(record) if len(prompts[model]) > 1 else ""
            called = f"{model} ({prompt})" if prompt else model
            _add_model(pool, name, record, model, called)
    return list(pools.values())


def _add_model(pool: _Pool, name: str, record: Document, model: str, called: str) -> None:
    """Add a model of a record to its pool.

    Args:
        pool: The pool.
        name: The name of the record.
        record: The record.
        model: The name of the model in the record.
        called: Its name on the board.

    Raises:
        DataError: If the pool has it already, or it was asked other questions than the models there.
    """
    if called in pool.origin:
        raise DataError(
            f"the model {called!r} is in {pool.origin[called][0]!r} and in {name!r}; give one record of it"
        )
    _refuse_other_questions(pool, name, model, record)
    pool.origin[called] = (name, record, model)
    pool.rows[called] = [
        {**row, "model": called, "nodeid": address(row)}
        for row in record["results"]
        if row["model"] == model
    ]


def _refuse_other_questions(pool: _Pool, name: str, model: str, record: Document) -> None:
    """Check that a model was asked the questions that the models of its pool were asked.

    Raises:
        DataError: If it was asked others.
    """
    asked: dict[Key, tuple[object, str]] = {}
    for other, rows_of_other in pool.rows.items():
        for key, row in keyed(rows_of_other):
            digest = detail_of(row, "questions_digest")
            if digest:
                asked[key] = (digest, other)
    rows = [row for row in record["results"] if row["model"] == model]
    for key, row in keyed(rows):
        digest = detail_of(row, "questions_digest")
        if not digest or key not in asked:
            continue
        earlier_digest, other = asked[key]
        if earlier_digest != digest:
            raise DataError(
                f"{name!r} cannot stand beside {pool.origin[other][0]!r}: {one_line(key[0])} asked other questions "
                f"(SHA-256 {one_line(str(earlier_digest))[:12]} and {one_line(str(digest))[:12]}); ask both the same questions"
            )


def _board(pool: _Pool, suite: str) -> Board:
    own = [
        row
        for held in pool.rows.values()
        for row in held
        if row["suite"] == suite and detail_of(row, "column") is not False
    ]
    rows = grouped(own, lambda row: row["model"])
    alpha = float(pool.first[1]["settings"].get("alpha", 0.05))
    by_model = {model: dict(keyed(held)) for model, held in rows.items()}
    names = {
        key: name
        for held in rows.values()
        for (_, name), (key, _) in zip(named(held), keyed(held), strict=True)
    }
    ahead, compared = _ahead(rows, alpha)
    lines = [_line(key, by_model, ahead.get(key, {})) for key in names]
    short = Counter((line.table, line.name) for line in lines)
    lines = [
        line if short[line.table, line.name] == 1 else replace(line, name=names[key])
        for key, line in zip(names, lines, strict=True)
    ]
    place = {table: at for at, table in enumerate(dict.fromkeys(line.table for line in lines))}
    lines.sort(key=lambda line: (place[line.table], line.place))
    lines = [line for line in lines if line.cells]
    given = [detail_of(row, "published") for row in own]
    published = list(dict.fromkeys(model for line in lines for model in line.published))
    return Board(
        suite=suite,
        data=str(pool.first[1]["data"]),
        models=list(rows),
        published=published,
        sources=list(dict.fromkeys(str(each["source"]) for each in filter(None, given))),
        lines=lines,
        alpha=alpha,
        pairs=sum(math.comb(len(line.cells), 2) for line in lines),
        compared=compared,
        spent={
            called: _spent(*pool.origin[called][1:], suite, held) for called, held in rows.items()
        },
        baselines=list(dict.fromkeys(name for line in lines for name in line.baselines)),
        partial={
            name: one_line("; ".join(map(str, record["gate"]["incomplete"])))
            for name, record, _ in map(pool.origin.__getitem__, rows)
            if record["gate"]["incomplete"]
        },
    )


def _ahead(
    rows: Mapping[str, Sequence[Row]], alpha: float
) -> tuple[dict[Key, dict[str, tuple[str, ...]]], int]:
    claims: list[tuple[float, Key, str, str]] = []
    for one, other in combinations(rows, 2):
        findings = compare(rows[one], rows[other], PLAIN, alpha)
        for (key, _), found in zip(keyed(rows[other]), findings, strict=True):
            if found["worse"] is None:
                continue
            # Without p-values, each user has the same value of both.
            p_worse, p_better = (
                1.0 if p is None else p for p in (found["p_worse"], found["p_better"])
            )
            claims += [(p_worse, key, one, other), (p_better, key, other, one)]
    ahead: dict[Key, dict[str, tuple[str, ...]]] = {}
    for p, (_, key, better, worse) in zip(holm([p for p, *_ in claims]), claims, strict=True):
        if p <= alpha:
            held = ahead.setdefault(key, {})
            held[better] = (*held.get(better, ()), worse)
    return ahead, len(claims) // 2


def _line(
    key: Key, by_model: Mapping[str, Mapping[Key, Row]], ahead: Mapping[str, tuple[str, ...]]
) -> Line:
    held = {model: rows[key] for model, rows in by_model.items() if key in rows}
    values = {
        model: value
        for model, row in held.items()
        if row["status"] not in ("error", "not-applicable")
        and (value := measured(row).value) is not None
        and math.isfinite(value)
    }
    row = next(iter(held.values()))
    found = detail_of(row, "column")
    column = found if isinstance(found, dict) else {}
    allowed = column.get("allowed", row.get("allowed"))
    best = _best(values, allowed)
    test, own = spoken_of(key[0]), parts_of(key[0]).parameters
    metric = str(measured(row).metric or row.get("measures") or row["oracle"])
    cells = {}
    for model, value in values.items():
        bounds = held[model].get("interval")
        interval = None if bounds is None else (float(bounds[0]), float(bounds[1]))
        status = str(held[model]["status"])
        cells[model] = Cell(value, interval, status, model in best, ahead.get(model, ()))
    return Line(
        table=str(column.get("table", f"{test}: {metric}")),
        name=str(column.get("name", own or test)),
        metric=metric,
        better=BETTER.get(str(allowed), ""),
        cells=cells,
        published=dict(_published(held.values())),
        baselines={
            str(name): float(value)
            for each in held.values()
            if isinstance(given := detail_of(each, "baselines"), dict)
            for name, value in given.items()
            if is_number(value)
        },
        place=float(at) if is_number(at := column.get("place", 0)) else 0.0,
    )


def _best(values: Mapping[str, float], allowed: object) -> set[str]:
    signs = {"at least": lambda v: v, "at most": lambda v: -v, "within": lambda v: -abs(v)}
    if len(set(values.values())) < 2 or str(allowed) not in signs:
        return set()
    goodness = {model: signs[str(allowed)](value) for model, value in values.items()}
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
    calls = [
        each for each in record["calls"]["by"] if (each["suite"], each["model"]) == (suite, model)
    ]
    costs = [each["usd"] for each in calls]
    figures: list[Mapping[str, Any]] = [
        each for row in rows if "missed_rate" in (each := detail_of(row, "figures") or {})
    ]
    asked = sum(int(each.get("questions", 0)) for each in figures)
    seconds = [each.get("seconds", 0.0) for each in figures]
    missed = sum(float(each["missed_rate"]) * int(each.get("questions", 0)) for each in figures)
    return Spent(
        calls=sum(each["cached"] + each["made"] for each in calls),
        tokens=sum(each["prompt_tokens"] + each["completion_tokens"] for each in calls),
        usd=None if None in costs else sum(cost for cost in costs if cost is not None),
        seconds=None if None in seconds else sum(seconds) if figures else None,
        missed=missed / asked if asked else None,
    )
