"""Answers that say two things, as models give them: the right list is read, or none."""

import json
from pathlib import Path

from pytest_recsys_mt.llm.reading.parser import read
from pytest_recsys_mt.llm.reading.titles import TitleIndex
from pytest_recsys_mt.requests import Item, Request, Scale

FILE = json.loads(Path(__file__).with_name("contradicted.json").read_text(encoding="utf-8"))
OFFERED = {
    kind: [Item(str(at), title, year) for at, (title, year) in enumerate(titles, 1)]
    for kind, titles in FILE["offered"].items()
}


def test_the_right_list_is_read_or_none() -> None:
    """Each case: what is offered, how many are asked for, the answer, and the right places ("": none is)."""
    wrong, unread = [], 0
    for kind, k, text, right in FILE["cases"]:
        asked = Request("u", (), Scale(), tuple(OFFERED[kind]), k=k)
        reading = read(text, asked, TitleIndex(OFFERED[kind]))
        items = [entry.item for entry in reading.entries if entry.item is not None][:k]
        unread += not items
        if items and items != list(right):
            wrong.append((text, right, items, reading.rule))
    assert not wrong, wrong[:5]
    assert len(FILE["cases"]) > 150
    assert unread < len(FILE["cases"])
