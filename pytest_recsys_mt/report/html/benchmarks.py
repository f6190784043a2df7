"""Tables of benchmark tasks, with published values next to those of the run."""

import json
from collections.abc import Sequence
from typing import Any

from pytest_recsys_mt.gate.states import grouped, measured
from pytest_recsys_mt.report.html import words
from pytest_recsys_mt.report.html.cards import Card
from pytest_recsys_mt.report.measures import effect_of, limit_of
from pytest_recsys_mt.report.short_names import letters_of


def benchmarks_of(cards: Sequence[Card]) -> list[dict[str, Any]]:
    """The tasks and the published values of each suite that has any."""
    cards_by_suite = grouped(cards, lambda card: card.row["suite"])
    benchmarks = []
    for suite, held in sorted(cards_by_suite.items()):
        benchmark = _benchmark(suite, held)
        if benchmark["tasks"] or benchmark["published"]:
            benchmarks.append(benchmark)
    return benchmarks


def value_of(card: Card) -> str:
    """The value of a card with its interval."""
    row = card.row
    value = measured(row).value
    if value is None:
        return "–"
    percent = effect_of(row).percent
    text = words.number(value, percent)
    interval = row.get("interval")
    if interval is None:
        return text
    low, high = (words.number(bound, percent) for bound in interval)
    how = " approximate" if row.get("approximate") else ""
    return f"{text} [{low}, {high}]{how}"


Task = tuple[str, str, str]
"""The title of a task, its metric and its limit."""


def _task_of(card: Card) -> Task:
    title = f"{card.title}: {card.name}" if card.name else card.title
    metric = measured(card.row).metric or ""
    return title, metric, limit_of(card.row)


def _benchmark(suite: str, cards: Sequence[Card]) -> dict[str, Any]:
    """The tasks of a suite by their titles, metrics and limits, each with a card for
    each model, and published values.
    """
    tasked = [card for card in cards if measured(card.row).metric is not None]
    in_order = sorted(tasked, key=lambda card: str(card.row["nodeid"]))
    tasks: dict[Task, dict[str, Card]] = {}
    for card in in_order:
        cards_by_model = tasks.setdefault(_task_of(card), {})
        cards_by_model[card.row["model"]] = card
    with_published = [card for card in cards if _has_published(card)]
    # Cards that carry the same table show it once.
    cards_by_table = grouped(with_published, _published_as_text)
    return {
        "suite": suite,
        "models": sorted({card.row["model"] for card in tasked}),
        "tasks": tasks,
        "published": [_published(holders) for holders in cards_by_table.values()],
    }


def _has_published(card: Card) -> bool:
    details = card.row.get("details") or {}
    return bool(details.get("published"))


def _published_as_text(card: Card) -> str:
    return json.dumps(card.row["details"]["published"], sort_keys=True)


def _published(cards: Sequence[Card]) -> dict[str, Any]:
    """A table of published values, which several cards have,
    and the values of the run for its columns.
    """
    published = cards[0].row["details"]["published"]
    columns = [str(column) for column in published["columns"]]
    cards_by_model = grouped(cards, lambda card: card.row["model"])
    ours = []
    for model, cards_of_model in sorted(cards_by_model.items()):
        values = _values_by_letters(cards_of_model)
        # The first column names the model.
        line = [values.get(letters_of(column), "") for column in columns[1:]]
        if any(line):
            ours.append([f"{model} (this run)", *line])
    rows = []
    for row in published["rows"]:
        rows.append(["" if cell is None else str(cell) for cell in row])
    return {
        "source": str(published["source"]),
        "columns": columns,
        "rows": rows,
        "ours": ours,
    }


def _values_by_letters(cards: Sequence[Card]) -> dict[str, str]:
    """The values of cards by the letters of their metrics, as
    papers write the names in other ways.
    """
    values = {}
    for card in cards:
        metric = measured(card.row).metric
        if metric is not None:
            values[letters_of(metric)] = value_of(card)
    return values
