"""The drawings: effects with their margins, curves, scatter plots, dimensions."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from itertools import groupby, pairwise
from typing import TYPE_CHECKING, Any

from pytest_recsys_mt.gate.document import Row
from pytest_recsys_mt.gate.states import measured
from pytest_recsys_mt.report.html import svg
from pytest_recsys_mt.report.html.words import state_of
from pytest_recsys_mt.report.measures import effect_of

if TYPE_CHECKING:
    from pytest_recsys_mt.report.sheets import Cell, Sheet

STRIP = (400, 26)
"""Width and height of the interval of one relation, in pixels."""

TRACK = (220, 44)
"""The same for one verdict over several runs."""

MOST_POINTS = 600
"""Most points of a scatter plot; with more points, only every second, third, ... is drawn."""

_MARKERS = {"violated": "cross", "known": "cross", "inconclusive": "square"}
_LINES = (
    ("dot", ""), ("square", "6 3"), ("triangle", "7 3 1 3"), ("diamond", "1.5 3"), ("right", "9 2"), ("cross", "3 2"),
)  # fmt: skip
_DASHED = "4 3"


def strips(rows: Sequence[Row]) -> tuple[str, list[str]]:
    """The effects of some rows, one drawing per row on one axis.

    Args:
        rows: Rows with intervals in one unit.

    Returns:
        The axis, and the drawing of each row.
    """
    shown = [0.0]
    for row in rows:
        edges = _edges(row.get("margin"), row.get("allowed"))
        known = (*(row["interval"] or ()), row["estimate"], *edges)
        shown += [end for end in known if end is not None]
    low, high = ends = svg.with_room(shown, 0.06)
    axis = svg.Drawing((STRIP[0], 24), ends, (0, 1))
    percent = effect_of(rows[0]).percent
    axis.line([(low, 1), (high, 1)], svg.LINE)
    for tick in svg.ticks(ends):
        if 0.04 < (tick - low) / (high - low) < 0.96:  # labels at the very ends would be cut
            axis.line([(tick, 1), (tick, 0.85)], svg.MUTED)
            axis.text(f"{100 * tick:g}%" if percent else f"{tick:g}", (axis.place(tick, 0)[0], 16))
    return axis.svg(""), [_strip(row, ends) for row in rows]


def _strip(row: Row, ends: svg.Span) -> str:
    (low, high), state = ends, state_of(row).key
    drawing = svg.Drawing(STRIP, ends, (-1, 1))
    colour, margin, allowed = svg.OF_STATE[state], row.get("margin"), row.get("allowed")
    if margin is not None and allowed is not None:
        zones = {"at most": (low, margin), "at least": (margin, high), "within": (-margin, margin)}
        left, right = zones[allowed]
        drawing.area([(left, -1), (right, -1), (right, 1), (left, 1)], svg.ZONE)
    drawing.line([(0, -1), (0, 1)], svg.LINE)
    for edge in _edges(margin, allowed):
        drawing.line([(edge, -1), (edge, 1)], svg.INK, 1.5, _DASHED)
    if (floor := row.get("floor")) is not None:
        if floor <= high:
            drawing.line([(floor, 0.3), (floor, 0.8)], svg.MUTED)
        else:
            drawing.marker("right", high - 0.012 * (high - low), 0.55, 6, svg.MUTED)
    bounds = row["interval"] or []
    drawing.line([(end, -0.15) for end in bounds], colour, 3)
    for end in bounds:
        drawing.line([(end, -0.5), (end, 0.2)], colour, 1.5)
    drawing.marker(_MARKERS.get(state, "dot"), row["estimate"] or 0.0, -0.15, 11, colour)
    return drawing.svg("")


def _edges(limit: float | None, allowed: str | None) -> list[float]:
    if limit is None:
        return []
    return [limit, -limit] if allowed == "within" else [limit]


def track(rows: Sequence[Row | None], parted: Sequence[bool]) -> str:
    """The values of one verdict over the runs, with their bounds and limits.

    Args:
        rows: The verdict of each run; None where a run has none.
        parted: Whether each run cannot be compared with the one before; no line joins them.
    """
    seen = [
        (place, row, value, _edges(measured(row).limit, row.get("allowed")))
        for place, row in enumerate(rows)
        if row is not None and (value := measured(row).value) is not None
    ]
    values = [
        each
        for _, row, value, edges in seen
        for each in (value, *edges, *(row.get("interval") or ()))
    ]
    drawing = svg.Drawing(
        TRACK, (-0.5, len(rows) - 0.5), svg.with_room(values or [0.0], 0.15), (0, 0, 3, 3)
    )
    for edges, held in groupby(seen, lambda each: each[3]):
        places = [place for place, *_ in held]
        for edge in edges:
            drawing.line([(places[0] - 0.5, edge), (places[-1] + 0.5, edge)], svg.INK, 1, _DASHED)
    for (before, _, value, _), (place, _, after, _) in pairwise(seen):
        if not any(parted[before + 1 : place + 1]):
            drawing.line([(before, value), (place, after)], svg.MUTED)
    for place, row, value, _ in seen:
        state = state_of(row).key
        drawing.line([(place, end) for end in row.get("interval") or ()], svg.OF_STATE[state], 2)
        drawing.marker(_MARKERS.get(state, "dot"), place, value, 6, svg.OF_STATE[state])
    return drawing.svg("")


def curve(given: Mapping[str, Any], label: str) -> str:
    """A curve with its band, ``details["curve"]``, or several of them.

    Args:
        given: ``x`` and ``y``, the labels of the axes; ``points``, rows of x, value, low, high
            (the bounds may be missing or null); ``lines``, more of them by name.
        label: What it shows, in words.
    """
    lines = {"": given.get("points") or [], **(given.get("lines") or {})}
    lines = {name: points for name, points in lines.items() if points}
    places = dict.fromkeys(point[0] for points in lines.values() for point in points)
    by_name = any(isinstance(x, str) for x in places)
    at = {x: float(number if by_name else x) for number, x in enumerate(places)}
    across = svg.with_room(list(at.values()))
    labels = [(at[x], _short(str(x), 12)) for x in places] if by_name else _labelled(across)
    bounds = [
        float(each)
        for points in lines.values()
        for point in points
        for each in point[1:4]
        if each is not None
    ]
    up, named = svg.with_room(bounds), [name for name in lines if name]
    drawing = svg.Drawing(
        (400, 250 + 16 * len(named)), across, up, (60, 12, 10 + 16 * len(named), 50)
    )
    titles = (_short(str(given.get("x", "")), 48), _short(str(given.get("y", "")), 32))
    drawing.axes(labels, _labelled(up), titles)
    for number, (name, points) in enumerate(lines.items()):
        # Of more lines than colours, no two have both the colour and the shape of another.
        shape, dash = _LINES[(number + number // len(svg.SERIES)) % len(_LINES)]
        colour = svg.SERIES[number % len(svg.SERIES)]
        band = [point for point in points if len(point) >= 4 and None not in point[2:4]]
        if len(band) == len(points):
            low = [(at[point[0]], float(point[2])) for point in points]
            high = [(at[point[0]], float(point[3])) for point in points]
            drawing.area(low + high[::-1], colour, 0.18)
        line = [(at[point[0]], float(point[1])) for point in points]
        drawing.line(line, colour, 1.8, dash)
        for x, y in line:
            drawing.marker(shape, x, y, 6, colour)
        if name:
            row = 10.0 + 16 * named.index(name)
            drawing.marker_at(shape, (68, row), 7, colour)
            drawing.text(_short(name, 48), (80, row + 4), "start", svg.INK)
    return drawing.svg(label)


def scatter(given: Mapping[str, Any], label: str) -> str:
    """A scatter plot, ``details["scatter"]``.

    Args:
        given: ``x`` and ``y``, the labels of the axes; ``points``, pairs of numbers.
        label: What it shows, in words.
    """
    points = [(float(x), float(y)) for x, y in given["points"][:: thinning(given)]]
    across, up = (svg.with_room(list(values)) for values in zip(*points, strict=True))
    drawing = svg.Drawing((400, 280), across, up, (64, 12, 10, 50))
    titles = (_short(str(given.get("x", "")), 48), _short(str(given.get("y", "")), 36))
    drawing.axes(_labelled(across), _labelled(up), titles)
    for x, y in points:
        drawing.marker("dot", x, y, 4, svg.SERIES[0], 0.55)
    return drawing.svg(label)


def thinning(given: Mapping[str, Any]) -> int:
    """The interval between drawn points of a scatter plot: every n-th point is drawn."""
    return max(1, math.ceil(len(given["points"]) / MOST_POINTS))


def dimensions(given: Sequence[Mapping[str, Any]], label: str) -> str:
    """The dimensions of one model, each in [0, 1] with 1 the best.

    Args:
        given: The ``name`` and ``value`` of each, and ``low`` and ``high`` if known.
        label: What it shows, in words.
    """
    drawing = svg.Drawing(
        (400, 46 + 26 * len(given)), (-0.03, 1.03), (len(given) - 0.5, -0.5), (168, 8, 6, 40)
    )
    drawing.axes(_labelled((0, 1)), [], ("0 worst, 1 best", ""))
    for place, each in enumerate(given):
        drawing.line([(0, place), (1, place)], svg.LINE)
        if each.get("low") is not None and each.get("high") is not None:
            drawing.line(
                [(float(each["low"]), place), (float(each["high"]), place)], svg.SERIES[0], 3
            )
        drawing.marker("dot", float(each["value"]), place, 8, svg.SERIES[0])
        drawing.text(
            _short(str(each["name"]), 26), (160, drawing.place(0, place)[1] + 4), "end", svg.INK
        )
    return drawing.svg(label)


def drawn(sheet: Sheet) -> str:
    """The picture of a table, as it says; empty if it says none."""
    values = [[_number_of(row[at]) for at in sheet.bars] for row in sheet.rows]
    names, columns = [str(row[0]) for row in sheet.rows], [sheet.columns[at] for at in sheet.bars]
    if sheet.drawn in ("stacked", "bars"):
        shares = [[value or 0.0 for value in row] for row in values]
        return _bars(names, columns, shares, sheet.title, stacked=sheet.drawn == "stacked")
    lines = {}
    for name, row in zip(names, values, strict=True):
        points = zip(columns, row, strict=True) if sheet.drawn == "lines" else [row[:2]]
        lines[name] = [point for point in points if None not in point]
    titles = dict(zip(("x", "y"), columns, strict=False)) if sheet.drawn == "scatter" else {}
    return curve({**titles, "lines": lines}, sheet.title) if any(lines.values()) else ""


def _number_of(cell: Cell) -> float | None:
    found = re.match(r"-?[\d.]+", cell) if isinstance(cell, str) else None
    return float(found[0]) if found else cell if isinstance(cell, float) else None


def _bars(
    names: Sequence[str],
    columns: Sequence[str],
    values: Sequence[Sequence[float]],
    label: str,
    *,
    stacked: bool,
) -> str:
    longest = max((sum(row) if stacked else max(row) for row in values), default=0.0) or 1.0
    height = 1 if stacked else len(columns)
    lines = len(values) * (height + 0.5)
    drawing = svg.Drawing((700, 16 * lines + 30), (0, longest), (lines, 0), (260, 10, 4, 26))
    for place, (name, numbers) in enumerate(zip(names, values, strict=True)):
        top, left = place * (height + 0.5), 0.0
        middle = drawing.place(0, top + height / 2)[1] + 4
        drawing.text(_short(name, 40), (252, middle), "end", svg.INK)
        for at, value in enumerate(numbers):
            x, y = (left, top) if stacked else (0.0, top + at)
            corners = [(x, y), (x + value, y), (x + value, y + 0.85), (x, y + 0.85)]
            drawing.area(corners, svg.SERIES[at % len(svg.SERIES)])
            left += value
    for at, column in enumerate(columns):
        where = (266 + 108 * at, drawing.height - 12)
        drawing.marker_at("square", where, 10, svg.SERIES[at % len(svg.SERIES)])
        drawing.text(_short(column, 16), (where[0] + 9, where[1] + 4), "start")
    return drawing.svg(label)


def _labelled(ends: svg.Span) -> list[tuple[float, str]]:
    return [(tick, f"{tick:g}") for tick in svg.ticks(ends)]


def _short(text: str, width: int) -> str:
    text = " ".join(text.split())
    return text if len(text) <= width else text[: width - 1] + "…"
