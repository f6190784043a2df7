"""Fills the tables of a paper with the values of records."""

import re
import statistics
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from textwrap import shorten
from typing import NamedTuple

from pytest_recsys_mt.gate.document import Row
from pytest_recsys_mt.gate.nodeids import own_parameters, parts_of
from pytest_recsys_mt.gate.states import grouped
from pytest_recsys_mt.report.paper_tables.declared import Selected, Table
from pytest_recsys_mt.report.paper_tables.marks import Line, Marks, marks_of
from pytest_recsys_mt.report.sheets import NONE
from pytest_recsys_mt.safety.errors import DataError
from pytest_recsys_mt.safety.redaction import redact
from pytest_recsys_mt.safety.sanitize import one_line

Values = list[tuple[float, float | None]]
"""The values of a cell and their own spreads, one for each value
of the detail that the table averages over.
"""

UNTOLD = "the records have no such figure: its test was left out, it is undefined, or too many answers are unread"
"""Why a cell is empty if no row says why."""

ELSEWHERE = "needs data in the format of"
"""The reason of a test that is for other data has these words."""


@dataclass(frozen=True)
class Filled:
    """A table with the values of a run.

    Attributes:
        values: By the name of a line, its cells, one for each column.
        users: By the name of a line, the numbers of users of its cells.
        unread: Of these users, those with an answer that could not be read.
        lacking: Why cells are empty: by the reason and the column, the names of the
            lines.
        missing: Why lines without any cell are missing.
        marks: The cells that are marked as significantly better than others.
    """

    table: Table
    values: Mapping[str, Sequence[Values]]
    users: Mapping[str, Collection[int]]
    unread: Mapping[str, Collection[int]]
    lacking: Mapping[str, Mapping[str, Sequence[str]]]
    missing: Collection[str] = ()
    marks: Marks = field(default_factory=Marks)

    @property
    def lines(self) -> dict[str, list[str]]:
        """The cells as texts, by the names of the lines."""
        texts: dict[str, list[str]] = {}
        for name, cells in self.values.items():
            pairs = zip(cells, self.table.columns, strict=True)
            texts[name] = [
                self.marks.text(name, column, _text_of(values, self.table, column))
                for values, column in pairs
            ]
        return texts


def filled(table: Table, rows: Sequence[Row]) -> Filled:
    """A table with the values of some rows of records.

    Raises:
        DataError: If a value stands in the records twice.
    """
    values: dict[str, list[Values]] = {}
    users: dict[str, set[int]] = {}
    unread: dict[str, set[int]] = {}
    lacking: dict[str, dict[str, list[str]]] = {}
    missing: dict[str, None] = {}
    lines_by_column: dict[str, list[Line]] = {}
    for model, rows_of_model in grouped(rows, lambda row: row["model"]).items():
        for line in table.rows:
            name = line.name.format(model=model)
            cells: list[Values] = []
            used: list[Row] = []
            reasons: dict[str, _Reason] = {}
            for column in table.columns:
                cell, used_here = _values(table, line, column, rows_of_model, name)
                cells.append(cell)
                used += used_here
                if len(cell) == len(used_here) == 1:
                    compared = lines_by_column.setdefault(column.name, [])
                    compared.append(Line(name, cell[0][0], used_here[0]))
                if not cell:
                    reasons[column.name] = _why_empty(line, column, rows_of_model)
            if not any(cells) and not any(
                reason.was_run for reason in reasons.values()
            ):
                missing |= dict.fromkeys(reason.text for reason in reasons.values())
                continue
            values[name] = cells
            # Figures next to a verdict on no user are of other users.
            users[name] = {_number_of_users(row) for row in used} - {0}
            unread[name] = {_users_unread(row) for row in used} - {0}
            for column_name, reason in reasons.items():
                names_by_column = lacking.setdefault(reason.text, {})
                names_by_column.setdefault(column_name, []).append(name)
    marks = marks_of(table, lines_by_column)
    return Filled(table, values, users, unread, lacking, missing, marks)


def cut(text: str) -> str:
    """A text of a record, short and without secrets."""
    return shorten(redact(text), 300, placeholder=" …")


def _number_of_users(row: Row) -> int:
    """Users; a row of questions counts the unread ones among them."""
    with_unread = row["users"] + _users_unread(row)
    answers = (row["details"].get("unreadable") or {}).get("of", with_unread)
    return int(min(with_unread, answers))


def _users_unread(row: Row) -> int:
    return len((row["details"].get("unreadable") or {}).get("users", ()))


class _Reason(NamedTuple):
    """Why a cell is empty, and whether its test was run at all."""

    text: str
    was_run: bool


def _why_empty(line: Selected, column: Selected, rows: Iterable[Row]) -> _Reason:
    """The reason of the first row of a cell that has one: of
    a test that was run, if there is any.
    """
    for row in sorted(rows, key=_order_of_reasons):
        is_empty = (
            row["status"] == "error" or row.get("value", row.get("estimate")) is None
        )
        reason = row.get("reason")
        if not is_empty or not reason:
            continue
        if selects(line, row, empty=True) and selects(column, row, empty=True):
            return _Reason(one_line(cut(reason)), row["status"] != "not-applicable")
    return _Reason(UNTOLD, was_run=False)


def _order_of_reasons(row: Row) -> tuple[bool, bool]:
    """The sort key: tests that were run first, and those for other data last."""
    return row["status"] == "not-applicable", ELSEWHERE in (row.get("reason") or "")


def _values(
    table: Table,
    line: Selected,
    column: Selected,
    rows: Iterable[Row],
    name: str,
) -> tuple[Values, list[Row]]:
    """The values of a cell, and the rows that have them.

    Args:
        table: The table.
        line: The selection of its line.
        column: The selection of its column.
        rows: The rows of one model.
        name: The name of the line.

    Raises:
        DataError: If two rows have a value of the same part of the detail that the
            table averages over.
    """
    values: dict[object, tuple[float, float | None]] = {}
    used = []
    for row in rows:
        # The figures of an error are only of users who got an answer.
        if row["status"] == "error" or not (
            selects(line, row) and selects(column, row)
        ):
            continue
        usual = "value" if row.get("metric") else "estimate"
        value = _figure(row, column.value or line.value or usual)
        if value is None:
            continue
        used.append(row)
        spread = _figure(row, column.spread or line.spread)
        part = row["details"].get(table.over) if table.over else None
        if part in values:
            where = f" for {table.over} {part!r}" if table.over else ""
            raise DataError(
                f"{table.title}: {column.name!r} of {name!r} stands in the records twice{where}; give records of "
                f"one run each",
            )
        scaled_value = column.times * value + column.plus
        scaled_spread = None if spread is None else column.times * spread
        values[part] = (scaled_value, scaled_spread)
    return list(values.values()), used


def selects(wanted: Selected, row: Row, *, empty: bool = False) -> bool:
    """Whether a row is selected; an empty one may lack its
    metric, its relation and its details.
    """
    if wanted.test not in ("", parts_of(row["nodeid"]).function):
        return False
    if wanted.metric not in ("", row.get("metric") or row["oracle"]):
        lacks_metric = empty and not row.get("metric")
        if not lacks_metric:
            return False
    if wanted.relation not in ("", row["relation"]):
        lacks_relation = empty and not row["relation"]
        if not lacks_relation:
            return False
    if not fnmatchcase(own_parameters(row), wanted.case or "*"):
        return False
    details = row["details"]
    return empty or all(
        details.get(name) == value for name, value in wanted.where.items()
    )


def _figure(row: Row, path: str) -> float | None:
    """The number at a path of a row, as `Selected.value`
    says it; None if there is none.
    """
    found: object = row if path else None
    for key in path.split("/"):
        if isinstance(found, str) and key.isdigit():
            found = _share_of_count(found, int(key))
        else:
            found = found.get(key) if isinstance(found, Mapping) else None
    if isinstance(found, Mapping):
        numbers = [
            number for number in found.values() if isinstance(number, int | float)
        ]
        return statistics.stdev(numbers) if len(numbers) > 1 else None
    if isinstance(found, int | float) and not isinstance(found, bool):
        return float(found)
    return None


def _share_of_count(text: str, place: int) -> float | None:
    """The share of one of the counts in a text, by its
    place from 1; None if they are all zero.
    """
    counts = [int(count) for count in text.split()]
    whole = sum(counts)
    if not whole:
        return None
    count = counts[place - 1] if 1 <= place <= len(counts) else 0
    return count / whole


def _text_of(values: Values, table: Table, column: Selected) -> str:
    """A cell as text: the mean of its values, and behind ±
    their spread, or of one value its own.
    """
    if not values:
        return NONE
    numbers = [number for number, _ in values]
    text = f"{statistics.fmean(numbers):.{column.digits}f}"
    if re.fullmatch(r"-0\.?0*", text):
        text = text.removeprefix("-")
    spread = values[0][1] if len(values) == 1 else None
    if table.spread and len(values) > 1:
        spread = statistics.stdev(numbers)
        if table.spread == "standard error":
            spread /= len(numbers) ** 0.5
    return text if spread is None else f"{text} ± {spread:.{column.digits}f}"
