"""What the page of one record holds, for its template, with what does not apply by reason."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from pytest_recsys_mt.gate.document import Document, grouped, models_of
from pytest_recsys_mt.report.compared import ONE_RUN
from pytest_recsys_mt.report.glossary import entries_of
from pytest_recsys_mt.report.html.answer import answer_of
from pytest_recsys_mt.report.html.benchmarks import benchmarks_of
from pytest_recsys_mt.report.html.cards import Card, cards_of
from pytest_recsys_mt.report.html.matrix import matrix_of
from pytest_recsys_mt.report.html.plots import groups_of, plots_of
from pytest_recsys_mt.report.html.scorecard import scorecard_of
from pytest_recsys_mt.report.html.since_baseline import comparisons_of
from pytest_recsys_mt.report.html.words import STATES
from pytest_recsys_mt.report.judged import all_read_in_words, judged

MOST = 5
"""Rows that the answer names, and cards of each state that are open; further ones have a line each."""


def contents_of(record: Document) -> dict[str, object]:
    """The variables of ``report.html.j2``."""
    cards = cards_of(record)
    models = models_of((card.row for card in cards), record["models"])
    homeless = any(not card.row["model"] and card.state.bad for card in cards)
    columns = [*models, *([""] if homeless or not models else [])]
    lines = scorecard_of(cards, columns)
    shown = [card for card in cards if card.shown]
    return {
        "record": record,
        "answer": answer_of(record, cards),
        "judged": judged(record),
        "readings": all_read_in_words(record.get("readings") or {}),
        "cards": cards,
        "columns": columns,
        "scorecard": lines,
        "measured_dimensions": any(
            cell and cell.figures for line in lines for part in line.parts for cell in part.cells
        ),
        "shown": shown,
        "states": {key: [card for card in shown if card.state.key == key] for key in STATES},
        "counts": Counter(card.state.key for card in cards),
        "comparisons": comparisons_of(record, cards),
        "matrix": matrix_of(record, cards, models) if len(models) > 1 else None,
        "one_run": ONE_RUN,
        "inapplicable": reasons_of(shown),
        "groups": groups_of([card for card in shown if card.state.key != "not-applicable"]),
        "benchmarks": benchmarks_of(shown),
        "plots": plots_of(shown),
        "models": models,
        "suites": sorted({card.row["suite"] for card in cards}),
        "entries": entries_of(card.row for card in shown),
        "most": MOST,
    }


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
    reasons = []
    for text, rows in sorted(held.items(), key=lambda each: -len(each[1])):
        counts = Counter(card.row["suite"] for card in rows)
        where = ", ".join(f"{suite} {count}" for suite, count in sorted(counts.items()))
        reasons.append(Reason(text, where, rows))
    return reasons
