"""The drawings: effects with their margins, curves, scatter plots, dimensions."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, groupby, pairwise
from typing import Any

from pytest_recsys_mt.gate.document import Row
from pytest_recsys_mt.gate.states import measured
from pytest_recsys_mt.report.html import svg
from pytest_recsys_mt.report.html.words import state_of
from pytest_recsys_mt.report.measures import effect_of

STRIP = (400, 26)
"""Width and height of the interval of one relation, in pixels."""

TRACK = (220, 44)
"""The same for one verdict over several runs."""

MOST_POINTS = 600
"""Most points of a scatter plot; with more points, only every second, third, ... is drawn."""

_MARKERS = {"violated": "cross", "known": "cross", "inconclusive": "square"}
"""The marker of a verdict, by its state; any other is a dot."""

_LINES = (
    ("dot", ""),
    ("square", "6 3"),
    ("triangle", "7 3 1 3"),
    ("diamond", "1.5 3"),
    ("right", "9 2"),
    ("cross", "3 2"),
)
"""The markers of the lines of a curve, and their dashes."""

_DASHED = "4 3"
"""The dashes of a margin."""


def strips(rows: Sequence[Row]) -> tuple[str, list[str]]:
    """The effects of some rows, one drawing per row on one axis.

    Args:
        rows: Rows with intervals in one unit.

    Returns:
        The axis, and the drawing of each row.
    """
    values = [0.0]
    for row in rows:
        edges = _edges(row.get("margin"), row.get("allowed"))
        ends_of_row = (*(row["interval"] or ()), row["estimate"], *edges)
        values += [end for end in ends_of_row if end is not None]
    ends = svg.with_room(values, 0.06)
    in_percent = effect_of(rows[0]).percent
    axis = _axis(ends, percent=in_percent)
    return axis, [_strip(row, ends) for row in rows]


def _axis(ends: svg.Span, *, percent: bool) -> str:
    """The axis below the strips, with labels at its ticks."""
    low, high = ends
    axis = svg.Drawing((STRIP[0], 24), ends, (0, 1))
    axis.line([(low, 1), (high, 1)], svg.LINE)
    for tick in svg.ticks(ends):
        share = (tick - low) / (high - low)
        if not 0.04 < share < 0.96:
            continue  # a label at the very end would be cut
        label = f"{100 * tick:g}%" if percent else f"{tick:g}"
        axis.line([(tick, 1), (tick, 0.85)], svg.MUTED)
        axis.text(label, (axis.place(tick, 0)[0], 16))
    return axis.svg("")


def _strip(row: Row, ends: svg.Span) -> str:
    """The estimate of a row and its interval, on the zone that its margin allows."""
    drawing = svg.Drawing(STRIP, ends, (-1, 1))
    # What is drawn later lies on what was drawn before.
    _draw_limits(drawing, row, ends)
    _draw_floor(drawing, row.get("floor"), ends)
    _draw_estimate(drawing, row)
    return drawing.svg("")


def _draw_limits(drawing: svg.Drawing, row: Row, ends: svg.Span) -> None:
    """Draw the zone that the margin of a row allows, the line of no effect, and the edges of the zone."""
    low, high = ends
    margin = row.get("margin")
    allowed = row.get("allowed")
    if margin is not None and allowed is not None:
        zones = {"at most": (low, margin), "at least": (margin, high), "within": (-margin, margin)}
        left, right = zones[allowed]
        drawing.area(rectangle(left, -1, right, 1), svg.ZONE)
    drawing.line([(0, -1), (0, 1)], svg.LINE)
    for edge in _edges(margin, allowed):
        from_top_to_bottom = [(edge, -1), (edge, 1)]
        drawing.line(from_top_to_bottom, svg.INK, 1.5, _DASHED)


def _draw_floor(drawing: svg.Drawing, floor: float | None, ends: svg.Span) -> None:
    """Draw the noise floor; where it lies beyond the right end, an arrow that points there."""
    if floor is None:
        return
    low, high = ends
    if floor <= high:
        drawing.line([(floor, 0.3), (floor, 0.8)], svg.MUTED)
        return
    beside_the_end = high - 0.012 * (high - low)
    drawing.marker("right", beside_the_end, 0.55, 6, svg.MUTED)


def _draw_estimate(drawing: svg.Drawing, row: Row) -> None:
    """Draw the interval of a row with a stroke at each end, and the estimate in the form of its verdict."""
    state = state_of(row).key
    colour = svg.OF_STATE[state]
    interval = row["interval"] or []
    height = -0.15
    drawing.line([(end, height) for end in interval], colour, 3)
    for end in interval:
        stroke = [(end, -0.5), (end, 0.2)]
        drawing.line(stroke, colour, 1.5)
    shape = _MARKERS.get(state, "dot")
    estimate = row["estimate"] or 0.0
    drawing.marker(shape, estimate, height, 11, colour)


def rectangle(left: float, top: float, right: float, bottom: float) -> list[tuple[float, float]]:
    """The corners of a rectangle, one after another."""
    return [(left, top), (right, top), (right, bottom), (left, bottom)]


def _edges(limit: float | None, allowed: str | None) -> list[float]:
    """The values at which a verdict would begin to be violated."""
    if limit is None:
        return []
    return [limit, -limit] if allowed == "within" else [limit]


@dataclass(frozen=True)
class _Judged:
    """One verdict of a track: the place of its run from 0, its row, its value, and its limits."""

    place: int
    row: Row
    value: float
    edges: Sequence[float]

    @property
    def interval(self) -> Sequence[float]:
        return self.row.get("interval") or ()

    @property
    def point(self) -> tuple[float, float]:
        return self.place, self.value


def track(rows: Sequence[Row | None], parted: Sequence[bool]) -> str:
    """The values of one verdict over the runs, with their bounds and limits.

    Args:
        rows: The verdict of each run; None where a run has none.
        parted: Whether each run cannot be compared with the one before; no line joins them.
    """
    judged = []
    for place, row in enumerate(rows):
        value = None if row is None else measured(row).value
        if row is not None and value is not None:
            edges = _edges(measured(row).limit, row.get("allowed"))
            judged.append(_Judged(place, row, value, edges))
    values: list[float] = []
    for each in judged:
        values += (each.value, *each.edges, *each.interval)
    across = (-0.5, len(rows) - 0.5)
    up = svg.with_room(values or [0.0], 0.15)
    drawing = svg.Drawing(TRACK, across, up, (0, 0, 3, 3))
    for edges, held in groupby(judged, lambda each: each.edges):
        # A limit is drawn once along all runs in a row that have it.
        places = [each.place for each in held]
        start = places[0] - 0.5
        end = places[-1] + 0.5
        for edge in edges:
            drawing.line([(start, edge), (end, edge)], svg.INK, 1, _DASHED)
    for one, other in pairwise(judged):
        are_parted = any(parted[one.place + 1 : other.place + 1])
        if not are_parted:
            drawing.line([one.point, other.point], svg.MUTED)
    for each in judged:
        state = state_of(each.row).key
        colour = svg.OF_STATE[state]
        drawing.line([(each.place, end) for end in each.interval], colour, 2)
        shape = _MARKERS.get(state, "dot")
        drawing.marker(shape, each.place, each.value, 6, colour)
    return drawing.svg("")


def lines_of(given: Mapping[str, Any]) -> dict[str, Sequence[Any]]:
    """The lines of a curve by name, each as its points; the first, without a name, is that of ``points``."""
    return {"": given.get("points") or [], **(given.get("lines") or {})}


def curve(given: Mapping[str, Any], label: str) -> str:
    """A curve with its band, ``details["curve"]``, or several of them.

    Args:
        given: ``x`` and ``y``, the labels of the axes; ``points``, rows of x, value, low, high
            (the bounds may be missing or null); ``lines``, more of them by name.
        label: What it shows, in words.
    """
    lines = {name: points for name, points in lines_of(given).items() if points}
    every_point = list(chain.from_iterable(lines.values()))
    xs = dict.fromkeys(point[0] for point in every_point)
    # If one of them is a name, all are: they stand evenly apart in their order.
    by_name = any(isinstance(x, str) for x in xs)
    place_of = {x: float(number if by_name else x) for number, x in enumerate(xs)}
    across = svg.with_room(list(place_of.values()))
    labels = _labelled(across)
    if by_name:
        labels = [(place, short(str(x), 12)) for x, place in place_of.items()]
    ys: list[float] = []
    for point in every_point:
        ys += [float(y) for y in point[1:4] if y is not None]
    up = svg.with_room(ys)
    named = [name for name in lines if name]
    room_for_names = 16 * len(named)
    frame = (60, 12, 10 + room_for_names, 50)
    drawing = svg.Drawing((400, 250 + room_for_names), across, up, frame)
    titles = _titles(given, 48, 32)
    drawing.axes(labels, _labelled(up), titles)
    for number, (name, points) in enumerate(lines.items()):
        shape, colour = _draw_line(drawing, number, points, place_of)
        if name:
            row = 10.0 + 16 * named.index(name)
            drawing.marker_at(shape, (68, row), 7, colour)
            drawing.text(short(name, 48), (80, row + 4), "start", svg.INK)
    return drawing.svg(label)


def _draw_line(
    drawing: svg.Drawing,
    number: int,
    points: Sequence[Sequence[Any]],
    place_of: Mapping[Any, float],
) -> tuple[str, str]:
    """Draw one line of a curve, and its band if all points have bounds; returns its marker and its colour."""
    # Of more lines than colours, no two have both the colour and the shape of another.
    rounds = number // len(svg.SERIES)
    shape, dash = _LINES[(number + rounds) % len(_LINES)]
    colour = colour_of(number)

    def column(at: int) -> list[tuple[float, float]]:
        """The values at one place of all points, each over the place of its x."""
        return [(place_of[point[0]], float(point[at])) for point in points]

    if all(map(_has_bounds, points)):
        # Along the lower bounds, and back along the upper ones.
        low = column(2)
        high = column(3)
        drawing.area(low + high[::-1], colour, 0.18)
    line = column(1)
    drawing.line(line, colour, 1.8, dash)
    for x, y in line:
        drawing.marker(shape, x, y, 6, colour)
    return shape, colour


def _has_bounds(point: Sequence[Any]) -> bool:
    return len(point) >= 4 and None not in point[2:4]


def colour_of(number: int) -> str:
    """The colour of one of several lines or bars; they come again after the last."""
    return svg.SERIES[number % len(svg.SERIES)]


def _titles(given: Mapping[str, Any], width: int, height: int) -> tuple[str, str]:
    """The titles of both axes, each of so many characters at most."""
    across = str(given.get("x", ""))
    up = str(given.get("y", ""))
    return short(across, width), short(up, height)


def scatter(given: Mapping[str, Any], label: str) -> str:
    """A scatter plot, ``details["scatter"]``.

    Args:
        given: ``x`` and ``y``, the labels of the axes; ``points``, pairs of numbers.
        label: What it shows, in words.
    """
    shown = given["points"][:: thinning(given)]
    points = [(float(x), float(y)) for x, y in shown]
    xs, ys = zip(*points, strict=True)
    across = svg.with_room(xs)
    up = svg.with_room(ys)
    drawing = svg.Drawing((400, 280), across, up, (64, 12, 10, 50))
    titles = _titles(given, 48, 36)
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
    size = (400, 46 + 26 * len(given))
    across = (-0.03, 1.03)
    up = (len(given) - 0.5, -0.5)  # the first is at the top
    drawing = svg.Drawing(size, across, up, (168, 8, 6, 40))
    drawing.axes(_labelled((0, 1)), [], ("0 worst, 1 best", ""))
    colour = svg.SERIES[0]
    for place, dimension in enumerate(given):
        drawing.line([(0, place), (1, place)], svg.LINE)
        low = dimension.get("low")
        high = dimension.get("high")
        if low is not None and high is not None:
            drawing.line([(float(low), place), (float(high), place)], colour, 3)
        drawing.marker("dot", float(dimension["value"]), place, 8, colour)
        baseline = drawing.place(0, place)[1] + 4
        name = str(dimension["name"])
        drawing.text(short(name, 26), (160, baseline), "end", svg.INK)
    return drawing.svg(label)


def _labelled(ends: svg.Span) -> list[tuple[float, str]]:
    return [(tick, f"{tick:g}") for tick in svg.ticks(ends)]


def short(text: str, width: int) -> str:
    """The text in one line, cut to so many characters."""
    text = " ".join(text.split())
    return text if len(text) <= width else text[: width - 1] + "…"
