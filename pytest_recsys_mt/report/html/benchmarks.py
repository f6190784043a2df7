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
    suites = grouped(cards, lambda card: card.row["suite"])
    found = [_benchmark(suite, held) for suite, held in sorted(suites.items())]
    return [each for each in found if each["tasks"] or each["published"]]


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
    return f"{text} [{low}, {high}]{' approximate' if row.get('approximate') else ''}"


def _benchmark(suite: str, cards: Sequence[Card]) -> dict[str, Any]:
    tasked = [card for card in cards if measured(card.row).metric is not None]
    tasks: dict[tuple[str, str, str], dict[str, Card]] = {}
    for card in sorted(tasked, key=lambda card: str(card.row["nodeid"])):
        line = f"{card.title}: {card.name}" if card.name else card.title
        key = (line, measured(card.row).metric or "", limit_of(card.row))
        tasks.setdefault(key, {})[card.row["model"]] = card
    given = [card for card in cards if (card.row.get("details") or {}).get("published")]
    tables = grouped(
        given, lambda card: json.dumps(card.row["details"]["published"], sort_keys=True)
    )
    return {
        "suite": suite,
        "models": sorted({card.row["model"] for card in tasked}),
        "tasks": tasks,
        "published": [_published(holders) for holders in tables.values()],
    }


def _published(cards: Sequence[Card]) -> dict[str, Any]:
    given = cards[0].row["details"]["published"]
    columns = [str(column) for column in given["columns"]]
    ours = []
    for model in sorted({card.row["model"] for card in cards}):
        values = {
            letters_of(metric): value_of(card)
            for card in cards
            if card.row["model"] == model and (metric := measured(card.row).metric) is not None
        }
        line = [values.get(letters_of(column), "") for column in columns[1:]]
        if any(line):
            ours.append([f"{model} (this run)", *line])
    rows = [["" if cell is None else str(cell) for cell in row] for row in given["rows"]]
    return {"source": str(given["source"]), "columns": columns, "rows": rows, "ours": ours}
