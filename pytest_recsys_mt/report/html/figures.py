"""The drawings in the details of rows: curves, scatter plots, dimensions."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from itertools import chain
from typing import Any

from pytest_recsys_mt.report.html import svg

WIDTH = 400
"""Pixels of a drawing from left to right."""

MOST_POINTS = 600
"""Most points of a scatter plot; with more points, only
every second, third, ... is drawn.
"""

_LINES = (
    ("dot", ""),
    ("square", "6 3"),
    ("triangle", "7 3 1 3"),
    ("diamond", "1.5 3"),
    ("right", "9 2"),
    ("cross", "3 2"),
)
"""The markers of the lines of a curve, and their dashes."""

_ROW_OF_NAMES = 16
"""Pixels from the name of one line to that of the next."""


def lines_of(given: Mapping[str, Any]) -> dict[str, Sequence[Any]]:
    """The lines of a curve by name, each as its points; the
    first, without a name, is that of ``points``.
    """
    unnamed = given.get("points") or []
    named = given.get("lines") or {}
    return {"": unnamed, **named}


def curve(given: Mapping[str, Any], label: str) -> str:
    """A curve with its band, ``details["curve"]``, or several of them.

    Args:
        given: ``x`` and ``y``, the labels of the axes; ``points``, rows of x, value,
            low, high (the bounds may be missing or null); ``lines``, more of them by
            name.
        label: What it shows, in words.
    """
    lines = {name: points for name, points in lines_of(given).items() if points}
    every_point = list(chain.from_iterable(lines.values()))
    place_of = _places(every_point)
    across = svg.with_room(list(place_of.values()))
    labels = _labels_of_places(place_of) if _has_names(place_of) else _labelled(across)

    values: list[float] = []
    for point in every_point:
        value_and_bounds = point[1:4]
        values += [float(y) for y in value_and_bounds if y is not None]
    up = svg.with_room(values)

    names = [name for name in lines if name]
    room_for_names = _ROW_OF_NAMES * len(names)
    size = (WIDTH, 250 + room_for_names)
    drawing = svg.Drawing(size, across, up, (60, 12, 10 + room_for_names, 50))
    drawing.axes(labels, _labelled(up), _titles(given, 48, 32))
    for number, (name, points) in enumerate(lines.items()):
        shape, colour = _draw_line(drawing, number, points, place_of)
        if name:
            height = 10.0 + _ROW_OF_NAMES * names.index(name)
            drawing.marker_at(shape, (68, height), 7, colour)
            drawing.text(short(name, 48), (80, height + 4), "start", svg.INK)
    return drawing.svg(label)


def _places(points: Sequence[Sequence[Any]]) -> dict[Any, float]:
    """The place of each x on its axis; names stand evenly apart in their order."""
    xs = list(dict.fromkeys(point[0] for point in points))
    if _has_names(xs):
        return {x: float(number) for number, x in enumerate(xs)}
    return {x: float(x) for x in xs}


def _has_names(xs: Collection[Any]) -> bool:
    """Whether any x is a name; then all of them are taken for names."""
    return any(isinstance(x, str) for x in xs)


def _labels_of_places(place_of: Mapping[Any, float]) -> list[tuple[float, str]]:
    return [(place, short(str(x), 12)) for x, place in place_of.items()]


def _draw_line(
    drawing: svg.Drawing,
    number: int,
    points: Sequence[Sequence[Any]],
    place_of: Mapping[Any, float],
) -> tuple[str, str]:
    """Draw one line of a curve, and its band if all points have bounds.

    Args:
        drawing: The drawing that the line is added to.
        number: The number of the line, from 0.
        points: Its points, rows of x, value, low, high.
        place_of: The place of each x.

    Returns:
        Its marker and its colour.
    """
    # Of more lines than colours, no two have both the colour and the shape of another.
    rounds = number // len(svg.SERIES)
    shape, dash = _LINES[(number + rounds) % len(_LINES)]
    colour = colour_of(number)

    def column(at: int) -> list[svg.Point]:
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
    drawing = svg.Drawing((WIDTH, 280), across, up, (64, 12, 10, 50))
    drawing.axes(_labelled(across), _labelled(up), _titles(given, 48, 36))
    colour = colour_of(0)
    for x, y in points:
        drawing.marker("dot", x, y, 4, colour, 0.55)
    return drawing.svg(label)


def thinning(given: Mapping[str, Any]) -> int:
    """The interval between drawn points of a scatter plot: every n-th
    point is drawn.
    """
    count = len(given["points"])
    return max(1, math.ceil(count / MOST_POINTS))


def dimensions(given: Sequence[Mapping[str, Any]], label: str) -> str:
    """The dimensions of one model, each in [0, 1] with 1 the best.

    Args:
        given: The ``name`` and ``value`` of each, and ``low`` and ``high`` if known.
        label: What it shows, in words.
    """
    size = (WIDTH, 46 + 26 * len(given))
    across = (-0.03, 1.03)
    up = (len(given) - 0.5, -0.5)  # the first is at the top
    drawing = svg.Drawing(size, across, up, (168, 8, 6, 40))
    drawing.axes(_labelled((0, 1)), [], ("0 worst, 1 best", ""))
    for place, dimension in enumerate(given):
        _draw_dimension(drawing, place, dimension)
    return drawing.svg(label)


def _draw_dimension(
    drawing: svg.Drawing,
    place: int,
    dimension: Mapping[str, Any],
) -> None:
    """Draw one dimension at its place from the top: its name,
    its value, and its bounds if it has them.
    """
    colour = colour_of(0)
    drawing.across(place, (0, 1), svg.LINE)
    low = dimension.get("low")
    high = dimension.get("high")
    if low is not None and high is not None:
        drawing.across(place, (float(low), float(high)), colour, 3)
    drawing.marker("dot", float(dimension["value"]), place, 8, colour)
    _, middle = drawing.place(0, place)
    name = short(str(dimension["name"]), 26)
    drawing.text(name, (160, middle + 4), "end", svg.INK)


def _labelled(ends: svg.Span) -> list[tuple[float, str]]:
    """The ticks of an axis, each with its label."""
    return [(tick, f"{tick:g}") for tick in svg.ticks(ends)]


def short(text: str, width: int) -> str:
    """The text in one line, cut to so many characters."""
    text = " ".join(text.split())
    if len(text) <= width:
        return text
    return text[: width - 1] + "…"
