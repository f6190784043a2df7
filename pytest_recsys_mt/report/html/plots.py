"""The drawings of a page: every effect on its axis, and
the drawings in the details of rows.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from pytest_recsys_mt.gate.states import detail_of, grouped
from pytest_recsys_mt.report.html import effects, figures, words
from pytest_recsys_mt.report.html.cards import Card
from pytest_recsys_mt.report.measures import effect_of


@dataclass(frozen=True)
class Plot:
    """One drawing from the details of rows, and the numbers behind it.

    Attributes:
        title: Its title.
        cards: The cards of these rows.
        drawing: An element of HTML; empty if it could not be drawn.
        note: A sentence below it.
        columns: The columns of the table below it.
        numbers: The rows of this table.
    """

    title: str
    cards: Sequence[Card]
    drawing: str
    note: str = ""
    columns: Sequence[str] = ()
    numbers: Sequence[Sequence[str]] = ()


Group = tuple[str, str, str, list[tuple[Card, str]]]
"""Relations whose effects have one unit: the suite, the
unit, the axis, each card with its drawing.
"""


def groups_of(cards: Sequence[Card]) -> list[Group]:
    """All cards, in their order: those with effects in one
    unit on one axis, the others last.
    """
    drawn: list[Group] = []
    others: list[Group] = []
    for (suite, unit, has_axis), held in grouped(cards, _axis_of).items():
        if has_axis:
            axis, strips = effects.strips([card.row for card in held])
            with_strips = list(zip(held, strips, strict=True))
            drawn.append((suite, unit, axis, with_strips))
        else:
            without_strips = [(card, "") for card in held]
            others.append((suite, unit, "", without_strips))
    return [*drawn, *others]


def _axis_of(card: Card) -> tuple[str, str, bool]:
    """The suite, the unit of the effect or why there is
    none to draw, and whether there is one.
    """
    row = card.row
    is_benchmark = row.get("metric") is not None and row.get("value") is not None
    if is_benchmark:
        return row["suite"], "benchmark values", False
    has_effect = row.get("interval") is not None and row.get("estimate") is not None
    if not has_effect:
        return row["suite"], "without an effect", False
    return row["suite"], effect_of(row).unit, True


def plots_of(cards: Sequence[Card]) -> list[Plot]:
    """The drawings of dimensions, curves and scatter plots."""
    plots = _plots_of_dimensions(cards)
    for kind, draw in (("curve", _curve), ("scatter", _scatter)):
        for card in cards:
            if detail_of(card.row, kind):
                title = f"{card.title}, {card.row['model']}"
                plots.append(_guarded(draw, title, [card]))
    return plots


def _plots_of_dimensions(cards: Sequence[Card]) -> list[Plot]:
    """One drawing for each model and suite, of all its dimensions."""
    with_dimension = [card for card in cards if detail_of(card.row, "dimension")]
    by_model = grouped(with_dimension, _suite_and_model)
    plots = []
    for (suite, model), held in sorted(by_model.items()):
        in_order_of_tests = sorted(held, key=lambda card: str(card.row["nodeid"]))
        title = f"Dimensions of {model} ({suite})"
        plots.append(_guarded(_dimensions, title, in_order_of_tests))
    return plots


def _suite_and_model(card: Card) -> tuple[str, str]:
    return card.row["suite"], card.row["model"]


def _guarded(
    draw: Callable[[str, Sequence[Card]], Plot],
    title: str,
    cards: Sequence[Card],
) -> Plot:
    """The drawing; an empty one with the reason if the details,
    which users' tests write, cannot be drawn.
    """
    try:
        return draw(title, cards)
    except (KeyError, TypeError, ValueError, IndexError) as error:
        return Plot(
            title,
            cards,
            "",
            f"This cannot be drawn: {type(error).__name__}: {error}",
        )


def _curve(title: str, cards: Sequence[Card]) -> Plot:
    """The curve of a card, with a table of all its points."""
    given = cards[0].row["details"]["curve"]
    lines = figures.lines_of(given)
    are_named = len(lines) > 1
    numbers = []
    for name, points in lines.items():
        for point in points:
            with_bounds = (*point, None, None)[:4]
            cells = [_cell(value) for value in with_bounds]
            if are_named:
                cells.insert(0, name)
            numbers.append(cells)
    x = str(given.get("x", "x"))
    y = str(given.get("y", "y"))
    columns = [x, y, "low", "high"]
    if are_named:
        columns = ["line", *columns]
    label = f"Curve of {y} by {x}; the table below it has its numbers"
    drawing = figures.curve(given, label)
    return Plot(title, cards, drawing, columns=columns, numbers=numbers)


def _scatter(title: str, cards: Sequence[Card]) -> Plot:
    """The scatter plot of a card; it has too many points for a table."""
    given = cards[0].row["details"]["scatter"]
    interval = figures.thinning(given)
    count = len(given["points"])
    x = given.get("x", "x")
    y = given.get("y", "y")
    label = f"{count:,} points: {y} against {x}"
    note = f"{count:,} points"
    if interval > 1:
        note += f", one of every {interval} drawn"
    drawing = figures.scatter(given, label)
    return Plot(title, cards, drawing, note)


def _dimensions(title: str, cards: Sequence[Card]) -> Plot:
    """The dimensions of one model, with a table of them."""
    fields = ("name", "value", "low", "high")
    dimensions = []
    values = []
    numbers = []
    for card in cards:
        dimension = card.row["details"]["dimension"]
        dimensions.append(dimension)
        values.append(f"{dimension['name']} {words.number(dimension['value'])}")
        numbers.append([_cell(dimension.get(field)) for field in fields])
    drawing = figures.dimensions(dimensions, "; ".join(values))
    columns = ["dimension", "value", "low", "high"]
    return Plot(title, cards, drawing, columns=columns, numbers=numbers)


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
