"""Tables of benchmark tasks, with published values beside those of the run."""

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
    benchmarks = [_benchmark(suite, held) for suite, held in sorted(cards_by_suite.items())]
    return [each for each in benchmarks if each["tasks"] or each["published"]]


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


def _benchmark(suite: str, cards: Sequence[Card]) -> dict[str, Any]:
    """The tasks of a suite by their titles, metrics and limits, each with a card for each model, and published values."""
    tasked = [card for card in cards if measured(card.row).metric is not None]
    tasks: dict[tuple[str, str, str], dict[str, Card]] = {}
    for card in sorted(tasked, key=lambda card: str(card.row["nodeid"])):
        title = f"{card.title}: {card.name}" if card.name else card.title
        metric = measured(card.row).metric or ""
        task = (title, metric, limit_of(card.row))
        tasks.setdefault(task, {})[card.row["model"]] = card
    with_published = [card for card in cards if (card.row.get("details") or {}).get("published")]
    cards_by_table = grouped(with_published, _published_as_text)
    return {
        "suite": suite,
        "models": sorted({card.row["model"] for card in tasked}),
        "tasks": tasks,
        "published": [_published(holders) for holders in cards_by_table.values()],
    }


def _published_as_text(card: Card) -> str:
    return json.dumps(card.row["details"]["published"], sort_keys=True)


def _published(cards: Sequence[Card]) -> dict[str, Any]:
    """A table of published values, which several cards have, and the values of the run for its columns."""
    published = cards[0].row["details"]["published"]
    columns = [str(column) for column in published["columns"]]
    ours = []
    for model, cards_of_model in sorted(grouped(cards, lambda card: card.row["model"]).items()):
        values = {}
        for card in cards_of_model:
            metric = measured(card.row).metric
            if metric is not None:
                values[letters_of(metric)] = value_of(card)
        line = [values.get(letters_of(column), "") for column in columns[1:]]
        if any(line):
            ours.append([f"{model} (this run)", *line])
    rows = []
    for row in published["rows"]:
        rows.append(["" if cell is None else str(cell) for cell in row])
    return {"source": str(published["source"]), "columns": columns, "rows": rows, "ours": ours}
