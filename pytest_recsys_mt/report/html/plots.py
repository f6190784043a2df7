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
"""Relations whose effects have one unit: the suite, the unit, the axis that they share, each card with its drawing."""


def groups_of(cards: Sequence[Card]) -> list[Group]:
    """All cards, in their order: those with effects in one unit on one axis, the others last."""
    drawn: list[Group] = []
    others: list[Group] = []
    for (suite, unit, has_axis), held in grouped(cards, _axis_of).items():
        if not has_axis:
            others.append((suite, unit, "", [(card, "") for card in held]))
            continue
        axis, strips = figures.strips([card.row for card in held])
        drawn.append((suite, unit, axis, list(zip(held, strips, strict=True))))
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
    plots = []
    measured = [card for card in cards if detail_of(card.row, "dimension")]
    by_model = grouped(measured, lambda card: (card.row["suite"], card.row["model"]))
    for (suite, model), held in sorted(by_model.items()):
        held.sort(key=lambda card: str(card.row["nodeid"]))
        plots.append(_guarded(_dimensions, f"Dimensions of {model} ({suite})", held))
    for kind, draw in (("curve", _curve), ("scatter", _scatter)):
        for card in cards:
            if detail_of(card.row, kind):
                plots.append(_guarded(draw, f"{card.title}, {card.row['model']}", [card]))
    return plots


def _guarded(
    draw: Callable[[str, Sequence[Card]], Plot], title: str, cards: Sequence[Card]
) -> Plot:
    try:
        return draw(title, cards)
    except (KeyError, TypeError, ValueError, IndexError) as error:
        return Plot(title, cards, "", f"This cannot be drawn: {type(error).__name__}: {error}")


def _curve(title: str, cards: Sequence[Card]) -> Plot:
    given = cards[0].row["details"]["curve"]
    lines = {"": given.get("points") or [], **(given.get("lines") or {})}
    x, y = str(given.get("x", "x")), str(given.get("y", "y"))
    numbers = [
        [*([name] if len(lines) > 1 else []), *(_cell(value) for value in (*point, None, None)[:4])]
        for name, points in lines.items()
        for point in points
    ]
    columns = [*(["line"] if len(lines) > 1 else []), x, y, "low", "high"]
    label = f"Curve of {y} by {x}; the table below it has its numbers"
    return Plot(title, cards, figures.curve(given, label), "", columns, numbers)


def _scatter(title: str, cards: Sequence[Card]) -> Plot:
    given = cards[0].row["details"]["scatter"]
    every, count = figures.thinning(given), len(given["points"])
    label = f"{count:,} points: {given.get('y', 'y')} against {given.get('x', 'x')}"
    note = f"{count:,} points" + (f", one of every {every} drawn" if every > 1 else "")
    return Plot(title, cards, figures.scatter(given, label), note)


def _dimensions(title: str, cards: Sequence[Card]) -> Plot:
    given = [card.row["details"]["dimension"] for card in cards]
    label = "; ".join(f"{each['name']} {words.number(each['value'])}" for each in given)
    columns = ["dimension", "value", "low", "high"]
    numbers = [[_cell(each.get(key)) for key in ("name", *columns[1:])] for each in given]
    return Plot(title, cards, figures.dimensions(given, label), "", columns, numbers)


def _cell(value: object) -> str:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return "–" if value is None else str(value)
    return f"{value:,}" if isinstance(value, int) else words.number(value)
