"""The command `recsys-mt paper`."""

from __future__ import annotations

import re
import statistics
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pytest_recsys_mt.errors import DataError
from pytest_recsys_mt.gate.baseline import options_of
from pytest_recsys_mt.gate.document import Document, Row, grouped
from pytest_recsys_mt.gate.nodeids import parts_of
from pytest_recsys_mt.report.leaderboard.written import NONE, Sheet, in_csv, in_latex, latex_table
from pytest_recsys_mt.report.markdown import in_markdown, in_table
from pytest_recsys_mt.report.outputs import put_out, record_at, require_output, told_as_data
from pytest_recsys_mt.report.paper_tables.declared import Selected, Table, tables_of
from pytest_recsys_mt.sanitize import one_line

Values = list[tuple[float, float | None]]
"""The values of a cell and their own spreads, one for each value of the detail that the table averages over."""


@dataclass(frozen=True)
class Filled:
    """A table with the values of a run: a cell for each column, by the names of the lines."""

    table: Table
    values: Mapping[str, Sequence[Values]]
    users: Sequence[int]

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
    require_output(output, _WRITERS, records)
    tables = tables_of(suite)
    wanted = [table for table in tables if name in ("", table.name) or _has(table.name, name)]
    if not wanted:
        known = ", ".join(table.name for table in tables)
        raise DataError(f"the suite {suite!r} has no {name}; it has {known}")
    documents = [record_at(path) for path in records]
    with told_as_data("these are not records as --recsys-json writes them"):
        _require_alike(records, documents)
        data = one_line(str(documents[0]["data"]))
        rows: list[Row] = [
            row for document in documents for row in document["results"] if row["suite"] == suite
        ]
        tried = [(table, filled(table, rows)) for table in wanted]
        found = [each for _, each in tried if each is not None]
        empty = [table for table, each in tried if each is None]
        if not found:
            runs = "\n".join(f"    {run}" for run in dict.fromkeys(table.run for table in wanted))
            raise DataError(
                f"no row of these records belongs to a table of {suite!r}; this fills them:\n{runs}"
            )
        text = _WRITERS[".md" if output is None else output.suffix](found, empty, data)
    put_out(text, output, f"{len(found)} {'table' if len(found) == 1 else 'tables'}")


def _has(name: str, wanted: str) -> bool:
    """Whether ``table-2-3`` is what ``table-3`` asks for."""
    kind, _, number = wanted.partition("-")
    own, *numbers = name.split("-")
    return kind == own and number in numbers


def _require_alike(paths: Sequence[Path], documents: Sequence[Document]) -> None:
    """Check that records can stand in one table: nothing but their models and tests may differ."""
    first = documents[0]
    for path, document in zip(paths[1:], documents[1:], strict=True):
        ours, theirs = _about(first), _about(document)
        for name in ours:
            if ours[name] != theirs.get(name, ours[name]):
                raise DataError(
                    f"{str(paths[0])!r} and {str(path)!r} have other {name}, so no table holds both: "
                    f"{one_line(str(ours[name]))} and {one_line(str(theirs[name]))}"
                )


def _about(document: Document) -> dict[str, object]:
    """What an answer depends on beside the model; records of earlier versions say less."""
    return {
        "data": (document["data"], document.get("data_digest")),
        "--recsys-seed": document.get("seed"),
        **options_of(document),
    }


def filled(table: Table, rows: Sequence[Row]) -> Filled | None:
    """A table with the values of some rows of records; None if none of them is of the table."""
    values: dict[str, list[Values]] = {}
    users: set[int] = set()
    for model, own in grouped(rows, lambda row: row["model"]).items():
        for line in table.rows:
            name = line.name.format(model=model)
            cells = [_values(table, line, column, own, name, users) for column in table.columns]
            if any(cells):
                values[name] = cells
    return Filled(table, values, sorted(users)) if values else None


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
        users.add(row["users"])
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


def _agreements(found: Filled, text: Callable[[str], str]) -> Iterator[Sheet]:
    """Kendall's tau-b of each two columns over the lines of the run, as the table's ``kendall`` asks. Columns without a
    value in some line are left out; fewer than three lines say nothing.
    """
    from scipy.stats import kendalltau

    whole: dict[str, list[float]] = {}
    for place, column in enumerate(found.table.columns):
        cells = [each[place] for each in found.values.values()]
        if column.name in found.table.kendall and all(cells):
            means = [statistics.fmean(value for value, _ in cell) for cell in cells]
            whole[text(column.name)] = means
    if len(found.values) < 3 or len(whole) < 2:
        return
    rows = [
        [name, *(f"{kendalltau(one, other)[0]:.2f}" for other in whole.values())]
        for name, one in whole.items()
    ]
    title = f"Kendall's tau of these metrics over {len(found.values)} lines"
    yield Sheet(text(title), ["", *whole], rows)


def _sheets(found: Filled, text: Callable[[str], str]) -> list[Sheet]:
    table = found.table
    rows = [[text(name), *map(text, cells)] for name, cells in found.lines.items()]
    rows += [[f"{text(name)} †", *map(text, cells)] for name, cells in table.printed.items()]
    columns = ["", *(text(column.name) for column in table.columns)]
    return [Sheet(text(table.title), columns, rows), *_agreements(found, text)]


def _notes(found: Filled, data: str) -> list[str]:
    table = found.table
    notes = [f"Run on {data}." + (f" † as printed: {table.source}." if table.printed else "")]
    if table.over:
        counts = [len(cell) for cells in found.values.values() for cell in cells if cell]
        few, many = min(counts), max(counts)
        each = f"{many}" if few == many else f"{few} to {many}"
        behind = f"; ± is the {table.spread}" if table.spread and many > 1 else ""
        notes.append(f"Means over {each} values of {table.over!r}{behind}.")
    least, most = found.users[0], found.users[-1]
    notes.append(f"Users: {least:,}." if least == most else f"Users: {least:,} to {most:,} a cell.")
    cells = zip(*found.lines.values(), strict=True)
    without = [each.name for each, of in zip(table.columns, cells, strict=True) if NONE in of]
    if without:
        notes.append(
            f"{NONE} (in {', '.join(without)}): the records have no such figure, as of a test that was left out, of a "
            f"measure that is not defined, or where too many answers could not be read."
        )
    return [*notes, *table.notes]


def _absent(empty: Sequence[Table]) -> list[str]:
    return [f"Not in these records: {table.title}. {table.run} fills it." for table in empty]


def _in_markdown(tables: Sequence[Filled], empty: Sequence[Table], data: str) -> str:
    parts = []
    for found in tables:
        for sheet in _sheets(found, in_markdown):
            parts += [f"## {sheet.title}", "\n".join(in_table(sheet.columns, sheet.rows))]
        parts.append(" ".join(in_markdown(note) for note in _notes(found, data)))
    parts += map(in_markdown, _absent(empty))
    return "\n\n".join(parts) + "\n"


def _in_latex(tables: Sequence[Filled], empty: Sequence[Table], data: str) -> str:
    parts = ["% needs \\usepackage{booktabs}"]
    for found in tables:
        parts += [
            latex_table(sheet.title, sheet).replace("±", r"$\pm$")
            for sheet in _sheets(found, in_latex)
        ]
        parts += [f"% {one_line(note)}" for note in _notes(found, data)]
    parts += [f"% {one_line(note)}" for note in _absent(empty)]
    return "\n".join(parts) + "\n"


def _comma_separated(tables: Sequence[Filled], empty: Sequence[Table], data: str) -> str:
    rows = [
        (found.table.title, name, column.name, cell, origin)
        for found in tables
        for origin, lines in ((data, found.lines), ("printed", found.table.printed))
        for name, cells in lines.items()
        for column, cell in zip(found.table.columns, cells, strict=True)
    ]
    return in_csv(("table", "line", "column", "cell", "origin"), rows)


_WRITERS: Mapping[str, Callable[[Sequence[Filled], Sequence[Table], str], str]] = {
    ".md": _in_markdown,
    ".csv": _comma_separated,
    ".tex": _in_latex,
}
