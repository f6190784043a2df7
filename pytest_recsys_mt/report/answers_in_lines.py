"""Both answers of an example side by side, and the texts
of a text model, in lines of a terminal.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

from pytest_recsys_mt.report.seen import SEEN, kinds_shown
from pytest_recsys_mt.report.short_names import shorten
from pytest_recsys_mt.safety.sanitize import one_line

NOTHING = "(nothing)"

WIDTH = 80
"""Columns of a line."""

MOST_LINES_WRITTEN = 3
"""Lines shown of a text answer."""

_COLUMN = 33
"""Columns of a title where two answers stand side by side."""


@dataclass(frozen=True)
class Answer:
    """The titles of an answer, and the places from 1 of those to mark as seen."""

    titles: Sequence[str] = ()
    seen: Collection[int] = ()


def answer_of(
    titles: Sequence[str],
    kinds: Sequence[str] | None,
    *,
    seen: bool,
) -> Answer:
    """An answer to be shown.

    Args:
        titles: The titles of its items, in order.
        kinds: The kind of each entry; None if they are not known.
        seen: Whether to mark the items that the history shows.
    """
    places = enumerate(kinds_shown(kinds, seen=seen), 1)
    in_history = frozenset(place for place, kind in places if kind == "history")
    return Answer(titles, in_history)


def lines_of_answers(source: Answer, followup: Answer, *, alone: bool) -> Iterator[str]:
    """Both answers side by side; of a verdict on one side its answer alone."""
    if not alone:
        yield from _two_answers(source, followup)
    elif source.titles:
        yield from _one_answer(source)
    else:
        yield from _one_answer(followup)


def _one_answer(answer: Answer) -> Iterator[str]:
    """An answer as a numbered list."""
    yield "    answer"
    for place, title in enumerate(_shown(answer.titles), 1):
        note = f" ({SEEN})" if place in answer.seen else ""
        room = WIDTH - 4 - len(note)
        yield f"{place:>3} {shorten(title, room)}{note}"


def _two_answers(source: Answer, followup: Answer) -> Iterator[str]:
    """Two answers as a numbered list, with where each item
    of the second stood in the first.
    """
    source_titles = _shown(source.titles)
    followup_titles = _shown(followup.titles)
    yield _columns("", "source", "follow-up", "")
    pairs = zip_longest(source_titles, followup_titles, fillvalue="")
    for place, (old, new) in enumerate(pairs, 1):
        note = ""
        if new not in ("", NOTHING, old):
            note = _where_it_was(new, source_titles)
        yield _columns(str(place), old, new, note)
        sides_with_seen = []
        if place in source.seen:
            sides_with_seen.append("source")
        if place in followup.seen:
            sides_with_seen.append("follow-up")
        if sides_with_seen:
            sides = " and ".join(sides_with_seen)
            yield f"    ({sides}: {SEEN})"


def _columns(number: str, left: str, right: str, note: str) -> str:
    """One line of two answers side by side."""
    left = shorten(left, _COLUMN)
    right = shorten(right, _COLUMN)
    line = f"{number:>3} {left:<{_COLUMN}}  {right:<{_COLUMN}} {note}"
    return line.rstrip()


def _where_it_was(title: str, titles: Sequence[str]) -> str:
    """The place of a title in the other answer, in words."""
    if title not in titles:
        return "new"
    place = titles.index(title) + 1
    return f"was {place}"


def _shown(titles: Sequence[str]) -> tuple[str, ...]:
    """The titles, each in one line; of an empty answer that it is empty."""
    if not titles:
        return (NOTHING,)
    return tuple(one_line(title) for title in titles)


def lines_written(
    source: Mapping[str, Any] | None,
    followup: Mapping[str, Any] | None,
) -> Iterator[str]:
    """The text of a text model on each side, in few lines.

    Args:
        source: The request of the source with its answer, as `report.asked` has it;
            None if it is not known.
        followup: The same of the follow-up.
    """
    for name, side in (("source", source), ("follow-up", followup)):
        text = None if side is None else side.get("text")
        if not text:
            continue
        yield f"  the model wrote ({name}):"
        written = [one_line(line) for line in text.split("\n") if line.strip()]
        for line in written[:MOST_LINES_WRITTEN]:
            yield f"    {shorten(line, WIDTH - 4)}"
        further = len(written) - MOST_LINES_WRITTEN
        if further > 0:
            yield f"    … {more_lines(further)}"


def more_lines(count: int) -> str:
    """How many lines are left out, in words."""
    noun = "line" if count == 1 else "lines"
    return f"{count} more {noun}"
