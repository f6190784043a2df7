"""Titles that are hard to match, labelled by hand, and how many of them a matcher gets
right.

The catalogue is that of the embedded dataset and, from `answers/hard_catalogue.txt`,
films that are easily taken for others, written as MovieLens writes them. What each text
of `answers/hard_titles.tsv` means was decided by reading it beside that catalogue, not
by running anything.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from pytest_recsys_mt.requests import Item
from tests.support.datasets import load_mini, split_title
from tests.support.llm_reading import TitleIndex

ANSWERS = Path(__file__).with_name("answers")


@dataclass(frozen=True)
class Case:
    """One text.

    Attributes:
        difficulty: What makes it hard.
        written: The text.
        wanted: The label of the item that it means, or ``none``.
        offered: The labels of the items it was to choose among, none for the whole
            catalogue.
    """

    difficulty: str
    written: str
    wanted: str
    offered: tuple[str, ...]


@dataclass(frozen=True)
class Outcome:
    """What a text was matched with, the label of an item or ``none``."""

    case: Case
    found: str

    @property
    def wrong(self) -> bool:
        return self.found not in ("none", self.case.wanted)

    @property
    def missed(self) -> bool:
        return self.found == "none" != self.case.wanted


@dataclass(frozen=True)
class Score:
    """How many texts were matched, and how well."""

    texts: int
    meant: int  # texts that mean an item
    right: int
    wrong: int

    @classmethod
    def of(cls, outcomes: Iterable[Outcome]) -> Score:
        outcomes = list(outcomes)
        return cls(
            texts=len(outcomes),
            meant=sum(one.case.wanted != "none" for one in outcomes),
            right=sum(one.found == one.case.wanted != "none" for one in outcomes),
            wrong=sum(one.wrong for one in outcomes),
        )

    @property
    def precision(self) -> float:
        """Of the texts that were matched, the share matched rightly; 1 where none was."""
        matched = self.right + self.wrong
        return self.right / matched if matched else 1.0

    @property
    def recall(self) -> float:
        """Of the texts that mean an item, the share matched with it; 1 where none does."""
        return self.right / self.meant if self.meant else 1.0


def catalogue() -> dict[str, Item]:
    """The films by label."""
    items = list(load_mini().items.values())
    for line in (ANSWERS / "hard_catalogue.txt").read_text("utf-8").splitlines():
        title, year = split_title(line)
        items.append(Item(line, title, year))
    return {f"{item.title} ({item.year})": item for item in items}


def cases() -> list[Case]:
    with (ANSWERS / "hard_titles.tsv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    return [
        Case(
            row["difficulty"],
            row["written"],
            row["wanted"],
            tuple(filter(None, row["offered"].split("; "))),
        )
        for row in rows
    ]


def outcomes() -> list[Outcome]:
    """Every case with what `TitleIndex.find` makes of it."""
    items = catalogue()
    labels = {item.id: label for label, item in items.items()}
    index = TitleIndex(items.values())
    found = []
    for case in cases():
        item = index.find(
            case.written,
            offered=[items[label] for label in case.offered],
        )
        found.append(Outcome(case, "none" if item is None else labels[item.id]))
    return found
