"""The sheets of a filled table: its values and the
printed ones, their agreement, and notes.
"""

import statistics
from collections.abc import Collection, Iterator, Mapping

from pytest_recsys_mt.gate.states import grouped
from pytest_recsys_mt.report.paper_tables.filling import Filled, Values
from pytest_recsys_mt.report.sheet import Sheet
from pytest_recsys_mt.report.sheets import NONE


def sheets_of(filled: Filled, data: str) -> Iterator[Sheet]:
    """The table with its notes, and the agreement of its columns where it is declared.

    Args:
        filled: The table with its values.
        data: The name of the data.
    """
    table = filled.table
    rows = []
    for name, cells in filled.lines.items():
        rows.append([name, *cells])
    for name, printed in table.printed.items():
        rows.append([f"{name} †", *printed])
    columns = [""]
    columns += [column.name for column in table.columns]
    all_but_the_name = range(1, len(columns))
    bars = [columns.index(name) for name in table.draws] or all_but_the_name
    notes = _notes(filled, data)
    yield Sheet(table.title, columns, rows, notes, drawn=table.drawn, bars=bars)
    yield from _agreements(filled)


def _agreements(filled: Filled) -> Iterator[Sheet]:
    """Kendall's tau-b of each two of the columns in ``kendall`` that have a value in
    every of three or more lines.
    """
    from scipy.stats import kendalltau

    means_by_column = _means_of_full_columns(filled)
    number_of_lines = len(filled.values)
    # Over two lines, tau is 1 or -1 unless they are tied.
    if number_of_lines < 3 or len(means_by_column) < 2:
        return
    rows = []
    for name, means in means_by_column.items():
        row = [name]
        for others in means_by_column.values():
            tau, _p_value = kendalltau(means, others)
            row.append(f"{tau:.2f}")
        rows.append(row)
    title = f"Kendall's tau of these metrics over {number_of_lines} lines"
    columns = ["", *means_by_column]
    yield Sheet(title, columns, rows)


def _means_of_full_columns(filled: Filled) -> dict[str, list[float]]:
    """The means of each column in ``kendall`` that has a value in every line."""
    means_by_column = {}
    for place, column in enumerate(filled.table.columns):
        cells = [line[place] for line in filled.values.values()]
        is_compared = column.name in filled.table.kendall
        if is_compared and all(cells):
            means_by_column[column.name] = [_mean(cell) for cell in cells]
    return means_by_column


def _mean(cell: Values) -> float:
    """The mean of the values of a cell, without their spreads."""
    return statistics.fmean(value for value, _ in cell)


def _notes(filled: Filled, data: str) -> list[str]:
    """The data of the table, the unit of the means in its cells, and why some are
    empty.
    """
    table = filled.table
    origin = f"Run on {data}."
    if table.printed:
        origin += f" † as printed: {table.source}."
    notes = [origin]
    if table.over:
        notes += _note_on_means(filled)
    if any(filled.users.values()):
        notes.append(f"{table.asked}: {_by_line(filled.users)}.")
    if any(filled.unread.values()):
        notes.append(
            f"Of these with an answer that could not be read: {_by_line(filled.unread)}; "
            f"it recommends nothing, and what is measured of items leaves it out.",
        )
    for reason, lines_by_column in filled.lacking.items():
        where = _empty_cells(lines_by_column, len(filled.values))
        notes.append(f"{NONE} (in {where}): {reason}.")
    notes += filled.marks.notes
    notes += table.notes
    return notes


def _note_on_means(filled: Filled) -> Iterator[str]:
    """How many values the cells are means over, if any cell has some."""
    table = filled.table
    counts: dict[str, set[int]] = {}
    for name, cells in filled.values.items():
        counts[name] = {len(cell) for cell in cells if cell}
    if any(counts.values()):
        spread = f"; ± is the {table.spread}" if table.spread else ""
        yield f"Means over {_by_line(counts)} values of {table.over!r}{spread}."


def _empty_cells(
    lines_by_column: Mapping[str, Collection[str]],
    number_of_lines: int,
) -> str:
    """The columns of empty cells; of which lines, if not of all of them."""
    columns_by_lines = grouped(
        lines_by_column,
        lambda column: tuple(lines_by_column[column]),
    )
    parts = []
    for lines, columns in columns_by_lines.items():
        part = "; ".join(columns)
        if len(lines) < number_of_lines:
            of_lines = ", ".join(lines)
            part += f" of {of_lines}"
        parts.append(part)
    return "; ".join(parts)


def _by_line(numbers: Mapping[str, Collection[int]]) -> str:
    """The range of some numbers; by the names of the lines if they have
    different ones.
    """
    ranges = {}
    for name, numbers_of_line in numbers.items():
        if numbers_of_line:
            ranges[name] = _range_of(numbers_of_line)
    names_by_range = grouped(ranges, lambda name: ranges[name])
    if len(names_by_range) == 1:
        return next(iter(names_by_range))
    parts = []
    for text, names in names_by_range.items():
        of_lines = ", ".join(names)
        parts.append(f"{text} ({of_lines})")
    return "; ".join(parts)


def _range_of(numbers: Collection[int]) -> str:
    """The smallest and the largest number; one number alone is no range."""
    smallest = min(numbers)
    largest = max(numbers)
    if smallest == largest:
        return f"{smallest:,}"
    return f"{smallest:,} to {largest:,}"
