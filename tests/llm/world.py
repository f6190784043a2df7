"""The films and the question of the collected answers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from pytest_recsys_mt.requests import (
    UNKNOWN_PREFIX,
    Entry,
    Item,
    Rating,
    Request,
    Scale,
)
from tests.support.llm_reading import TitleIndex, normalise

ANSWERS = Path(__file__).with_name("answers")

CATALOGUE = {
    id: Item(id, title, year)
    for id, (title, year) in json.loads(
        (ANSWERS / "catalogue.json").read_text("utf-8"),
    ).items()
}
INDEX = TitleIndex(CATALOGUE.values())

CANDIDATES = [
    "heat", "alien", "aliens", "matrix", "gbu", "seven", "leon", "amelie", "odyssey", "300",
    "yuma", "angry", "goodfellas", "shawshank", "monsters", "toy1", "toy2", "strangelove",
    "schindler", "fargo",
]  # fmt: skip
HISTORY = ["click", "congeniality", "psycho", "casino"]


def items(*ids: str) -> tuple[Item, ...]:
    return tuple(CATALOGUE[id] for id in ids)


def request(
    candidates: list[str] | None = CANDIDATES,
    history: list[str] = HISTORY,
) -> Request:
    ratings = tuple(Rating(item, 4.0) for item in items(*history))
    offered = None if candidates is None else items(*candidates)
    return Request("509", ratings, Scale(), offered, k=5)


def collected() -> list[dict[str, Any]]:
    """All collected answers; their `name` is unique with the family before it."""
    cases = []
    for path in sorted(ANSWERS.glob("*.json")):
        if path.stem != "catalogue":
            for case in json.loads(path.read_text("utf-8")):
                text = case["text"]
                text = text if isinstance(text, str) else "\n".join(text)
                cases.append(
                    {**case, "text": text, "name": f"{path.stem}: {case['name']}"},
                )
    return cases


def shorthand(entry: Entry) -> str:
    """An entry as the collected answers write it."""
    if entry.kind == "unparsed":
        return "-"
    assert entry.item is not None
    return entry.item if entry.kind == "candidate" else f"{entry.kind} {entry.item}"


def expected(case: dict[str, Any]) -> list[str]:
    """`unknown Some Title` and `duplicate ?Some Title`
    with the item ids they stand for.
    """
    found = []
    for entry in case["expect"]:
        kind, _, title = entry.partition(" ")
        if kind == "unknown" or title.startswith("?"):
            entry = f"{kind} {UNKNOWN_PREFIX}{normalise(title.lstrip('?'))}"
        found.append(entry)
    return found
