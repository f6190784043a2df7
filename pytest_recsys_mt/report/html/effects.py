"""The drawings of effects with their margins: one row each on a common axis, or one
verdict over several runs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise

from pytest_recsys_mt.gate.document import Row
from pytest_recsys_mt.gate.states import measured
from pytest_recsys_mt.report.html import svg
from pytest_recsys_mt.report.html.words import state_of
from pytest_recsys_mt.report.measures import effect_of

STRIP = (400, 26)
"""Width and height of the interval of one relation, in pixels."""

TRACK = (220, 44)
"""The same for one verdict over several runs."""

_HEIGHT_OF_AXIS = 24
"""Pixels of the axis below the strips."""

_MARKERS = {"violated": "cross", "known": "cross", "inconclusive": "square"}
"""The marker of a verdict, by its state; any other is a dot."""

_DASHED = "4 3"
"""The dashes of a margin."""

_WHOLE = (-1, 1)
"""The ends of the vertical axis of a strip, which has no unit."""


def strips(rows: Sequence[Row]) -> tuple[str, list[str]]:
    """The effects of some rows, one drawing per row on one axis.

    Args:
        rows: Rows with intervals in one unit.

    Returns:
        The axis, and the drawing of each row.
    """
    shown = [0.0]
    for row in rows:
        shown += row["interval"] or ()
        if row["estimate"] is not None:
            shown.append(row["estimate"])
        shown += _edges(row.get("margin"), row.get("allowed"))
    ends = svg.with_room(shown, 0.06)
    axis = _axis(ends, percent=effect_of(rows[0]).percent)
    return axis, [_strip(row, ends) for row in rows]


def _axis(ends: svg.Span, *, percent: bool) -> str:
    """The axis below the strips, with labels at its ticks."""
    low, high = ends
    width, _ = STRIP
    axis = svg.Drawing((width, _HEIGHT_OF_AXIS), ends, (0, 1))
    axis.across(1, ends, svg.LINE)
    for tick in svg.ticks(ends):
        share = (tick - low) / (high - low)
        # A label at the very end would be cut.
        if 0.04 < share < 0.96:
            axis.upright(tick, (1, 0.85), svg.MUTED)
            label = f"{100 * tick:g}%" if percent else f"{tick:g}"
            x, _ = axis.place(tick, 0)
            axis.text(label, (x, 16))
    return axis.svg("")


def _strip(row: Row, ends: svg.Span) -> str:
    """The estimate of a row and its interval, on the zone that its margin allows."""
    drawing = svg.Drawing(STRIP, ends, _WHOLE)
    # What is drawn later lies on what was drawn before.
    _draw_limits(drawing, row, ends)
    _draw_floor(drawing, row.get("floor"), ends)
    _draw_estimate(drawing, row)
    return drawing.svg("")


def _draw_limits(drawing: svg.Drawing, row: Row, ends: svg.Span) -> None:
    """Draw the zone that the margin of a row allows, the line
    of no effect, and the edges of the zone.
    """
    margin = row.get("margin")
    allowed = row.get("allowed")
    if margin is not None and allowed is not None:
        left, right = _zone(margin, allowed, ends)
        drawing.area(rectangle(left, -1, right, 1), svg.ZONE)
    drawing.upright(0, _WHOLE, svg.LINE)
    for edge in _edges(margin, allowed):
        drawing.upright(edge, _WHOLE, svg.INK, 1.5, _DASHED)


def _zone(margin: float, allowed: str, ends: svg.Span) -> svg.Span:
    """The ends of the zone in which an effect is allowed."""
    low, high = ends
    zones = {
        "at most": (low, margin),
        "at least": (margin, high),
        "within": (-margin, margin),
    }
    return zones[allowed]


def _draw_floor(drawing: svg.Drawing, floor: float | None, ends: svg.Span) -> None:
    """Draw the noise floor; where it lies beyond the
    right end, an arrow that points there.
    """
    if floor is None:
        return
    low, high = ends
    if floor <= high:
        drawing.upright(floor, (0.3, 0.8), svg.MUTED)
    else:
        near_the_end = high - 0.012 * (high - low)
        drawing.marker("right", near_the_end, 0.55, 6, svg.MUTED)


def _draw_estimate(drawing: svg.Drawing, row: Row) -> None:
    """Draw the interval of a row with a stroke at each end, and
    the estimate in the form of its verdict.
    """
    state = state_of(row).key
    colour = svg.OF_STATE[state]
    height = -0.15
    interval = row["interval"] or []
    drawing.line([(end, height) for end in interval], colour, 3)
    for end in interval:
        drawing.upright(end, (-0.5, 0.2), colour, 1.5)
    shape = _MARKERS.get(state, "dot")
    estimate = row["estimate"] or 0.0
    drawing.marker(shape, estimate, height, 11, colour)


def rectangle(
    left: float,
    top: float,
    right: float,
    bottom: float,
) -> list[tuple[float, float]]:
    """The corners of a rectangle, one after another."""
    return [(left, top), (right, top), (right, bottom), (left, bottom)]


def _edges(limit: float | None, allowed: str | None) -> list[float]:
    """The values at which a verdict would begin to be violated."""
    if limit is None:
        return []
    if allowed == "within":
        return [limit, -limit]
    return [limit]


@dataclass(frozen=True)
class _Judged:
    """One verdict of a track.

    Attributes:
        place: The place of its run, from 0.
        row: Its row.
        value: Its measured value.
        edges: The values at which it would begin to be violated.
    """

    place: int
    row: Row
    value: float
    edges: Sequence[float]

    @property
    def interval(self) -> Sequence[float]:
        """The bounds of its value; empty if it has none."""
        return self.row.get("interval") or ()

    @property
    def point(self) -> tuple[float, float]:
        """Where it lies on the axes of the track."""
        return self.place, self.value


def track(rows: Sequence[Row | None], parted: Sequence[bool]) -> str:
    """The values of one verdict over the runs, with their bounds and limits.

    Args:
        rows: The verdict of each run; None where a run has none.
        parted: Whether each run cannot be compared with the one before; no line joins
            them.
    """
    judged = _judged(rows)
    shown: list[float] = []
    for each in judged:
        shown += (each.value, *each.edges, *each.interval)
    across = (-0.5, len(rows) - 0.5)
    up = svg.with_room(shown or [0.0], 0.15)
    drawing = svg.Drawing(TRACK, across, up, (0, 0, 3, 3))
    # What is drawn later lies on what was drawn before.
    _draw_edges(drawing, judged)
    for one, other in pairwise(judged):
        are_parted = any(parted[one.place + 1 : other.place + 1])
        if not are_parted:
            drawing.line([one.point, other.point], svg.MUTED)
    for each in judged:
        _draw_value(drawing, each)
    return drawing.svg("")


def _judged(rows: Sequence[Row | None]) -> list[_Judged]:
    """The verdicts that have a value."""
    judged = []
    for place, row in enumerate(rows):
        if row is None:
            continue
        _, value, limit = measured(row)
        if value is not None:
            edges = _edges(limit, row.get("allowed"))
            judged.append(_Judged(place, row, value, edges))
    return judged


def _draw_edges(drawing: svg.Drawing, judged: Sequence[_Judged]) -> None:
    """Draw each limit, once along all runs in a row that have it."""
    for edges, held in groupby(judged, lambda each: each.edges):
        places = [each.place for each in held]
        from_first_to_last = (places[0] - 0.5, places[-1] + 0.5)
        for edge in edges:
            drawing.across(edge, from_first_to_last, svg.INK, 1, _DASHED)


def _draw_value(drawing: svg.Drawing, each: _Judged) -> None:
    """Draw the bounds of a verdict, and its value in the form of its state."""
    state = state_of(each.row).key
    colour = svg.OF_STATE[state]
    drawing.line([(each.place, end) for end in each.interval], colour, 2)
    shape = _MARKERS.get(state, "dot")
    drawing.marker(shape, each.place, each.value, 6, colour)
