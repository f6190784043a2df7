"""What changed since a baseline, or between the models of a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pytest_recsys_mt.report.html import words
from pytest_recsys_mt.report.html.cards import Card

SYMBOLS = {
    "regressed": "✗",
    "suspicious": "!",
    "inconclusive": "?",
    "improved": "▲",
    "unchanged": "=",
    "ungated": "–",
}
"""By what became of a verdict, in the order of weight."""


@dataclass(frozen=True)
class Change:
    """What became of one verdict.

    Attributes:
        word: One of `SYMBOLS`.
        symbol: Beside it.
        card: The verdict as it is now, if the page has it.
        name: What it is called where there is no card.
        worse: By how much it is worse, with its interval; empty where that is not known.
        margin: How much worse it may be; empty where that is not known.
        users: Compared one by one.
        reason: In words.
    """

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
    """One model against an earlier record, or against another model.

    Attributes:
        title: What is compared with what.
        refused: Why it cannot be, if it cannot.
        counts: How many verdicts changed in which way.
        changes: All that did not stay as they were.
        bounds: Which bounds their intervals are.
    """

    title: str
    refused: Sequence[str]
    counts: str
    changes: Sequence[Change]
    bounds: str


def comparisons_of(document: Mapping[str, Any], cards: Sequence[Card]) -> list[Comparison]:
    """The comparisons of a record, as its gate has them."""
    by_address = {(card.row["nodeid"], card.row["oracle"]): card for card in cards}
    return [_comparison(each, by_address) for each in document["gate"].get("comparisons") or ()]


def _comparison(given: Mapping[str, Any], cards: Mapping[tuple[str, str], Card]) -> Comparison:
    where = (
        f"{given['against']} of {given['baseline']}" if given.get("baseline") else given["against"]
    )
    weight = {word: number for number, word in enumerate(SYMBOLS)}
    changed = sorted(
        (each for each in given["results"] if each["change"] not in ("unchanged", "ungated")),
        key=lambda each: weight.get(each["change"], len(weight)),
    )
    counts = given.get("counts") or {}
    return Comparison(
        title=f"{given['model']} against {where}",
        refused=given.get("refused") or (),
        counts=", ".join(f"{counts[word]} {word}" for word in SYMBOLS if counts.get(word)),
        changes=[_change(each, cards) for each in changed],
        bounds=given.get("bounds") or "",
    )


def _change(given: Mapping[str, Any], cards: Mapping[tuple[str, str], Card]) -> Change:
    worse = ""
    if given.get("worse") is not None:
        worse = words.number(given["worse"])
        if given.get("interval") is not None:
            low, high = map(words.number, given["interval"])
            worse += f" [{low}, {high}]"
    margin = given.get("margin")
    return Change(
        word=given["change"],
        symbol=SYMBOLS.get(given["change"], "?"),
        card=cards.get((given["nodeid"], given["oracle"])),
        name=given["nodeid"],
        worse=worse,
        margin="" if margin is None else f"{margin:g}",
        users="" if given.get("users") is None else f"{given['users']:,}",
        reason=given.get("reason") or "",
    )
