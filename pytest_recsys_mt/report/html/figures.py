"""The drawings: effects with their margins, curves, scatter plots, dimensions."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pytest_recsys_mt.gate.document import Row, measured
from pytest_recsys_mt.report.html.svg import (
    INK,
    LINE,
    MUTED,
    OF_STATE,
    PAPER,
    SERIES,
    ZONE,
    drawing,
    inline,
)
from pytest_recsys_mt.report.html.words import state_of
from pytest_recsys_mt.report.measures import effect_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

STRIP = (400, 26)
"""Width and height of the interval of one relation, in pixels."""

TRACK = (220, 44)
"""The same for one verdict over several runs."""

MOST_POINTS = 600
"""Most points of a scatter plot; with more points, only every second, third, ... is drawn."""

_MARKERS = {"violated": "X", "known": "X", "inconclusive": "s", "holds": "o", "mended": "o"}
_LINES = (("o", "-"), ("s", "--"), ("^", "-."), ("D", ":"))


def span(rows: Sequence[Row]) -> tuple[float, float]:
    """The ends of an axis that shows the effects and margins of all rows."""
    ends = [0.0]
    for row in rows:
        margin, within = row.get("margin"), row.get("allowed") == "within"
        known = (
            *(row["interval"] or ()),
            row["estimate"],
            margin,
            -(margin or 0) if within else None,
        )
        ends += [end for end in known if end is not None]
    low, high = min(ends), max(ends)
    room = 0.06 * ((high - low) or 1.0)
    return low - room, high + room


def strips(rows: Sequence[Row], names: Sequence[str]) -> tuple[str, list[str]]:
    """The effects of some rows, one drawing per row on one axis.

    Args:
        rows: Rows with intervals in one unit.
        names: Names of the drawings, for their ids.

    Returns:
        The axis, and the drawing of each row.
    """
    low, high = span(rows)
    with drawing() as make:
        figure = make(STRIP[0], 24)
        axes = figure.add_axes((0, 0.98, 1, 0.01))
        axes.set_xlim(low, high)
        axes.locator_params(axis="x", nbins=5)
        axes.set_yticks([])
        axes.spines[["left"]].set_visible(False)
        axes.tick_params(length=3, labelsize=11)
        ticks = [tick for tick in axes.get_xticks() if low <= tick <= high]
        # Labels at the very ends would be clipped.
        inner = [tick for tick in ticks if 0.04 < (tick - low) / (high - low) < 0.96]
        percent = effect_of(rows[0]).percent
        axes.set_xticks(inner, [f"{100 * tick:g}%" for tick in inner] if percent else None)
        axis = inline(figure, f"{names[0]}-axis", "")
        drawn = []
        # One figure for all: to make axes takes as long as to draw a row on them.
        figure = make(*STRIP)
        axes = figure.add_axes((0, 0, 1, 1))
        axes.set_xlim(low, high)
        axes.set_ylim(-1, 1)
        axes.set_axis_off()
        for row, name in zip(rows, names, strict=True):
            _strip(axes, row, low, high)
            drawn.append(inline(figure, name, ""))
            for artist in (*axes.lines, *axes.patches):
                artist.remove()
    return axis, drawn


def _strip(axes: Axes, row: Row, low: float, high: float) -> None:
    colour = OF_STATE[state_of(row).key]
    margin, allowed = row.get("margin"), row.get("allowed")
    if margin is not None and allowed is not None:
        zones = {"at most": (low, margin), "at least": (margin, high), "within": (-margin, margin)}
        axes.axvspan(*zones[allowed], facecolor=ZONE, edgecolor="none")
    axes.axvline(0, color=LINE, linewidth=1)
    if margin is not None:
        for edge in (margin, -margin) if allowed == "within" else (margin,):
            axes.axvline(edge, color=INK, linewidth=1.5, linestyle=(0, (3, 2)))
    floor = row.get("floor")
    if floor is not None:
        place = min(floor, high - 0.012 * (high - low))
        marker = "|" if floor <= high else ">"
        axes.plot([place], [0.55], marker=marker, markersize=6, color=MUTED, linestyle="none")
    ends = row["interval"] or []
    axes.plot(ends, [-0.15] * len(ends), color=colour, linewidth=3, solid_capstyle="butt")
    for end in ends:
        axes.plot([end, end], [-0.5, 0.2], color=colour, linewidth=1.5)
    marker = _MARKERS.get(state_of(row).key, "o")
    axes.plot([row["estimate"] or 0.0], [-0.15], marker=marker, markersize=11, color=colour,
              markeredgecolor=PAPER, markeredgewidth=1.2, linestyle="none")  # fmt: skip


def track(name: str, rows: Sequence[Row | None], parted: Sequence[bool]) -> str:
    """The values of one verdict over the runs, with their bounds and limits.

    Args:
        name: Name of the drawing, for its ids.
        rows: The verdict of each run; None where a run has none.
        parted: Whether each run cannot be compared with the one before; no line joins them.
    """
    with drawing() as make:
        figure = make(*TRACK)
        axes = figure.add_axes((0, 0.06, 1, 0.88))
        axes.set_axis_off()
        axes.set_xlim(-0.5, len(rows) - 0.5)
        before: tuple[int, float] | None = None
        for place, row in enumerate(rows):
            if parted[place]:
                before = None
            known = None if row is None else measured(row)
            if row is None or known is None or known.value is None:
                continue
            colour = OF_STATE[state_of(row).key]
            limit = known.limit
            if limit is not None:
                for edge in (limit, -limit) if row.get("allowed") == "within" else (limit,):
                    axes.plot([place - 0.5, place + 0.5], [edge, edge], color=INK, linewidth=1,
                              linestyle=(0, (3, 2)))  # fmt: skip
            if before is not None:
                axes.plot([before[0], place], [before[1], known.value], color=MUTED, linewidth=1)
            if ends := row.get("interval"):
                axes.plot([place, place], ends, color=colour, linewidth=2, solid_capstyle="butt")
            axes.plot([place], [known.value], marker=_MARKERS.get(state_of(row).key, "o"), markersize=6,
                      color=colour, markeredgecolor=PAPER, markeredgewidth=1, linestyle="none")  # fmt: skip
            before = place, known.value
        axes.margins(y=0.15)
        return inline(figure, name, "")


def curve(name: str, given: Mapping[str, Any], label: str) -> str:
    """A curve with its band, ``details["curve"]``, or several of them.

    Args:
        name: Name of the drawing, for its ids.
        given: ``x`` and ``y``, the labels of the axes; ``points``, rows of x, value, low, high
            (the bounds may be missing or null); ``lines``, more of them by name.
        label: What it shows, in words.
    """
    lines = {"": given.get("points") or [], **(given.get("lines") or {})}
    with drawing() as make:
        figure = make(400, 250)
        axes = figure.add_subplot()
        for number, (title, points) in enumerate(lines.items()):
            if not points:
                continue
            colour = SERIES[number % len(SERIES)]
            marker, style = _LINES[number % len(_LINES)]
            xs = [point[0] if isinstance(point[0], str) else float(point[0]) for point in points]
            values = [float(point[1]) for point in points]
            axes.plot(xs, values, marker=marker, markersize=5, linestyle=style, linewidth=1.8,
                      color=colour, label=_short(title, 32) or None)  # fmt: skip
            bounds = [point[2:4] for point in points]
            if all(len(pair) == 2 and None not in pair for pair in bounds):
                axes.fill_between(xs, [float(pair[0]) for pair in bounds],
                                  [float(pair[1]) for pair in bounds],
                                  color=colour, alpha=0.18, linewidth=0)  # fmt: skip
        if any(lines):
            axes.legend(fontsize=11, labelcolor=INK)
        axes.set_xlabel(_short(str(given.get("x", "")), 48))
        axes.set_ylabel(_short(str(given.get("y", "")), 32))
        _finish(axes)
        figure.subplots_adjust(left=0.15, right=0.97, top=0.96, bottom=0.2)
        return inline(figure, name, label)


def scatter(name: str, given: Mapping[str, Any], label: str) -> str:
    """A scatter plot, ``details["scatter"]``.

    Args:
        name: Name of the drawing, for its ids.
        given: ``x`` and ``y``, the labels of the axes; ``points``, pairs of numbers.
        label: What it shows, in words.
    """
    points = given["points"][:: thinning(given)]
    with drawing() as make:
        figure = make(400, 280)
        axes = figure.add_subplot()
        axes.plot([float(point[0]) for point in points], [float(point[1]) for point in points],
                  marker="o", markersize=4, linestyle="none", color=SERIES[0], alpha=0.55,
                  markeredgecolor="none")  # fmt: skip
        axes.set_xlabel(_short(str(given.get("x", "")), 48))
        axes.set_ylabel(_short(str(given.get("y", "")), 36))
        _finish(axes)
        figure.subplots_adjust(left=0.16, right=0.97, top=0.96, bottom=0.18)
        return inline(figure, name, label)


def thinning(given: Mapping[str, Any]) -> int:
    """The interval between drawn points of a scatter plot: every n-th point is drawn."""
    return max(1, math.ceil(len(given["points"]) / MOST_POINTS))


def dimensions(name: str, given: Sequence[Mapping[str, Any]], label: str) -> str:
    """The dimensions of one model, each in [0, 1] with 1 the best.

    Args:
        name: Name of the drawing, for its ids.
        given: The ``name`` and ``value`` of each, and ``low`` and ``high`` if known.
        label: What it shows, in words.
    """
    with drawing() as make:
        height = 46 + 26 * len(given)
        figure = make(400, height)
        axes = figure.add_subplot()
        for place, each in enumerate(given):
            axes.plot([0, 1], [place, place], color=LINE, linewidth=1)
            value = float(each["value"])
            if each.get("low") is not None and each.get("high") is not None:
                ends = [float(each["low"]), float(each["high"])]
                axes.plot(ends, [place, place], color=SERIES[0], linewidth=3)
            axes.plot([value], [place], marker="o", markersize=8, color=SERIES[0])
        axes.set_yticks(range(len(given)), [_short(str(each["name"]), 26) for each in given])
        axes.tick_params(axis="y", length=0, labelcolor=INK)
        axes.set_ylim(len(given) - 0.5, -0.5)
        axes.set_xlim(-0.03, 1.03)
        axes.set_xlabel("0 worst, 1 best")
        axes.spines[["left"]].set_visible(False)
        figure.subplots_adjust(left=0.42, right=0.98, top=0.98, bottom=40 / height)
        return inline(figure, name, label)


def _finish(axes: Axes) -> None:
    axes.grid(color=LINE, linewidth=0.6)
    axes.set_axisbelow(True)


def _short(text: str, width: int) -> str:
    text = " ".join(text.split())
    return text if len(text) <= width else text[: width - 1] + "…"
