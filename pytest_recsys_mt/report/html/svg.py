"""Drawings as SVG in a page, in the page's own colours, so
that one serves in light, dark and print.
"""

import math
from collections.abc import Sequence
from html import escape

INK = "var(--ink)"
MUTED = "var(--muted)"
LINE = "var(--line)"
ZONE = "var(--zone)"
PAPER = "var(--paper)"
SERIES = ("var(--series-1)", "var(--series-2)", "var(--series-3)", "var(--series-4)")
OF_STATE: dict[str, str] = {
    "violated": "var(--bad)",
    "error": "var(--bad)",
    "fixed": "var(--bad)",
    "known": "var(--unclear)",
    "inconclusive": "var(--unclear)",
    "holds": "var(--good)",
    "not-applicable": MUTED,
}
"""The colour of a verdict, by its state."""

Span = tuple[float, float]
Point = tuple[float, float]

_SHAPES = {
    "square": ((-1, -1), (1, -1), (1, 1), (-1, 1)),
    "triangle": ((0, -1.2), (1.1, 0.9), (-1.1, 0.9)),
    "diamond": ((0, -1.3), (1.3, 0), (0, 1.3), (-1.3, 0)),
    "right": ((-0.8, -1), (1, 0), (-0.8, 1)),
    "cross": (
        (-1, -0.4), (-0.4, -1), (0, -0.6), (0.4, -1), (1, -0.4), (0.6, 0),
        (1, 0.4), (0.4, 1), (0, 0.6), (-0.4, 1), (-1, 0.4), (-0.6, 0),
    ),
}  # fmt: skip
"""Corners of the markers, in half of their size; any other marker is a dot."""


class Drawing:
    """An area of a page with axes.

    Args:
        size: Width and height, in pixels.
        x: The ends of the horizontal axis, left and right.
        y: The ends of the vertical axis, bottom and top.
        frame: Pixels around the axes: left, right, top, bottom.
    """

    def __init__(
        self,
        size: tuple[float, float],
        x: Span,
        y: Span,
        frame: tuple[float, float, float, float] = (0, 0, 0, 0),
    ) -> None:
        left, right, top, bottom = frame
        self.width, self.height = size
        self.left = left
        self.right = self.width - right
        self.top = top
        self.bottom = self.height - bottom
        self._x = x
        self._y = y
        self._parts: list[str] = []

    def place(self, x: float, y: float) -> Point:
        """Where a point of the axes is, in pixels."""
        across = _share_of(self._x, x)
        up = _share_of(self._y, y)
        return (
            self.left + across * (self.right - self.left),
            self.bottom - up * (self.bottom - self.top),
        )

    def line(
        self,
        points: Sequence[Point],
        colour: str,
        width: float = 1,
        dash: str = "",
    ) -> None:
        """A line through points of the axes."""
        broken = f' stroke-dasharray="{dash}"' if dash else ""
        self._parts.append(
            f'<polyline points="{self._joined(points)}" fill="none" stroke="{colour}" stroke-width="{width:g}"{broken}/>',
        )

    def across(
        self,
        y: float,
        ends: Span,
        colour: str,
        width: float = 1,
        dash: str = "",
    ) -> None:
        """A horizontal line at a height `y`, between two points of the
        horizontal axis.
        """
        left, right = ends
        self.line([(left, y), (right, y)], colour, width, dash)

    def upright(
        self,
        x: float,
        ends: Span,
        colour: str,
        width: float = 1,
        dash: str = "",
    ) -> None:
        """A vertical line at a place `x`, between two points of the vertical axis."""
        first, last = ends
        self.line([(x, first), (x, last)], colour, width, dash)

    def area(self, points: Sequence[Point], colour: str, opacity: float = 1) -> None:
        """The area that points of the axes go round."""
        self._parts.append(
            f'<polygon points="{self._joined(points)}" fill="{colour}" fill-opacity="{opacity:g}"/>',
        )

    def marker(
        self,
        shape: str,
        x: float,
        y: float,
        size: float,
        colour: str,
        opacity: float = 1,
    ) -> None:
        """A marker at a point of the axes, with an edge in the colour of the page."""
        self.marker_at(shape, self.place(x, y), size, colour, opacity)

    def marker_at(
        self,
        shape: str,
        at: Point,
        size: float,
        colour: str,
        opacity: float = 1,
    ) -> None:
        """A marker at a point of the area, in pixels."""
        x, y = at
        half = size / 2
        # Transparent markers lie on each other, and an edge would hide those below.
        edge = f'stroke="{PAPER}"' if opacity == 1 else f'fill-opacity="{opacity:g}"'
        look = f'fill="{colour}" {edge}'
        corners = _SHAPES.get(shape)
        if corners is None:
            self._parts.append(
                f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{half:g}" {look}/>',
            )
            return
        points = [
            f"{x + half * right:.1f},{y + half * down:.1f}" for right, down in corners
        ]
        self._parts.append(f'<polygon points="{" ".join(points)}" {look}/>')

    def text(
        self,
        text: str,
        at: Point,
        anchor: str = "middle",
        colour: str = MUTED,
        *,
        upwards: bool = False,
    ) -> None:
        """A text at a point of the area, in pixels."""
        x, y = at
        turned = f' transform="rotate(-90 {x:.1f} {y:.1f})"' if upwards else ""
        self._parts.append(
            f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{colour}" font-size="11"{turned}>'
            f"{escape(text)}</text>",
        )

    def axes(
        self,
        x: Sequence[tuple[float, str]],
        y: Sequence[tuple[float, str]],
        titles: tuple[str, str],
    ) -> None:
        """The axes at the left and at the bottom, with a grid,
        labels at their ticks, and titles.
        """
        left, right = self._x
        low, high = self._y
        for tick, label in x:
            self.line([(tick, low), (tick, high)], LINE, 0.6)
            self.text(label, (self.place(tick, 0)[0], self.bottom + 14))
        for tick, label in y:
            self.line([(left, tick), (right, tick)], LINE, 0.6)
            self.text(label, (self.left - 5, self.place(0, tick)[1] + 4), "end")
        middle = (self.left + self.right) / 2
        self.text(titles[0], (middle, self.bottom + 32))
        centre = (self.top + self.bottom) / 2
        self.text(titles[1], (12, centre), upwards=True)

    def svg(self, label: str) -> str:
        """The drawing as an element of HTML.

        Args:
            label: A description, for readers who cannot see it; empty if the text next
                to it says the same.
        """
        role = (
            f'role="img" aria-label="{escape(label)}"'
            if label
            else 'aria-hidden="true"'
        )
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self.width:g} {self.height:g}" class="figure" '
            f'stroke-linejoin="round" {role}>{"".join(self._parts)}</svg>'
        )

    def _joined(self, points: Sequence[Point]) -> str:
        """Points of the axes as an attribute of SVG has them, in pixels."""
        placed = [self.place(x, y) for x, y in points]
        return " ".join(f"{x:.1f},{y:.1f}" for x, y in placed)


def _share_of(ends: Span, value: float) -> float:
    """How far a value lies from the first end towards the second; of an axis without
    extent, as if it were 1 long.
    """
    first, last = ends
    return (value - first) / ((last - first) or 1)


def ticks(ends: Span, most: int = 5) -> list[float]:
    """Round numbers between two ends, evenly apart."""
    low, high = ends
    least = (high - low) / most
    step = _round_step(least)
    first = math.ceil(low / step)
    last = math.floor(high / step)
    return [round(at * step, 12) for at in range(first, last + 1)]


def _round_step(least: float) -> float:
    """The smallest step of 1, 2, 2.5 or 5 times a power
    of ten that is not below `least`.
    """
    power = 10.0 ** math.floor(math.log10(least))
    for factor in (1, 2, 2.5, 5):
        step = power * factor
        if step >= least * (1 - 1e-9):  # the tolerance allows for rounding
            return step
    return power * 10


def with_room(values: Sequence[float], share: float = 0.05) -> Span:
    """The ends of an axis that shows some values."""
    low, high = min(values), max(values)
    room = share * ((high - low) or abs(high) or 1.0)
    return low - room, high + room
