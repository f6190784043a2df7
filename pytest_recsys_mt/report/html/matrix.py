"""Several models side by side: a line for each verdict,
with the differences to the first model.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from pytest_recsys_mt.gate.comparison import keyed as keyed_rows
from pytest_recsys_mt.gate.document import Changed, Document
from pytest_recsys_mt.gate.nodeids import step_of
from pytest_recsys_mt.report.html import titles, words
from pytest_recsys_mt.report.html.cards import Card
from pytest_recsys_mt.report.html.scorecard import p_text
from pytest_recsys_mt.report.html.since_baseline import SYMBOLS, key_of, worse_by

Key = tuple[str, str, int]
"""The address of a test, its oracle, and which of its verdicts by that oracle."""


WORDS = {
    "regressed": "worse", "improved": "better", "suspicious": "suspiciously better", "inconclusive": "inconclusive",
    "unchanged": "no worse", "ungated": "not compared",
}  # fmt: skip
"""The words for changes, the most important first."""

APART = "not comparable"
"""The word for verdicts that judge different steps of a test."""

SAME = ("", WORDS["unchanged"], WORDS["ungated"], APART)


@dataclass(frozen=True)
class Beside:
    """One model's verdict.

    Attributes:
        symbol, word: How it compares with the first model's; empty for the first model.
        sure: How sure that is, or why it is unknown.
        within: The range that "no worse" leaves open, in words after it.
        step: Its step within its test; empty if all models of the line judge the
            same.
    """

    card: Card
    symbol: str = ""
    word: str = ""
    worse: str = ""
    sure: str = ""
    within: str = ""
    step: str = ""


@dataclass(frozen=True)
class Across:
    """One verdict across the models, None where a model has
    none; `one_step` if all judge the same step.
    """

    lead: Card
    cells: Sequence[Beside | None]
    differs: bool
    one_step: bool


@dataclass(frozen=True)
class Matrix:
    """All verdicts of several models: the lines that differ,
    all others, and notes on the bounds.
    """

    models: Sequence[str]
    lines: Sequence[Across]
    others: Sequence[Across]
    notes: Sequence[str]


def matrix_of(
    document: Document,
    cards: Sequence[Card],
    models: Sequence[str],
) -> Matrix | None:
    """The matrix of a run of several models; None if no verdict is of more than one."""
    every_comparison = document["gate"].get("comparisons") or ()
    # The others are comparisons with a baseline.
    comparisons = [each for each in every_comparison if not each.get("baseline")]
    changes: dict[tuple[str, str, str], Changed] = {}
    for comparison in comparisons:
        for change in comparison["results"]:
            changes[key_of(change)] = change
    judged = _judged(cards, models)
    # A league is a model of its own, which shares no tests with its members.
    shared: set[str] = set()
    for card_of_model in judged:
        if len(card_of_model) > 1:
            shared.update(card_of_model)
    models = [model for model in models if model in shared]
    if not models:
        return None
    every_line = [
        _across(by_model, models, changes)
        for by_model in judged
        if by_model.keys() & shared
    ]
    lines = sorted((line for line in every_line if _is_shown(line)), key=_weight)
    bounds = [
        f"{each['model']}: {each['bounds']}"
        for each in comparisons
        if each.get("bounds")
    ]
    refused = []
    for comparison in comparisons:
        for reason in comparison.get("refused") or ():
            refused.append(f"{comparison['model']}: {reason}")
    return Matrix(
        models,
        [line for line in lines if line.differs],
        [line for line in lines if not line.differs],
        [*bounds, *refused],
    )


def _judged(cards: Sequence[Card], models: Sequence[str]) -> list[dict[str, Card]]:
    """The cards of each verdict by model, of verdicts that apply to any."""
    cards_by_key: dict[Key, dict[str, Card]] = {}
    for key, card in keyed(cards, models):
        cards_by_key.setdefault(key, {})[card.row["model"]] = card
    judged = []
    for card_of_model in cards_by_key.values():
        if any(card.state.key != "not-applicable" for card in card_of_model.values()):
            judged.append(card_of_model)
    return judged


def _is_shown(line: Across) -> bool:
    return all(cell is None or cell.card.shown for cell in line.cells)


def keyed(cards: Sequence[Card], models: Iterable[str]) -> Iterator[tuple[Key, Card]]:
    """The cards of models with a key that is the same for other
    models and in other runs, as the gate compares them.
    """
    placed = sorted(cards, key=lambda card: card.place)
    for model in models:
        own = [card for card in placed if card.row["model"] == model]
        keys = (key for key, _ in keyed_rows([card.row for card in own]))
        yield from zip(keys, own, strict=True)


def _weight(line: Across) -> tuple[int, int]:
    """The sort key: the most important state first,
    then the most important change.
    """
    states = list(words.STATES)
    changes = [*WORDS.values(), APART, ""]
    known = [cell for cell in line.cells if cell]
    return (
        min(states.index(cell.card.state.key) for cell in known),
        min(changes.index(cell.word) for cell in known),
    )


def _across(
    held: Mapping[str, Card],
    models: Sequence[str],
    changes: Mapping[tuple[str, str, str], Changed],
) -> Across:
    """One verdict across the models, from its card of each;
    the first model that has one leads.
    """
    lead = next(held[model] for model in models if model in held)
    steps = {step_of(card.row) for card in held.values()}
    one_step = len(steps) == 1
    cells = {}
    for model, card in held.items():
        cells[model] = _compared(card, lead, changes.get(key_of(card.row)), one_step)
    states = {card.state.key for card in held.values()}
    has_change = any(cell.word not in SAME for cell in cells.values())
    differs = len(states) > 1 or has_change
    return Across(lead, [cells.get(model) for model in models], differs, one_step)


def _compared(card: Card, lead: Card, change: Changed | None, one_step: bool) -> Beside:
    """The verdict of one model next to that of the first, the lead."""
    step = "" if one_step else titles.step_of(card.row)
    if step_of(card.row) != step_of(lead.row):
        return Beside(card, SYMBOLS["ungated"], APART, step=step)
    if change is None:
        return Beside(card, step=step)
    kind = change["change"]
    p = change.get("p_holm")
    sure = ""
    if kind == "ungated":
        sure = change.get("reason") or ""
    elif kind == "regressed" and p is not None:
        sure = f"{p_text(p)} (Holm)"
    symbol = SYMBOLS.get(kind, "?")
    within = ""
    margin = change.get("margin")
    if kind == "unchanged" and change.get("worse") and margin is not None:
        symbol = "\N{LESS-THAN OR EQUAL TO}"
        within = f"by more than the margin {margin:g}"
    word = WORDS.get(kind, WORDS["ungated"])
    return Beside(card, symbol, word, worse_by(change), sure, within, step)
