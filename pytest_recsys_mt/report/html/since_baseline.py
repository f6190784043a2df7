"""What changed since a baseline."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pytest_recsys_mt.gate import document as gate
from pytest_recsys_mt.gate.document import Changed, Document, Row
from pytest_recsys_mt.report.html import words
from pytest_recsys_mt.report.html.cards import SHOWN, Card

SYMBOLS = {
    "regressed": "✗",
    "suspicious": "!",
    "inconclusive": "?",
    "improved": "▲",
    "unchanged": "=",
    "ungated": "–",
}
"""The symbol for each change of a verdict, the most important first."""


@dataclass(frozen=True)
class Change:
    """The change of one verdict, or of the row of this name if the page has no card of it."""

    word: str
    symbol: str
    card: Card | None
    name: str
    worse: str
    margin: str
    users: str
    reason: str


@dataclass(frozen=True)
class Comparison:
    """One model against an earlier record: at most `SHOWN` changes, the most important first."""

    title: str
    refused: Sequence[str]
    counts: str
    changes: Sequence[Change]
    bounds: str


def comparisons_of(document: Document, cards: Sequence[Card]) -> list[Comparison]:
    """The comparisons with a baseline in the gate of a record."""
    by_address = {key_of(card.row): card for card in cards if card.shown}
    return [
        _comparison(each, by_address)
        for each in document["gate"].get("comparisons") or ()
        if each.get("baseline")
    ]


def key_of(found: Row | Changed) -> tuple[str, str, str]:
    """What joins a verdict and its change."""
    return found["nodeid"], found["oracle"], found.get("relation") or ""


def _comparison(given: gate.Comparison, cards: Mapping[tuple[str, str, str], Card]) -> Comparison:
    weight = {word: number for number, word in enumerate(SYMBOLS)}
    changed = sorted(
        (each for each in given["results"] if each["change"] not in ("unchanged", "ungated")),
        key=lambda each: weight.get(each["change"], len(weight)),
    )
    counts = given.get("counts") or {}
    return Comparison(
        title=f"{given['model']} against {given['against']} of {given['baseline']}",
        refused=given.get("refused") or (),
        counts=", ".join(f"{counts[word]} {word}" for word in SYMBOLS if counts.get(word)),
        changes=[_change(each, cards) for each in changed[:SHOWN]],
        bounds=given.get("bounds") or "",
    )


def _change(given: Changed, cards: Mapping[tuple[str, str, str], Card]) -> Change:
    margin = given.get("margin")
    return Change(
        word=given["change"],
        symbol=SYMBOLS.get(given["change"], "?"),
        card=cards.get(key_of(given)),
        name=given["nodeid"],
        worse=worse_by(given),
        margin="" if margin is None else f"{margin:g}",
        users="" if given.get("users") is None else f"{given['users']:,}",
        reason=given.get("reason") or "",
    )


def worse_by(given: Changed) -> str:
    """By how much a verdict is worse, with its interval; empty if unknown."""
    worse, interval = given.get("worse"), given.get("interval")
    if worse is None or interval is None:
        return words.number(worse) if worse is not None else ""
    low, high = map(words.number, interval)
    return f"{words.number(worse)} [{low}, {high}]"
