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


COMMENTS = (
    "one of the best films of its decade, and a good second step after {}",
    "his last great film; not for the faint of heart",
    "the first of a series, and never boring",
    "a bit darker than {}, but you rated worse ones well",
    "the third act alone is worth it, before and after the twist",
)
CLOSINGS = (
    "Let me know if you'd like me to swap any of these for something lighter!",
    "If you want, I can replace one or drop another, and reverse the order.",
    "These should match your taste, from slow thrillers to family films. Enjoy!",
    "I hope this helps. Would you like more details on any of them?",
    "All of them share a strong lead. The best of them depends on your mood, first of all.",
    "P.S. Enjoy your evening! I left out films that you would not like.",
    "Verification: all 5 are from your list, and none of them was repeated.",
    "Number 1 is my favourite. The last one is a wildcard, moving from slow to fast in the end.",
    "Note: the tension is increasing from film to film, up to the end.",
    "Score 10 means a perfect fit; I would skip the trailers.",
)


def test_comments_and_closing_words_do_not_hide_a_list() -> None:
    offered = OFFERED["F"]
    for opening in (
        "",
        "Based on what you rated, here are my picks:\n\n",
        "Sure! Not an easy choice, but here you go:\n",
        "Scores from 1 to 10 (10 = best fit).\n\n",
        "It is hard to say what your mood is, but these should suit you:\n\n",
    ):
        for mark in ("{}. {} - {}", "{}. **{}**: {}", "- {1} ({0}) - {2}", "* *{1}* – {2}"):
            for turn, closing in enumerate(CLOSINGS):
                ranking = [*offered[turn:6], *offered[:turn]][:5]
                said = [each.format("Casino") for each in (*COMMENTS[turn:], *COMMENTS[:turn])]
                lines = [
                    mark.format(item.year if "({0})" in mark else at, item.title, comment)
                    for at, (item, comment) in enumerate(zip(ranking, said, strict=False), 1)
                ]
                text = f"{opening}{chr(10).join(lines)}\n\n{closing}"
                asked = Request("u", (), Scale(), tuple(offered), k=5)
                reading = read(text, asked, TitleIndex(offered))
                items = [entry.item for entry in reading.entries if entry.item is not None]
                assert items == [item.id for item in ranking], (text, reading.rule)
