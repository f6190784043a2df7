"""The drawings of a page: every effect on its axis, and the drawings in the details of rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from pytest_recsys_mt.gate.document import detail_of, grouped
from pytest_recsys_mt.report.html import figures, words
from pytest_recsys_mt.report.html.cards import Card
from pytest_recsys_mt.report.measures import effect_of


@dataclass(frozen=True)
class Group:
    """Relations whose effects have one unit, so that they share an axis; each card has its drawing."""

    suite: str
    unit: str
    axis: str
    lines: Sequence[tuple[Card, str]]


@dataclass(frozen=True)
class Plot:
    """One drawing from the details of rows, empty if it could not be drawn, and the numbers behind it."""

    title: str
    cards: Sequence[Card]
    drawing: str
    note: str = ""
    columns: Sequence[str] = ()
    numbers: Sequence[Sequence[str]] = ()


def groups_of(cards: Sequence[Card]) -> list[Group]:
    """All cards, in their order: those with effects in one unit on one axis, the others last."""
    drawn, others = [], []
    for (suite, unit, has_axis), held in grouped(cards, _axis_of).items():
        if not has_axis:
            others.append(Group(suite, unit, "", [(card, "") for card in held]))
            continue
        axis, strips = figures.strips([card.row for card in held])
        drawn.append(Group(suite, unit, axis, list(zip(held, strips, strict=True))))
    return [*drawn, *others]


def _axis_of(card: Card) -> tuple[str, str, bool]:
    row = card.row
    if row.get("metric") is not None and row.get("value") is not None:
        return row["suite"], "benchmark values", False
    if row.get("interval") is None or row.get("estimate") is None:
        return row["suite"], "without an effect", False
    return row["suite"], effect_of(row).unit, True


def plots_of(cards: Sequence[Card]) -> list[Plot]:
    """The drawings of dimensions, curves and scatter plots."""
    return [
        *_dimensions(cards),
        *_of_rows(cards, "curve", _curve),
        *_of_rows(cards, "scatter", _scatter),
    ]


Draw = Callable[[Card, Mapping[str, Any], str], Plot]


def _of_rows(cards: Sequence[Card], kind: str, draw: Draw) -> list[Plot]:
    plots = []
    for card in cards:
        if given := detail_of(card.row, kind):
            title = f"{card.title}, {card.row['model']}"
            plots.append(_guarded(title, [card], partial(draw, card, given, title)))
    return plots


def _guarded(title: str, cards: Sequence[Card], draw: Callable[[], Plot]) -> Plot:
    """A drawing, or why there is none: an error in a suite must not lose the report."""
    try:
        return draw()
    except (KeyError, TypeError, ValueError, IndexError) as error:
        return Plot(title, cards, "", f"This cannot be drawn: {type(error).__name__}: {error}")


def _curve(card: Card, given: Mapping[str, Any], title: str) -> Plot:
    lines = {"": given.get("points") or [], **(given.get("lines") or {})}
    x, y = str(given.get("x", "x")), str(given.get("y", "y"))
    numbers = [
        [*([name] if len(lines) > 1 else []), *(_cell(value) for value in (*point, None, None)[:4])]
        for name, points in lines.items()
        for point in points
    ]
    columns = [*(["line"] if len(lines) > 1 else []), x, y, "low", "high"]
    label = f"Curve of {y} by {x}; the table below it has its numbers"
    drawing = figures.curve(given, label)
    return Plot(title, [card], drawing, "", columns, numbers)


def _scatter(card: Card, given: Mapping[str, Any], title: str) -> Plot:
    every, count = figures.thinning(given), len(given["points"])
    label = f"{count:,} points: {given.get('y', 'y')} against {given.get('x', 'x')}"
    drawing = figures.scatter(given, label)
    note = f"{count:,} points" + (f", one of every {every} drawn" if every > 1 else "")
    return Plot(title, [card], drawing, note)


def _dimensions(cards: Sequence[Card]) -> list[Plot]:
    given = [card for card in cards if detail_of(card.row, "dimension")]
    by_model = grouped(given, lambda card: (card.row["suite"], card.row["model"]))
    plots = []
    for (suite, model), held in sorted(by_model.items()):
        held.sort(key=lambda card: str(card.row["nodeid"]))
        title = f"Dimensions of {model} ({suite})"
        plots.append(_guarded(title, held, partial(_dimension_plot, held, title)))
    return plots


def _dimension_plot(cards: Sequence[Card], title: str) -> Plot:
    given = [card.row["details"]["dimension"] for card in cards]
    label = "; ".join(f"{each['name']} {words.number(each['value'])}" for each in given)
    drawing = figures.dimensions(given, label)
    columns = ["dimension", "value", "low", "high"]
    numbers = [[_cell(each.get(key)) for key in ("name", *columns[1:])] for each in given]
    return Plot(title, cards, drawing, "", columns, numbers)


def _cell(value: object) -> str:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return "–" if value is None else str(value)
    return f"{value:,}" if isinstance(value, int) else words.number(value)
