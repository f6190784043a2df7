"""What does not apply to a recommender, a line for each reason."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from pytest_recsys_mt.gate.document import grouped
from pytest_recsys_mt.report.html.cards import Card


@dataclass(frozen=True)
class Reason:
    """One reason, and the rows that have it, by suite."""

    text: str
    where: str
    cards: Sequence[Card]


def reasons_of(cards: Sequence[Card]) -> list[Reason]:
    """The reasons of the rows that are not applicable, the most frequent first."""
    left_out = [card for card in cards if card.state.key == "not-applicable"]
    held = grouped(left_out, lambda card: card.row.get("reason") or "no reason given")
    return [
        Reason(text, _where(rows), rows)
        for text, rows in sorted(held.items(), key=lambda each: -len(each[1]))
    ]


def _where(cards: Sequence[Card]) -> str:
    counts = Counter(card.row["suite"] for card in cards)
    return ", ".join(f"{suite} {count}" for suite, count in sorted(counts.items()))
