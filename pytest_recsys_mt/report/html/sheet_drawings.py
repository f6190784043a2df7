"""The picture of a table: bars, or the lines and points of a curve."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from pytest_recsys_mt.report.html import svg
from pytest_recsys_mt.report.html.figures import colour_of, curve, rectangle, short

if TYPE_CHECKING:
    from pytest_recsys_mt.report.sheets import Cell, Sheet


def drawn(sheet: Sheet) -> str:
    """The picture of a table, as it says; empty if it says none."""
    names = [str(row[0]) for row in sheet.rows]
    columns = [sheet.columns[at] for at in sheet.bars]
    values = [[_number_of(row[at]) for at in sheet.bars] for row in sheet.rows]
    if sheet.drawn in ("stacked", "bars"):
        lengths = [[value or 0.0 for value in row] for row in values]
        return _bars(names, columns, lengths, sheet.title, stacked=sheet.drawn == "stacked")
    lines: dict[str, list[Sequence[Any]]] = {}
    for name, row in zip(names, values, strict=True):
        if sheet.drawn == "lines":
            points: list[Sequence[Any]] = list(zip(columns, row, strict=True))
        else:
            points = [row[:2]]
        lines[name] = [point for point in points if None not in point]
    if not any(lines.values()):
        return ""
    titles: dict[str, str] = {}
    if sheet.drawn == "scatter":
        titles = dict(zip(("x", "y"), columns, strict=False))
    return curve({**titles, "lines": lines}, sheet.title)


def _number_of(cell: Cell) -> float | None:
    """The number that a bar or a point shows of a cell, of a text the one that it begins with; None if there is none."""
    if isinstance(cell, float):
        return cell
    if not isinstance(cell, str):
        return None
    number = re.match(r"-?[\d.]+", cell)
    return float(number[0]) if number else None


def _bars(
    names: Sequence[str],
    columns: Sequence[str],
    values: Sequence[Sequence[float]],
    label: str,
    *,
    stacked: bool,
) -> str:
    """Bars from the left, a group of them for each name; stacked, one bar each with its parts side by side."""
    lengths = [sum(row) if stacked else max(row) for row in values]
    longest = max(lengths, default=0.0) or 1.0
    bars_each = 1 if stacked else len(columns)
    group = bars_each + 0.5
    lines = len(values) * group
    size = (700, 16 * lines + 30)
    across = (0, longest)
    down = (lines, 0)  # the first is at the top
    frame = (260, 10, 4, 26)
    drawing = svg.Drawing(size, across, down, frame)
    for place, (name, numbers) in enumerate(zip(names, values, strict=True)):
        top = place * group
        middle = drawing.place(0, top + bars_each / 2)[1] + 4
        drawing.text(short(name, 40), (252, middle), "end", svg.INK)
        left = 0.0
        for at, value in enumerate(numbers):
            x, y = (left, top) if stacked else (0.0, top + at)
            bar = rectangle(x, y, x + value, y + 0.85)
            drawing.area(bar, colour_of(at))
            left += value
    _draw_legend(drawing, columns)
    return drawing.svg(label)


def _draw_legend(drawing: svg.Drawing, columns: Sequence[str]) -> None:
    """Draw what each colour stands for, below the bars."""
    baseline = drawing.height - 12
    for at, column in enumerate(columns):
        left = 266 + 108 * at
        drawing.marker_at("square", (left, baseline), 10, colour_of(at))
        drawing.text(short(column, 16), (left + 9, baseline + 4), "start")
