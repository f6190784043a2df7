"""All answers to one question of a user, by rank: how each differs from the first."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from pytest_recsys_mt.gate.document import Example, Row
from pytest_recsys_mt.report.evidence import is_of_one_side
from pytest_recsys_mt.report.seen import is_about_seen, kinds_shown

Change = Literal["first", "same", "moved", "new"]
"""How an entry stands to the first answer: it is of that answer, stands in the same
place there, in another one, or is not in it.
"""

SIDES = {"source": "source", "followup": "changed"}
"""The sides of an example, with what their answers are called."""

OFFERED = ("", "candidate")
"""The kinds of entries (`requests.EntryKind`) that are no fault."""


@dataclass(frozen=True)
class Entry:
    """One place of an answer.

    Attributes:
        title: The title.
        change: How it stands to the first answer that is not empty.
        was: Its place there, from 1; 0 if it is not in it.
        fault: Its kind, if it should not be there; else empty.
    """

    title: str
    change: Change
    was: int
    fault: str


@dataclass(frozen=True)
class Column:
    """One answer.

    Attributes:
        name: Its side and its number, ``source 1``.
        entries: Its places, best first.
        lost: How many entries of the first answer are not in it.
        empty: How many places it has less than the longest of the answers.
        is_base: Whether it is the answer that all are compared with.
    """

    name: str
    entries: Sequence[Entry]
    lost: int
    empty: int
    is_base: bool = False

    @property
    def counts(self) -> Mapping[str, int]:
        """How many entries of it have each mark, and `lost` and `empty`."""
        changes = Counter[str](entry.change for entry in self.entries)
        return {
            "moved": changes["moved"],
            "new": changes["new"],
            "lost": self.lost,
            "faulty": sum(bool(entry.fault) for entry in self.entries),
            "empty": self.empty,
        }


def columns_of(example: Example, row: Row) -> list[Column]:
    """The answers of an example, those of the source first. The first of them that is
    not empty is what all are compared with.
    """
    seen = is_about_seen(row)
    answers = []
    for side, name in SIDES.items():
        of_side = list(_answers_of(side, example, row))
        for number, (titles, kinds) in enumerate(of_side, 1):
            answers.append((f"{name} {number}", titles, kinds_shown(kinds, seen=seen)))
    if not answers:
        return []
    base = next((place for place, each in enumerate(answers) if each[1]), 0)
    first = answers[base][1]
    longest = max(len(titles) for _, titles, _ in answers)
    places = {title: place for place, title in reversed(list(enumerate(first, 1)))}
    columns = []
    for number, (name, titles, kinds) in enumerate(answers):
        entries = []
        for place, title in enumerate(titles, 1):
            was = places.get(title, 0)
            kind = kinds[place - 1] if place <= len(kinds) else ""
            fault = "" if kind in OFFERED else kind
            change = "first" if number == base else _change(was, place)
            entries.append(Entry(title, change, was, fault))
        lost = len(places.keys() - set(titles))
        empty = longest - len(titles)
        columns.append(Column(name, entries, lost, empty, is_base=number == base))
    return columns


def base_of(columns: Sequence[Column]) -> str:
    """What all answers are compared with: its name, and why it is not the first."""
    place = next(place for place, column in enumerate(columns) if column.is_base)
    why = ", as no answer before it names anything" if place else ""
    return f"{columns[place].name}{why}"


def _answers_of(
    side: str,
    example: Mapping[str, Any],
    row: Row,
) -> Iterator[tuple[Sequence[str], Sequence[str]]]:
    """The titles and kinds of each answer of a side; none for a side that the verdict
    is not on.
    """
    replicates = example.get("replicates")
    if replicates is not None:
        for answer in replicates[side]:
            yield answer["answer"], answer["kinds"]
    elif example[side] or not is_of_one_side(row):
        yield example[side], example.get(f"{side}_kinds") or ()


def _change(was: int, place: int) -> Change:
    if not was:
        return "new"
    return "same" if was == place else "moved"
