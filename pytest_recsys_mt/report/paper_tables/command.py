"""The command `recsys-mt paper`."""

import re
import statistics
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from pytest_recsys_mt.errors import DataError
from pytest_recsys_mt.gate.baseline import options_of
from pytest_recsys_mt.gate.document import Document, Row
from pytest_recsys_mt.gate.nodeids import own_parameters, parts_of
from pytest_recsys_mt.gate.states import grouped
from pytest_recsys_mt.report.outputs import record_at, require_output, told_as_data
from pytest_recsys_mt.report.paper_tables import arena
from pytest_recsys_mt.report.paper_tables.declared import Selected, Table, tables_of
from pytest_recsys_mt.report.sheets import NONE, WRITERS, Sheet, write_sheets
from pytest_recsys_mt.safety.redaction import shortened
from pytest_recsys_mt.safety.sanitize import one_line

Values = list[tuple[float, float | None]]
"""The values of a cell and their own spreads, one for each value of the detail that the table averages over."""


@dataclass(frozen=True)
class Filled:
    """A table with the values of a run: a cell for each column, by the names of the lines."""

    table: Table
    values: Mapping[str, Sequence[Values]]
    users: Sequence[int]
    lacking: Mapping[str, Iterable[str]]  # columns with an empty cell, by the reason

    @property
    def lines(self) -> dict[str, list[str]]:
        """The cells as texts."""
        columns = self.table.columns
        return {
            name: [
                _cell(found, self.table, column)
                for found, column in zip(cells, columns, strict=True)
            ]
            for name, cells in self.values.items()
        }


def write_tables(suite: str, records: Sequence[Path], output: Path | None, name: str) -> None:
    """Write a paper's tables with the values of some records.

    Raises:
        DataError: If a record cannot be read, none fills a table, or the file cannot be written.
    """
    require_output(output, WRITERS, records)
    documents = [(str(path), record_at(path)) for path in records]
    with told_as_data("these are not records as --recsys-json writes them"):
        data = one_line(str(documents[0][1]["data"]))
        # Figures of an arena are no choice of rows; they are found by their titles, which begin with a name.
        wanted = name.replace("-", " ").capitalize() if suite == "arena" else ""
        found = list(
            _arena(documents, data) if suite == "arena" else _declared(documents, suite, name, data)
        )
    sheets = [sheet for sheet in found if sheet.title.startswith(wanted)]
    if not any(sheet.rows for sheet in sheets):
        known = ", ".join(sheet.title.partition(":")[0] for sheet in found if sheet.rows)
        raise DataError(f"the suite {suite!r} has no {name}; it has {known}")
    write_sheets(output, "tables", f"{suite} on {data}", sheets)


Documents = Sequence[tuple[str, Document]]  # with their names


def _declared(documents: Documents, suite: str, name: str, data: str) -> Iterator[Sheet]:
    tables = tables_of(suite)
    wanted = [
        table
        for table in tables
        if name in ("", table.name, *table.figures) or _has(table.name, name)
    ]
    if not wanted:
        known = ", ".join(dict.fromkeys(x for each in tables for x in (each.name, *each.figures)))
        raise DataError(f"the suite {suite!r} has no {name}; it has {known}")
    _require_alike(documents)
    rows = [row for _, each in documents for row in each["results"] if row["suite"] == suite]
    tried = [(table, filled(table, rows)) for table in wanted]
    if not any(found for _, found in tried):
        runs = "\n".join(f"    {run}" for run in dict.fromkeys(table.run for table in wanted))
        raise DataError(
            f"no row of these records belongs to a table of {suite!r}; this fills them:\n{runs}"
        )
    for _, found in tried:
        if found:
            yield from _sheets(found, data)
    absent = [table for table, found in tried if not found]
    yield Sheet(
        notes=[f"Not in these records: {table.title}. {table.run} fills it." for table in absent]
    )


def _arena(documents: Documents, data: str) -> Iterator[Sheet]:
    sheets = arena.sheets_of([document for _, document in documents])
    if not sheets:
        raise DataError(
            "these records have no verdict of an arena; run pytest --pyargs "
            "pytest_recsys_mt.suites.arena --recsys-judge=SPEC --recsys-json=FILE"
        )
    rows = [row for _, each in documents for row in each["results"]]
    for table in tables_of("arena"):
        yield from _sheets(filled(table, rows) or Filled(table, {}, (), {}), data)
    yield from sheets
    for name, each in documents:
        judge, day = options_of(each).get("--recsys-judge"), str(each["time"]["started"])[:10]
        told = f"{name}: judge {judge} on {data}, seed {each['seed']}, {day}."
        yield Sheet(notes=[one_line(told)])


def _has(name: str, wanted: str) -> bool:
    """Whether ``table-2-3`` is what ``table-3`` asks for."""
    kind, _, number = wanted.partition("-")
    own, *numbers = name.split("-")
    return kind == own and number in numbers


def _require_alike(documents: Documents) -> None:
    """Check that records can stand in one table: nothing but their models and tests may differ."""
    (path, first), *others = documents
    for other, document in others:
        ours, theirs = _about(first), _about(document)
        for name in ours:
            if ours[name] != theirs.get(name, ours[name]):
                raise DataError(
                    f"{path!r} and {other!r} have other {name}, so no table holds both: "
                    f"{one_line(str(ours[name]))} and {one_line(str(theirs[name]))}"
                )


def _about(document: Document) -> dict[str, object]:
    return {
        "data": (document["data"], document.get("data_digest")),
        "--recsys-seed": document.get("seed"),
        **options_of(document),
    }


def filled(table: Table, rows: Sequence[Row]) -> Filled | None:
    """A table with the values of some rows of records; None if none of them is of the table."""
    values: dict[str, list[Values]] = {}
    users: set[int] = set()
    lacking: dict[str, dict[str, None]] = {}
    for model, own in grouped(rows, lambda row: row["model"]).items():
        for line in table.rows:
            name = line.name.format(model=model)
            cells = [_values(table, line, column, own, name, users) for column in table.columns]
            pairs = zip(table.columns, cells, strict=True)
            why = {each.name: _why(line, each, own) for each, cell in pairs if not cell}
            if any(cells) or any(was_run for _, was_run in why.values()):
                values[name] = cells
                for column, (told, _) in why.items():
                    lacking.setdefault(told, {})[column] = None
    return Filled(table, values, sorted(users), lacking) if values else None


def _why(line: Selected, column: Selected, rows: Iterable[Row]) -> tuple[str, bool]:
    """Why a cell is empty, and whether its test was run at all."""
    for row in sorted(rows, key=lambda row: row["status"] == "not-applicable"):
        told = row.get("reason") if row.get("value", row.get("estimate")) is None else None
        if told and _selects(line, row, empty=True) and _selects(column, row, empty=True):
            return one_line(shortened(told, 300)), row["status"] != "not-applicable"
    return (
        "the records have no such figure, as of a test that was left out, or an undefined measure",
        False,
    )


def _values(
    table: Table, line: Selected, column: Selected, rows: Iterable[Row], name: str, users: set[int]
) -> Values:
    found: dict[object, tuple[float, float | None]] = {}
    for row in rows:
        if not (_selects(line, row) and _selects(column, row)):
            continue
        usual = "value" if row.get("metric") else "estimate"
        value = _figure(row, column.value or line.value or usual)
        if value is None:
            continue
        users |= {row["users"]} - {0}  # figures beside a verdict on nobody are of others
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


def _selects(wanted: Selected, row: Row, *, empty: bool = False) -> bool:
    """Whether a row is selected; an empty one may lack its metric, its relation and its details."""
    metric, relation = row.get("metric") or row["oracle"], row["relation"]
    return (
        wanted.test in ("", parts_of(row["nodeid"]).function)
        and (wanted.metric in ("", metric) or (empty and not row.get("metric")))
        and (wanted.relation in ("", relation) or (empty and not relation))
        and fnmatchcase(own_parameters(row), wanted.case or "*")
        and (empty or all(row["details"].get(x) == value for x, value in wanted.where.items()))
    )


def _figure(row: Row, path: str) -> float | None:
    found: object = row if path else None
    for key in path.split("/"):
        found = found.get(key) if isinstance(found, Mapping) else None
    if isinstance(found, Mapping):
        numbers = [each for each in found.values() if isinstance(each, int | float)]
        return statistics.stdev(numbers) if len(numbers) > 1 else None
    return float(found) if isinstance(found, int | float) and not isinstance(found, bool) else None


def _cell(found: Values, table: Table, column: Selected) -> str:
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


def _agreements(found: Filled) -> Iterator[Sheet]:
    """Kendall's tau-b of each two of the columns in ``kendall`` that have a value in every of three or more lines."""
    from scipy.stats import kendalltau

    whole: dict[str, list[float]] = {}
    for place, column in enumerate(found.table.columns):
        cells = [each[place] for each in found.values.values()]
        if column.name in found.table.kendall and all(cells):
            means = [statistics.fmean(value for value, _ in cell) for cell in cells]
            whole[column.name] = means
    if len(found.values) < 3 or len(whole) < 2:
        return
    rows = [
        [name, *(f"{kendalltau(one, other)[0]:.2f}" for other in whole.values())]
        for name, one in whole.items()
    ]
    title = f"Kendall's tau of these metrics over {len(found.values)} lines"
    yield Sheet(title, ["", *whole], rows)


def _sheets(found: Filled, data: str) -> Iterator[Sheet]:
    table = found.table
    rows = [[name, *cells] for name, cells in found.lines.items()]
    rows += [[f"{name} †", *cells] for name, cells in table.printed.items()]
    columns = ["", *(column.name for column in table.columns)]
    bars = [columns.index(name) for name in table.draws] or range(1, len(columns))
    notes = _notes(found, data)
    yield Sheet(table.title, columns, rows, notes, drawn=table.drawn, bars=bars)
    yield from _agreements(found)


def _notes(found: Filled, data: str) -> list[str]:
    table = found.table
    notes = [f"Run on {data}." + (f" † as printed: {table.source}." if table.printed else "")]
    counts = [len(cell) for cells in found.values.values() for cell in cells if cell]
    if table.over and counts:
        few, many = min(counts), max(counts)
        each = f"{many}" if few == many else f"{few} to {many}"
        behind = f"; ± is the {table.spread}" if table.spread and many > 1 else ""
        notes.append(f"Means over {each} values of {table.over!r}{behind}.")
    if found.users:
        least, most = found.users[0], found.users[-1]
        more = "" if least == most else f" to {most:,} a cell"
        notes.append(f"Users: {least:,}{more}.")
    notes += [f"{NONE} (in {', '.join(names)}): {why}." for why, names in found.lacking.items()]
    return [*notes, *table.notes]
