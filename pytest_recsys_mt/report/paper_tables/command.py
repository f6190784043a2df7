"""The command `recsys-mt tables`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from pytest_recsys_mt.errors import DataError
from pytest_recsys_mt.gate.baseline import options_of
from pytest_recsys_mt.gate.document import Document, Row
from pytest_recsys_mt.report.leaderboard.written import (
    Sheet,
    in_csv,
    in_latex,
    latex_table,
)
from pytest_recsys_mt.report.markdown import in_markdown, in_table
from pytest_recsys_mt.report.outputs import put_out, record_at, require_output, told_as_data
from pytest_recsys_mt.report.paper_tables.declared import tables_of
from pytest_recsys_mt.report.paper_tables.filling import Filled, agreements, filled
from pytest_recsys_mt.sanitize import one_line


def write_tables(suite: str, records: Sequence[Path], output: Path | None, name: str) -> None:
    """Write a paper's tables with the values of some records.

    Raises:
        DataError: If a record cannot be read, none fills a table, or the file cannot be written.
    """
    require_output(output, _WRITERS, records)
    tables = tables_of(suite)
    if name and name not in (table.name for table in tables):
        known = ", ".join(table.name for table in tables)
        raise DataError(f"the suite {suite!r} has no table {name!r}; its tables are {known}")
    documents = [record_at(path) for path in records]
    with told_as_data("these are not records as --recsys-json writes them"):
        _require_alike(records, documents)
        data = one_line(str(documents[0]["data"]))
        rows: list[Row] = [
            row for document in documents for row in document["results"] if row["suite"] == suite
        ]
        wanted = [table for table in tables if name in ("", table.name)]
        found = [each for each in (filled(table, rows) for table in wanted) if each is not None]
        if not found:
            runs = "\n".join(f"    {run}" for run in dict.fromkeys(table.run for table in wanted))
            raise DataError(
                f"no row of these records belongs to a table of {suite!r}; this fills them:\n{runs}"
            )
        text = _WRITERS[".md" if output is None else output.suffix](found, data)
    put_out(text, output, f"{len(found)} {'table' if len(found) == 1 else 'tables'}")


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


def _sheets(found: Filled, text: Callable[[str], str]) -> list[Sheet]:
    table = found.table
    rows = [[text(name), *map(text, cells)] for name, cells in found.lines.items()]
    rows += [[f"{text(name)} †", *map(text, cells)] for name, cells in table.printed.items()]
    columns = ["", *(text(column.name) for column in table.columns)]
    sheets = [Sheet(text(table.title), columns, rows)]
    names, taus = agreements(found)
    if names:
        rows = [[text(name), *row] for name, row in zip(names, taus, strict=True)]
        title = f"Kendall's tau of these metrics over {len(found.means)} lines"
        sheets.append(Sheet(text(title), ["", *map(text, names)], rows))
    return sheets


def _notes(found: Filled, data: str) -> list[str]:
    table = found.table
    notes = [f"Run on {data}." + (f" † as printed: {table.source}." if table.printed else "")]
    if found.times is not None:
        few, many = found.times
        each = f"{many}" if few == many else f"{few} to {many}"
        behind = f"; ± is the {table.spread}" if table.spread and many > 1 else ""
        notes.append(f"Means over {each} values of {table.over!r}{behind}.")
    return [*notes, *table.notes]


def _in_markdown(tables: Sequence[Filled], data: str) -> str:
    parts = []
    for found in tables:
        for sheet in _sheets(found, in_markdown):
            parts += [f"## {sheet.title}", "\n".join(in_table(sheet.columns, sheet.rows))]
        parts.append(" ".join(in_markdown(note) for note in _notes(found, data)))
    return "\n\n".join(parts) + "\n"


def _in_latex(tables: Sequence[Filled], data: str) -> str:
    parts = ["% needs \\usepackage{booktabs}"]
    for found in tables:
        parts += [
            latex_table(sheet.title, sheet).replace("±", r"$\pm$")
            for sheet in _sheets(found, in_latex)
        ]
        parts += [f"% {one_line(note)}" for note in _notes(found, data)]
    return "\n".join(parts) + "\n"


def _comma_separated(tables: Sequence[Filled], data: str) -> str:
    rows = [
        (found.table.title, name, column.name, cell, origin)
        for found in tables
        for origin, lines in ((data, found.lines), ("printed", found.table.printed))
        for name, cells in lines.items()
        for column, cell in zip(found.table.columns, cells, strict=True)
    ]
    return in_csv(("table", "line", "column", "cell", "origin"), rows)


_WRITERS: Mapping[str, Callable[[Sequence[Filled], str], str]] = {
    ".md": _in_markdown,
    ".csv": _comma_separated,
    ".tex": _in_latex,
}
