"""The picture of a table: bars, or the lines and points of a curve."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from pytest_recsys_mt.report.html import svg
from pytest_recsys_mt.report.html.effects import rectangle
from pytest_recsys_mt.report.html.figures import colour_of, curve, short
from pytest_recsys_mt.report.sheet import Cell, Sheet


def drawn(sheet: Sheet) -> str:
    """The picture of a table, as it says; empty if it says none."""
    if sheet.drawn in ("stacked", "bars"):
        return _bars_of(sheet)
    columns = [sheet.columns[at] for at in sheet.bars]
    lines: dict[str, list[Sequence[Any]]] = {}
    for row in sheet.rows:
        numbers = [_number_of(row[at]) for at in sheet.bars]
        points: list[Sequence[Any]]
        if sheet.drawn == "lines":
            points = list(zip(columns, numbers, strict=True))
        else:
            points = [numbers[:2]]
        name = str(row[0])
        lines[name] = [point for point in points if None not in point]
    if not any(lines.values()):
        return ""
    titles: dict[str, str] = {}
    if sheet.drawn == "scatter":
        titles = dict(zip(("x", "y"), columns, strict=False))
    return curve({**titles, "lines": lines}, sheet.title)


def _bars_of(sheet: Sheet) -> str:
    """The picture of a table with bars; a cell without a
    number has a bar without length.
    """
    names = [str(row[0]) for row in sheet.rows]
    columns = [sheet.columns[at] for at in sheet.bars]
    lengths = []
    for row in sheet.rows:
        lengths.append([_number_of(row[at]) or 0.0 for at in sheet.bars])
    is_stacked = sheet.drawn == "stacked"
    return _bars(names, columns, lengths, sheet.title, stacked=is_stacked)


def _number_of(cell: Cell) -> float | None:
    """The number that a bar or a point shows of a cell, of a text the one that it
    begins with; None if there is none.
    """
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
    """Bars from the left, a group of them for each name.

    Args:
        names: The name of each group.
        columns: The meaning of each bar of a group.
        values: The lengths of the bars of each group.
        label: What it shows, in words.
        stacked: Whether the bars of a group are the parts of one bar, side by side.
    """
    lengths = [sum(row) if stacked else max(row) for row in values]
    longest = max(lengths, default=0.0) or 1.0
    bars_of_group = 1 if stacked else len(columns)
    height_of_group = bars_of_group + 0.5
    height = len(values) * height_of_group
    drawing = svg.Drawing(
        size=(700, 16 * height + 30),
        x=(0, longest),
        y=(height, 0),  # the first is at the top
        frame=(260, 10, 4, 26),
    )
    for place, (name, numbers) in enumerate(zip(names, values, strict=True)):
        top = place * height_of_group
        _, middle = drawing.place(0, top + bars_of_group / 2)
        drawing.text(short(name, 40), (252, middle + 4), "end", svg.INK)
        _draw_group(drawing, top, numbers, stacked=stacked)
    _draw_legend(drawing, columns)
    return drawing.svg(label)


def _draw_group(
    drawing: svg.Drawing,
    top: float,
    lengths: Sequence[float],
    *,
    stacked: bool,
) -> None:
    """Draw the bars of one name, each below the one
    before; stacked, each to the right of it.
    """
    left = 0.0
    for number, length in enumerate(lengths):
        bar = rectangle(left, top, left + length, top + 0.85)
        drawing.area(bar, colour_of(number))
        if stacked:
            left += length
        else:
            top += 1


def _draw_legend(drawing: svg.Drawing, columns: Sequence[str]) -> None:
    """Draw the legend of the colours, below the bars."""
    baseline = drawing.height - 12
    for at, column in enumerate(columns):
        left = 266 + 108 * at
        drawing.marker_at("square", (left, baseline), 10, colour_of(at))
        drawing.text(short(column, 16), (left + 9, baseline + 4), "start")
