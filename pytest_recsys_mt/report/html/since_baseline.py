"""What changed since a baseline."""

from collections.abc import Sequence
from typing import Any

from pytest_recsys_mt.gate.document import Changed, Document, Row
from pytest_recsys_mt.report.html import words
from pytest_recsys_mt.report.html.cards import SHOWN, Card

SYMBOLS = {
    "regressed": "✗", "suspicious": "!", "inconclusive": "?", "improved": "▲", "unchanged": "=", "ungated": "–",
}  # fmt: skip
"""The symbol for each change of a verdict, the most important first."""


def comparisons_of(document: Document, cards: Sequence[Card]) -> list[dict[str, Any]]:
    """The comparisons with a baseline in the gate of a record, each with at most `SHOWN` changes."""
    by_address = {key_of(card.row): card for card in cards if card.shown}
    weight = {word: number for number, word in enumerate(SYMBOLS)}
    found = []
    for given in document["gate"].get("comparisons") or ():
        if not given.get("baseline"):
            continue
        changed = sorted(
            (each for each in given["results"] if each["change"] not in ("unchanged", "ungated")),
            key=lambda each: weight.get(each["change"], len(weight)),
        )
        counts = given.get("counts") or {}
        comparison = {
            "title": f"{given['model']} against {given['against']} of {given['baseline']}",
            "refused": given.get("refused") or (),
            "counts": ", ".join(f"{counts[word]} {word}" for word in SYMBOLS if counts.get(word)),
            "changes": [(each, by_address.get(key_of(each))) for each in changed[:SHOWN]],
            "bounds": given.get("bounds") or "",
        }
        found.append(comparison)
    return found


def key_of(found: Row | Changed) -> tuple[str, str, str]:
    """What joins a verdict and its change."""
    return found["nodeid"], found["oracle"], found.get("relation") or ""


def worse_by(given: Changed) -> str:
    """By how much a verdict is worse, with its interval; empty if unknown."""
    worse, interval = given.get("worse"), given.get("interval")
    if worse is None or interval is None:
        return words.number(worse) if worse is not None else ""
    low, high = map(words.number, interval)
    return f"{words.number(worse)} [{low}, {high}]"
