"""Marks of significance on the cells of a filled table: is the best value of a column
significantly above the best one of the other groups of lines?
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from pytest_recsys_mt.gate.document import Row
from pytest_recsys_mt.report.paper_tables.declared import Selected, Table

MARK = "**"


class Line(NamedTuple):
    """A cell, seen from its column.

    Attributes:
        name: The name of its line.
        value: Its value.
        row: The row of a record that has it.
    """

    name: str
    value: float
    row: Row


@dataclass(frozen=True)
class Marks:
    """The marked cells of a table.

    Attributes:
        cells: By the name of a line, the columns with a mark.
        notes: What was compared in each column, or why nothing was.
    """

    cells: Mapping[str, set[str]] = field(default_factory=dict)
    notes: Sequence[str] = ()

    def text(self, line: str, column: Selected, value: str) -> str:
        """The text of a cell, with its mark if it has one."""
        marked = column.name in self.cells.get(line, ())
        return f"{value}{MARK}" if marked else value


def marks_of(table: Table, lines_by_column: Mapping[str, Sequence[Line]]) -> Marks:
    """The marks of a table whose columns say where the values by user are.

    Args:
        table: The table.
        lines_by_column: By the name of a column, its cells that are the value of one
            row.
    """
    cells: dict[str, set[str]] = {}
    notes = []
    for column in table.columns:
        if not column.by_user:
            continue
        best = _best_of_groups(lines_by_column.get(column.name, ()), column)
        if len(best) < 2:
            found = ", ".join(best) or "no group"
            notes.append(
                f"No {MARK} in {column.name}: it compares the best lines of two groups, and the records have values "
                f"by user of {found} alone; another record stands beside these.",
            )
            continue
        (_, first), (_, second), *_ = sorted(
            best.items(),
            key=lambda pair: pair[1].value,
            reverse=True,
        )
        is_marked, note = _compared(column, first, second)
        if is_marked:
            cells.setdefault(first.name, set()).add(column.name)
        notes.append(note)
    return Marks(cells, notes)


def _best_of_groups(lines: Sequence[Line], column: Selected) -> dict[str, Line]:
    """The highest line of each group, of those whose rows have values by user."""
    best: dict[str, Line] = {}
    for line in lines:
        group = line.row["details"].get("group")
        if group is None or not _by_user(line.row, column):
            continue
        if group not in best or line.value > best[group].value:
            best[group] = line
    return best


def _compared(column: Selected, first: Line, second: Line) -> tuple[bool, str]:
    """Whether the first line is significantly higher, and the comparison in words."""
    from pytest_recsys_mt.oracles.statistics.paired_difference import paired_difference

    ours = _by_user(first.row, column)
    theirs = _by_user(second.row, column)
    users = [user for user in ours if user in theirs]
    pair = f"{column.name} of {first.name} against that of {second.name}"
    if len(users) < 2:
        return False, f"No {MARK} in {column.name}: {pair} has {len(users)} users."
    found = paired_difference(
        [ours[user] for user in users],
        [theirs[user] for user in users],
        column.alpha,
    )
    lost = len(ours.keys() | theirs.keys()) - len(users)
    without = f", without {lost} that one of them has no value of" if lost else ""
    note = f"{pair}: p={found.p_value:.2g} over {len(users):,} users{without}"
    is_marked = found.significant and found.mean > 0
    return is_marked, f"{note}, so {'' if is_marked else 'not '}{MARK}."


def _by_user(row: Row, column: Selected) -> Mapping[str, float]:
    """The values by user at the path of a column; empty if the row has none."""
    found: Any = row
    for key in column.by_user.split("/"):
        found = found.get(key) if isinstance(found, Mapping) else None
    return found if isinstance(found, Mapping) else {}
