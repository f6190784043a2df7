"""The changes since a baseline."""

from collections.abc import Sequence
from typing import Any

from pytest_recsys_mt.gate.changed_lists import in_words
from pytest_recsys_mt.gate.document import Changed, Document, Row
from pytest_recsys_mt.report.html import words
from pytest_recsys_mt.report.html.cards import SHOWN, Card

SYMBOLS = {
    "regressed": "✗", "suspicious": "!", "inconclusive": "?", "improved": "▲", "unchanged": "=", "ungated": "–",
}  # fmt: skip
"""The symbol for each change of a verdict, the most important first."""


def comparisons_of(document: Document, cards: Sequence[Card]) -> list[dict[str, Any]]:
    """The comparisons with a baseline in the gate of a
    record, each with at most `SHOWN` changes.
    """
    card_of = {key_of(card.row): card for card in cards if card.shown}
    weights = {change: weight for weight, change in enumerate(SYMBOLS)}

    def weight_of(changed: Changed) -> int:
        return weights.get(changed["change"], len(weights))

    shown = []
    for comparison in document["gate"].get("comparisons") or ():
        if not comparison.get("baseline"):
            continue  # of two models of this run
        results = comparison["results"]
        changed = [
            each for each in results if each["change"] not in ("unchanged", "ungated")
        ]
        changed.sort(key=weight_of)
        counts = comparison.get("counts") or {}
        counted = [
            f"{counts[change]} {change}" for change in SYMBOLS if counts.get(change)
        ]
        shown.append(
            {
                "title": f"{comparison['model']} against {comparison['against']} of {comparison['baseline']}",
                "refused": comparison.get("refused") or (),
                "counts": ", ".join(counted),
                "changes": [
                    (each, card_of.get(key_of(each))) for each in changed[:SHOWN]
                ],
                "bounds": comparison.get("bounds") or "",
                "lists": in_words(comparison.get("lists")),
            },
        )
    return shown


def key_of(found: Row | Changed) -> tuple[str, str, str]:
    """The key that joins a verdict and its change."""
    return found["nodeid"], found["oracle"], found.get("relation") or ""


def worse_by(given: Changed) -> str:
    """By how much a verdict is worse, with its interval; empty if unknown."""
    worse = given.get("worse")
    if worse is None:
        return ""
    interval = given.get("interval")
    if interval is None:
        return words.number(worse)
    low, high = interval
    return f"{words.number(worse)} [{words.number(low)}, {words.number(high)}]"
