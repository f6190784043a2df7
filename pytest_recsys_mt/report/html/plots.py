"""The drawings of a page: every effect on its axis, and the drawings in the details of rows."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from pytest_recsys_mt.gate.states import detail_of, grouped
from pytest_recsys_mt.report.html import figures, words
from pytest_recsys_mt.report.html.cards import Card
from pytest_recsys_mt.report.measures import effect_of


@dataclass(frozen=True)
class Plot:
    """One drawing from the details of rows, empty if it could not be drawn, and the numbers behind it."""

    title: str
    cards: Sequence[Card]
    drawing: str
    note: str = ""
    columns: Sequence[str] = ()
    numbers: Sequence[Sequence[str]] = ()


Group = tuple[str, str, str, list[tuple[Card, str]]]
"""Relations whose effects have one unit: the suite, the unit, the axis, each card with its drawing."""


def groups_of(cards: Sequence[Card]) -> list[Group]:
    """All cards, in their order: those with effects in one unit on one axis, the others last."""
    drawn: list[Group] = []
    others: list[Group] = []
    for (suite, unit, has_axis), held in grouped(cards, _axis_of).items():
        if has_axis:
            axis, strips = figures.strips([card.row for card in held])
            drawn.append((suite, unit, axis, list(zip(held, strips, strict=True))))
        else:
            others.append((suite, unit, "", [(card, "") for card in held]))
    return [*drawn, *others]


def _axis_of(card: Card) -> tuple[str, str, bool]:
    """The suite, the unit of the effect or why there is none to draw, and whether there is one."""
    row = card.row
    if row.get("metric") is not None and row.get("value") is not None:
        return row["suite"], "benchmark values", False
    if row.get("interval") is None or row.get("estimate") is None:
        return row["suite"], "without an effect", False
    return row["suite"], effect_of(row).unit, True


def plots_of(cards: Sequence[Card]) -> list[Plot]:
    """The drawings of dimensions, curves and scatter plots."""
    plots = []
    with_dimension = [card for card in cards if detail_of(card.row, "dimension")]
    by_model = grouped(with_dimension, lambda card: (card.row["suite"], card.row["model"]))
    for (suite, model), held in sorted(by_model.items()):
        held.sort(key=lambda card: str(card.row["nodeid"]))
        plots.append(_guarded(_dimensions, f"Dimensions of {model} ({suite})", held))
    for kind, draw in (("curve", _curve), ("scatter", _scatter)):
        for card in cards:
            if detail_of(card.row, kind):
                title = f"{card.title}, {card.row['model']}"
                plots.append(_guarded(draw, title, [card]))
    return plots


def _guarded(
    draw: Callable[[str, Sequence[Card]], Plot], title: str, cards: Sequence[Card]
) -> Plot:
    """The drawing; an empty one with the reason if the details, which users' tests write, cannot be drawn."""
    try:
        return draw(title, cards)
    except (KeyError, TypeError, ValueError, IndexError) as error:
        return Plot(title, cards, "", f"This cannot be drawn: {type(error).__name__}: {error}")


def _curve(title: str, cards: Sequence[Card]) -> Plot:
    given = cards[0].row["details"]["curve"]
    lines = figures.lines_of(given)
    are_named = len(lines) > 1
    x = str(given.get("x", "x"))
    y = str(given.get("y", "y"))
    numbers = []
    for name, points in lines.items():
        for point in points:
            with_bounds = (*point, None, None)[:4]
            cells = [_cell(value) for value in with_bounds]
            numbers.append([name, *cells] if are_named else cells)
    columns = [x, y, "low", "high"]
    if are_named:
        columns = ["line", *columns]
    label = f"Curve of {y} by {x}; the table below it has its numbers"
    drawing = figures.curve(given, label)
    return Plot(title, cards, drawing, columns=columns, numbers=numbers)


def _scatter(title: str, cards: Sequence[Card]) -> Plot:
    given = cards[0].row["details"]["scatter"]
    interval = figures.thinning(given)
    count = len(given["points"])
    label = f"{count:,} points: {given.get('y', 'y')} against {given.get('x', 'x')}"
    note = f"{count:,} points"
    if interval > 1:
        note += f", one of every {interval} drawn"
    return Plot(title, cards, figures.scatter(given, label), note)


def _dimensions(title: str, cards: Sequence[Card]) -> Plot:
    dimensions = [card.row["details"]["dimension"] for card in cards]
    values = [f"{each['name']} {words.number(each['value'])}" for each in dimensions]
    numbers = []
    for dimension in dimensions:
        fields = ("name", "value", "low", "high")
        numbers.append([_cell(dimension.get(field)) for field in fields])
    return Plot(
        title,
        cards,
        figures.dimensions(dimensions, "; ".join(values)),
        columns=["dimension", "value", "low", "high"],
        numbers=numbers,
    )


def _cell(value: object) -> str:
    """A value of the table below a drawing, as text."""
    if value is None:
        return "–"
    if isinstance(value, bool):
        return str(value)
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return words.number(value)
    return str(value)
