"""The scorecard: what came of every suite for every model, at a glance."""

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
    """What came of some rows of one model, how sure that is, and where these rows stand."""

    state: State
    counts: str
    sure: str
    link: str
    figures: Sequence[tuple[str, str]]


@dataclass(frozen=True)
class Line:
    """One suite, or one part of it: a cell for each model, None where it asked nothing of a model."""

    title: str
    cells: Sequence[Cell | None]
    parts: Sequence[Line] = ()


def scorecard_of(cards: Sequence[Card], models: Sequence[str]) -> list[Line]:
    """A line for each suite, the broken ones first."""
    suites = grouped(cards, lambda card: card.row["suite"])
    lines = []
    for suite, held in sorted(suites.items()):
        parts = grouped(held, lambda card: titles.part_of(card.row))
        in_order = sorted(parts.items(), key=lambda part: min(map(_place, part[1])))
        inside = [Line(title, _cells(own, models, True)) for title, own in in_order]
        lines.append(Line(suite, _cells(held, models, False), inside))
    weight = {key: number for number, key in enumerate(STATES)}
    return sorted(
        lines, key=lambda line: min(weight[cell.state.key] for cell in line.cells if cell)
    )


def _place(card: Card) -> str:
    return str(card.row["nodeid"])


def _cells(cards: Sequence[Card], models: Sequence[str], figures: bool) -> list[Cell | None]:
    of_model = grouped(cards, lambda card: card.row["model"])
    return [_cell(of_model[model], figures) if model in of_model else None for model in models]


def _cell(cards: Sequence[Card], figures: bool) -> Cell:
    worst = cards[0].state  # they stand in the order of their importance
    counts = counted(cards)
    if worst.key == "not-applicable":
        counts = f"{len(cards)} {'test' if len(cards) == 1 else 'tests'}"
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
    told = {key: f"{counts[key]} {VERBS.get(key, key)}" for key in STATES if counts[key]}
    if vacuous := sum(bool(vacuous_of(card.row)) for card in cards):
        told["holds"] += f" ({vacuous} vacuously)"
    return ", ".join(told.values())


def _sure(cards: Sequence[Card]) -> str:
    state = cards[0].state.key
    if state in ("violated", "known"):
        corrected = [p for card in cards if (p := card.row.get("p_holm")) is not None]
        return f"{p_text(min(corrected))} (Holm)" if corrected else ""
    approximate = sum(bool(card.row.get("approximate")) for card in cards)
    return f"{approximate} approximate" if approximate else ""


def p_text(p: float) -> str:
    """A p-value as reports print it."""
    return f"p = {p:.2g}" if p >= 1e-6 else "p < 0.000001"


def _figures(cards: Sequence[Card]) -> Iterable[tuple[str, str]]:
    for card in sorted(cards, key=_place):
        given = (card.row.get("details") or {}).get("dimension")
        if isinstance(given, dict) and isinstance(given.get("value"), int | float):
            yield str(given.get("name", "")), words.number(given["value"])
