"""The scorecard: the result of every suite for every model, at a glance."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from pytest_recsys_mt.gate.states import grouped, vacuous_of
from pytest_recsys_mt.report.html import titles, words
from pytest_recsys_mt.report.html.cards import Card
from pytest_recsys_mt.report.html.words import STATES, State

VERBS = {
    "error": "in error",
    "fixed": "fixed, so unexpected",
    "holds": "hold",
    "not-applicable": "not applicable",
}
"""The states that a count does not call by their names."""

FOLDED = {"holds": "holds", "known": "known", "not-applicable": "inapplicable"}
"""States whose rows stand together under one heading of the page."""


@dataclass(frozen=True)
class Cell:
    """The result of some rows of one model, how sure it
    is, and where these rows stand.
    """

    state: State
    counts: str
    sure: str
    link: str
    figures: Sequence[tuple[str, str]]


@dataclass(frozen=True)
class Line:
    """One suite, or one part of it: a cell for each model,
    None where it sent a model no request.
    """

    title: str
    cells: Sequence[Cell | None]
    parts: Sequence[Line] = ()


def scorecard_of(cards: Sequence[Card], models: Sequence[str]) -> list[Line]:
    """A line for each suite, the broken ones first."""
    cards_by_suite = grouped(cards, lambda card: card.row["suite"])
    lines = []
    for suite, held in sorted(cards_by_suite.items()):
        cards_by_part = grouped(held, lambda card: titles.part_of(card.row))
        parts_in_order = sorted(
            cards_by_part.items(),
            key=lambda part: _first_test(part[1]),
        )
        parts = [
            Line(title, _cells(own, models, figures=True))
            for title, own in parts_in_order
        ]
        lines.append(Line(suite, _cells(held, models, figures=False), parts))
    weights = {state: weight for weight, state in enumerate(STATES)}

    def weight_of(line: Line) -> int:
        return min(weights[cell.state.key] for cell in line.cells if cell)

    return sorted(lines, key=weight_of)


def _first_test(cards: Sequence[Card]) -> str:
    return min(_place(card) for card in cards)


def _place(card: Card) -> str:
    return str(card.row["nodeid"])


def _cells(
    cards: Sequence[Card],
    models: Sequence[str],
    *,
    figures: bool,
) -> list[Cell | None]:
    by_model = grouped(cards, lambda card: card.row["model"])
    return [
        _cell(by_model[model], figures=figures) if model in by_model else None
        for model in models
    ]


def _cell(cards: Sequence[Card], *, figures: bool) -> Cell:
    worst = cards[0].state  # they stand in the order of their importance
    if worst.key == "not-applicable":
        noun = "test" if len(cards) == 1 else "tests"
        counts = f"{len(cards)} {noun}"
    else:
        counts = counted(cards)
    return Cell(
        state=worst,
        counts=counts,
        sure=_sure([card for card in cards if card.state == worst]),
        link=FOLDED.get(worst.key, cards[0].key),
        figures=list(_figures(cards)) if figures else (),
    )


def counted(cards: Sequence[Card]) -> str:
    """How many rows are in which state."""
    counts = Counter(card.state.key for card in cards)
    texts = {
        key: f"{counts[key]} {VERBS.get(key, key)}" for key in STATES if counts[key]
    }
    vacuous = [card for card in cards if vacuous_of(card.row)]
    if vacuous:
        texts["holds"] += f" ({len(vacuous)} vacuously)"
    return ", ".join(texts.values())


def _sure(cards: Sequence[Card]) -> str:
    """How sure cards of one state are: the least p-value of violations, else how many
    have approximate bounds.
    """
    state = cards[0].state.key
    if state in ("violated", "known"):
        p_values = [card.row.get("p_holm") for card in cards]
        known = [p for p in p_values if p is not None]
        return f"{p_text(min(known))} (Holm)" if known else ""
    approximate = sum(bool(card.row.get("approximate")) for card in cards)
    return f"{approximate} approximate" if approximate else ""


def p_text(p: float) -> str:
    """A p-value as reports print it."""
    return f"p = {p:.2g}" if p >= 1e-6 else "p < 0.000001"


def _figures(cards: Sequence[Card]) -> Iterable[tuple[str, str]]:
    """The names and the values of the dimensions that rows have in their details."""
    for card in sorted(cards, key=_place):
        dimension = (card.row.get("details") or {}).get("dimension")
        if isinstance(dimension, dict) and isinstance(
            dimension.get("value"),
            int | float,
        ):
            yield str(dimension.get("name", "")), words.number(dimension["value"])
