"""Two answers side by side: which items stayed, moved, were lost, are new, or are
faulty; and the transcript of a call.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

from pytest_recsys_mt.report.changes import called, the_catalogue
from pytest_recsys_mt.report.replicates import Column, Entry, base_of
from pytest_recsys_mt.report.seen import SEEN


@dataclass(frozen=True)
class Mark:
    """A mark at one place of an answer; `kind` chooses the colour,
    `text` is the text.
    """

    kind: str
    text: str


FAULTS = {
    "unknown": Mark("fault", "⚠ hallucinated: no known item"),
    "outside": Mark("fault", "⚠ hallucinated: exists, but is not in the catalogue"),
    "history": Mark("fault", f"⚠ {SEEN}"),
    "catalogue": Mark("fault", "⚠ was not offered"),
    "duplicate": Mark("fault", "⚠ named before"),
    "unparsed": Mark("fault", "⚠ names nothing"),
}
"""By `requests.EntryKind`."""
LOST = Mark("lost", "✕ lost")
OFFERED = Mark("same", "was offered")

Asked = Mapping[str, Any]
"""A request and its answer as the record has them; see `report.asked`."""


@dataclass(frozen=True)
class Place:
    """One entry of an answer."""

    title: str
    marks: tuple[Mark, ...] = ()


Line = tuple[Place | None, Place | None]
"""One rank of both answers; None if an answer is shorter."""


def aligned(
    source: Sequence[str],
    followup: Sequence[str],
    source_kinds: Sequence[str] = (),
    followup_kinds: Sequence[str] = (),
) -> list[Line]:
    """Both answers by rank, with the change of each item."""
    before = {title: place for place, title in reversed(list(enumerate(source, 1)))}
    left = [
        Place(
            title,
            (*_fault(source_kinds, place), *(() if title in followup else (LOST,))),
        )
        for place, title in enumerate(source)
    ]
    right = [
        Place(title, (*_fault(followup_kinds, place), *_moved(title, place, before)))
        for place, title in enumerate(followup)
    ]
    return list(zip_longest(left, right))


def alone(answer: Sequence[str], kinds: Sequence[str] = ()) -> list[Place]:
    """One answer by rank, with its faulty entries marked."""
    return [Place(title, _fault(kinds, place)) for place, title in enumerate(answer)]


@dataclass(frozen=True)
class Replicate:
    """One of several answers to a question.

    Attributes:
        name: Its side and its number.
        counts: How it differs from the first answer, in words.
    """

    name: str
    counts: str


@dataclass(frozen=True)
class Replicates:
    """All answers to a question side by side, what they are compared with, and the
    places of each rank.
    """

    answers: Sequence[Replicate]
    base: str
    ranks: Sequence[Sequence[Place | None]]


def replicates(columns: Sequence[Column]) -> Replicates:
    """All answers to a question, with how each entry stands to the first of them."""
    answers = []
    places = []
    for column in columns:
        present = [f"{count} {name}" for name, count in column.counts.items() if count]
        answers.append(Replicate(column.name, ", ".join(present)))
        places.append(
            [_replicated(entry, at) for at, entry in enumerate(column.entries)]
        )
    return Replicates(answers, base_of(columns), list(zip_longest(*places)))


def _replicated(entry: Entry, place: int) -> Place:
    fault = _fault([entry.fault], 0)
    if entry.change == "first":
        return Place(entry.title, fault)
    before = {entry.title: entry.was} if entry.was else {}
    return Place(entry.title, (*fault, *_moved(entry.title, place, before)))


def summary(lines: Sequence[Line]) -> str:
    """The counts of the marks of two answers, in words."""
    counts = Counter(
        mark.kind for line in lines for place in line if place for mark in place.marks
    )
    words = {"same": "in the same place", "fault": "marked ⚠"}
    present = [
        kind for kind in ("same", "moved", "lost", "new", "fault") if counts[kind]
    ]
    return ", ".join(f"{counts[kind]} {words.get(kind, kind)}" for kind in present)


def _fault(kinds: Sequence[str], place: int) -> tuple[Mark, ...]:
    kind = kinds[place] if place < len(kinds) else ""
    return (FAULTS[kind],) if kind in FAULTS else ()


def _moved(title: str, place: int, before: dict[str, int]) -> tuple[Mark, ...]:
    was = before.get(title)
    if was is None:
        return (Mark("new", "✚ new"),)
    if was == place + 1:
        return (Mark("same", "= same place"),)
    arrow = "▲" if was > place + 1 else "▼"
    return (Mark("moved", f"{arrow} was {was}"),)


@dataclass(frozen=True)
class Call:
    """One call.

    Attributes:
        text: The raw answer; None if the recommender writes no text.
        lines: Each line of the raw answer, how it was read, and the title of the item
            that was read, if any.
        answer: The answer as a list, for a recommender that writes no text.
    """

    side: str
    request: Mapping[str, Sequence[str]]
    messages: Sequence[Mapping[str, Any]]
    text: str | None
    how: str
    lines: Sequence[tuple[str, Mark, str]]
    answer: Sequence[Place]


def calls_of(source: Asked | None, followup: Asked | None) -> list[Call]:
    """The calls of both sides; of one if there is no other."""
    sides = [
        (name, asked)
        for name, asked in (("source", source), ("follow-up", followup))
        if asked
    ]
    return [
        Call(
            side=name if len(sides) > 1 else "request",
            request=request_of(asked),
            messages=[
                {**each, "images": each.get("images") or ()}
                for each in asked.get("prompt") or ()
            ],
            text=asked.get("text"),
            how=asked.get("how") or "",
            lines=[
                (
                    each["text"],
                    FAULTS.get(each["kind"], OFFERED),
                    each.get("title") or "",
                )
                for each in asked.get("entries") or ()
            ],
            answer=alone(asked["answer"], asked.get("kinds") or ()),
        )
        for name, asked in sides
    ]


def request_of(asked: Asked) -> dict[str, list[str]]:
    """Every part of a request, by name, as lines of text."""
    low, high = asked["scale"]
    offered = asked["candidates"]
    attributes = asked.get("attributes") or {}
    return {
        "user": [asked["user"]],
        "history": [
            f"{each['title']}: {float(each['rating']):g}" for each in asked["history"]
        ],
        "scale": [f"{low:g} to {high:g}"],
        "candidates": (
            [the_catalogue(asked)]
            if offered is None
            else [each["title"] for each in offered]
        ),
        "asked for": [f"{asked['k']} {called(asked)}"],
        "instruction": [asked["instruction"]] if asked["instruction"] else [],
        "edits": list(asked["edits"]),
        "attributes": [f"{name}: {value}" for name, value in attributes.items()],
    }
