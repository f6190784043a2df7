"""The command `recsys-mt paper`."""

from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from pytest_recsys_mt.extensions import SHEETS, entry_points, owner_of
from pytest_recsys_mt.gate.baseline import options_of
from pytest_recsys_mt.gate.document import Document
from pytest_recsys_mt.report.outputs import (
    raised_as_data_error,
    record_at,
    require_output,
)
from pytest_recsys_mt.report.paper_tables.declared import Table, tables_of
from pytest_recsys_mt.report.paper_tables.filled_sheets import sheets_of
from pytest_recsys_mt.report.paper_tables.filling import (
    ELSEWHERE,
    UNTOLD,
    Filled,
    cut,
    filled,
)
from pytest_recsys_mt.report.sheet import Sheet
from pytest_recsys_mt.report.sheets import WRITERS, write_sheets
from pytest_recsys_mt.safety.errors import DataError
from pytest_recsys_mt.safety.sanitize import one_line

__all__ = ["Filled", "filled", "write_tables"]

Documents = Sequence[tuple[str, Document]]
"""Records with their names."""

MakesSheets = Callable[[Documents, str], Iterator[Sheet]]
"""Makes the sheets of records that can stand in one
table, and of the name of their data.
"""


def write_tables(
    suite: str,
    records: Sequence[Path],
    output: Path | None,
    name: str,
) -> None:
    """Write a paper's tables with the values of some records.

    Args:
        suite: The suite of the paper.
        records: The records.
        output: The file to write; None for the terminal.
        name: ``table-2`` or ``figure-3``; empty for all.

    Raises:
        DataError: If a record cannot be read, none fills a table, or the file cannot be
            written.
    """
    require_output(output, WRITERS, records)
    documents = [(str(path), record_at(path)) for path in records]
    with raised_as_data_error("these are not records as --recsys-json writes them"):
        data = _data_of(documents[0][1])
        if (make := _maker(suite)) is not None:
            _require_alike(documents)
            every_sheet = list(make(documents, data))
            # A table that a suite makes itself is no choice of rows; it is found by its
            # title, which begins with a name.
            title = name.replace("-", " ").capitalize()
        else:
            every_sheet = list(_declared(documents, suite, name, data))
            title = ""
    sheets = [
        sheet
        for sheet in every_sheet
        if sheet.title.startswith(title) or not sheet.title
    ]
    if not any(sheet.rows for sheet in sheets):
        known = ", ".join(
            sheet.title.partition(":")[0] for sheet in every_sheet if sheet.rows
        )
        raise DataError(f"the suite {suite!r} has no {name}; it has {known}")
    sheets.append(Sheet(notes=_partial(documents)))
    write_sheets(output, "tables", f"{suite} on {data}", sheets)


def _maker(suite: str) -> MakesSheets | None:
    """The function for the sheets of a suite, if they take more than a choice of rows.

    Raises:
        DataError: If it cannot be loaded.
    """
    for point in entry_points(SHEETS):
        if point.name == suite:
            try:
                make: MakesSheets = point.load()
            except Exception as error:
                raise DataError(
                    f"the tables of {suite!r} of {owner_of(point)} cannot be loaded from {point.value!r}: "
                    f"{type(error).__name__}: {error}",
                ) from error
            return make
    return None


def _data_of(document: Document) -> str:
    """The data of a record, and the setting of its questions if one was chosen."""
    data = one_line(str(document["data"]))
    settings: Any = options_of(document).get("-o recsys_question_setting")
    return f"{data} with {one_line(', '.join(settings))}" if settings else data


def _declared(
    documents: Documents,
    suite: str,
    name: str,
    data: str,
) -> Iterator[Sheet]:
    """The sheets of tables that a suite declares, of all or of those
    that have a name.
    """
    wanted = _wanted(suite, name)
    of_suite = [
        (path, document)
        for path, document in documents
        if any(row["suite"] == suite for row in document["results"])
    ]
    _require_alike(of_suite or documents[:1])
    every_row = chain.from_iterable(document["results"] for _, document in of_suite)
    rows = [row for row in every_row if row["suite"] == suite]
    tables = [filled(table, rows) for table in wanted]
    present = [table for table in tables if table.values]
    absent = [table for table in tables if not table.values]
    if not present:
        lines = list(dict.fromkeys(f"    {_why_absent(table)}" for table in absent))
        lines += [f"    {why}" for why in (*_partial(documents), _alike(documents))]
        reasons = "\n".join(lines)
        raise DataError(
            f"these records fill no table of {suite!r} that was asked for:\n{reasons}",
        )
    for table in present:
        yield from sheets_of(table, data)
    if absent:
        notes = [
            f"Not in these records: {table.table.title}. {_why_absent(table)}."
            for table in absent
        ]
        yield Sheet(notes=[*notes, _alike(of_suite)])
    else:
        yield Sheet()


def _wanted(suite: str, name: str) -> list[Table]:
    """The tables of a suite that have a name, or belong to a figure of that name.

    Raises:
        DataError: If there is none.
    """
    tables = tables_of(suite)
    wanted = []
    for table in tables:
        if name in ("", table.name, *table.figures) or _has(table.name, name):
            wanted.append(table)
    if not wanted:
        names = chain.from_iterable((table.name, *table.figures) for table in tables)
        known = ", ".join(dict.fromkeys(names))
        raise DataError(
            f"the suite {suite!r} has no {name}; it has {known}, and docs/suites/{suite}.md says why no other",
        )
    return wanted


def _has(name: str, wanted: str) -> bool:
    """Whether a name of several tables, ``table-2-3``, is
    also that of `wanted`, ``table-3``.
    """
    kind, _, number = wanted.partition("-")
    own_kind, *numbers = name.split("-")
    return kind == own_kind and number in numbers


def _alike(documents: Documents) -> str:
    """The options that another record must have to stand in the same table."""
    _, first = documents[0]
    users = options_of(first).get("--recsys-users")
    return one_line(
        f"Another record stands beside these with --recsys-data={first['data']} --recsys-seed={first['seed']} "
        f"--recsys-users={users}, else alone.",
    )


def _partial(documents: Documents) -> list[str]:
    """A note for each record of a partial run."""
    notes = []
    for name, document in documents:
        why = "; ".join(document["gate"]["incomplete"])
        if why:
            notes.append(f"{name} is of a partial run: {one_line(cut(why))}.")
    return notes


def _why_absent(table: Filled) -> str:
    """Why a table has no line, and which run fills it unless each of
    its rows says why.
    """
    reasons = [why for why in table.missing if why != UNTOLD and ELSEWHERE not in why]
    if not reasons or len(reasons) < len(table.missing):
        reasons.append(f"{table.table.run} fills it")
    return "; ".join(reasons)


def _require_alike(documents: Documents) -> None:
    """Check that records can stand in one table: nothing but their models and tests may
    differ.

    Raises:
        DataError: If something else does.
    """
    (path, first), *others = documents
    ours = _conditions(first)
    for other_path, other in others:
        theirs = _conditions(other)
        for name, value in ours.items():
            other_value = theirs.get(name, value)
            if value != other_value:
                raise DataError(
                    f"{path!r} and {other_path!r} have other {name}, so no table holds both: "
                    f"{one_line(cut(str(value)))} and {one_line(cut(str(other_value)))}; give one at a time",
                )


def _conditions(document: Document) -> dict[str, object]:
    """The facts that records in one table must share, by the names that users know."""
    conditions = {
        "data": (document["data"], document.get("data_digest")),
        "--recsys-seed": document.get("seed"),
        **options_of(document),
    }
    if conditions.get(
        "--recsys-questions",
    ):  # all of them are requested, whatever these say
        conditions["--recsys-seed"] = None
        conditions["--recsys-users"] = None
    return conditions
