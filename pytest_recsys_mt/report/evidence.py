"""The evidence below a failed test, from its row of the record: what was asked and changed, and both answers."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from textwrap import wrap
from typing import Any

from pytest_recsys_mt.gate.document import Example, Row
from pytest_recsys_mt.report.changes import DIFFERING, SAME, Line, called, changes, the_catalogue
from pytest_recsys_mt.report.seen import SEEN, is_about_seen, kinds_shown
from pytest_recsys_mt.report.short_names import shorten
from pytest_recsys_mt.safety.sanitize import one_line
from pytest_recsys_mt.verdict import SHARED

NOTHING = "(nothing)"

WIDTH = 80
LABEL = 12
"""Columns of the name of a part."""

MOST_LINES = 40
"""Further users are shown while all is not longer; the first is shown if there is no smallest example."""

MOST_CHANGES = 3
"""Changes shown of each part of a request."""

MOST_OF_A_PART = 9
"""Lines shown of one part of a request."""

MOST_ROWS = 3
"""Rows that one long line takes; also the lines shown of a text answer."""


def evidence(row: Row, where: str = "") -> list[str]:
    """What the changed answers of one row share, its smallest example and some users, in lines of 80 columns; `where` is
    the file with the rest.
    """
    shrunk = row.get("shrunk")
    users = [each for each in row["examples"] if not each.get("keeps")] or row["examples"][:1]
    if shrunk is not None:
        users = [each for each in users if each["user"] != shrunk["user"]]
    if row.get("joint"):
        users = users[:1]  # the number is one of all users together: no user's answer explains it
    alone = is_of_one_side(row)
    seen = is_about_seen(row)
    lines = [] if shrunk is None else ["", *_smallest(shrunk, alone, seen=seen)]
    left = len(users)
    for example in () if shrunk is not None else users:
        block = list(_user(example, alone, seen=seen))
        if lines and len(lines) + len(block) > MOST_LINES:
            break
        lines += ["", *block]
        left -= 1
    if left or any("… " in line for line in lines):
        more = f"{left} more {'user' if left == 1 else 'users'}, and " if left else ""
        lines += ["", f"({more}every request in full: {where or '--recsys-html=report.html'})"]
    shared = wrap(one_line(shared_of(row)), WIDTH - 1)
    return ["", *shared, *lines] if shared else lines


def shared_of(row: Row) -> str:
    """What the changed answers of a row share, in words; empty if nothing was found."""
    found = (row.get("details") or {}).get(SHARED)
    text = found.get("text") if isinstance(found, Mapping) else None
    return text if isinstance(text, str) else ""


def example_of(row: Row) -> list[str]:
    """The smallest example of a row, without how it was found, else its first user, in such lines."""
    alone, seen, shrunk = is_of_one_side(row), is_about_seen(row), row.get("shrunk")
    if shrunk is not None:
        size, _, *parts = _smallest(shrunk, alone, seen=seen)
        return [size, *parts]
    return [line for each in row["examples"][:1] for line in _user(each, alone, seen=seen)]


def is_of_one_side(row: Row) -> bool:
    """Whether a verdict is on the answers of one side: of the source or of the follow-up."""
    return not row["relation"] or not any(
        each["source"] or each.get("score") is not None for each in row.get("examples") or []
    )


def _user(example: Example, alone: bool, *, seen: bool) -> Iterator[str]:
    score = example.get("score")
    agreement = "" if score is None else f", agreement {score:.2f}"
    yield f"user {one_line(example['user'])}{agreement}"
    asked = example.get("asked") or {}
    source, followup = asked.get("source"), asked.get("followup")
    if source is not None and followup is not None:
        yield from changed(source, followup)
    yield from _answers(
        (example["source"], _seen(example.get("source_kinds"), seen=seen)),
        (example["followup"], _seen(example.get("followup_kinds"), seen=seen)),
        alone,
    )
    yield from _wrote(source, followup)


def changed(source: Mapping[str, Any], followup: Mapping[str, Any]) -> Iterator[str]:
    """What differs between two requests; of those to a text model, what it read."""
    found = changes(source, followup, most=MOST_CHANGES)
    read = [change for change in found if change.part == "prompt"]
    for change in read or found:
        yield from _part(change.part, change.lines)
    if not found:
        yield f"  {SAME}"


def _part(name: str, lines: Sequence[Line]) -> Iterator[str]:
    rows = []
    for mark, text in lines[:MOST_OF_A_PART]:
        rows += _rows(mark, text)
    if (further := len(lines) - MOST_OF_A_PART) > 0:
        rows += [f"… {_more(further)}"]
    if any(DIFFERING in text for mark, text in lines if mark in "-+"):
        rows += [f"  ({DIFFERING} is a blank that differs)"]
    for label, text in zip_longest([name], rows, fillvalue=""):
        yield f"  {label:<{LABEL}}{text}".rstrip()


def _rows(mark: str, text: str) -> list[str]:
    room = WIDTH - LABEL - 4
    lines = wrap(text, room, drop_whitespace=False, break_on_hyphens=False) or [""]
    if len(lines) > MOST_ROWS:
        further = sum(map(len, lines[MOST_ROWS:]))
        lines[MOST_ROWS:] = [f"… {further:,} more characters"]
    first, *others = lines
    return [f"{mark} {first}".rstrip(), *(f"  {line.strip()}" for line in others)]


def size_of_smallest(shrunk: Mapping[str, Any]) -> str:
    """Whose smallest example it is, and what is left of the request, in a line."""
    source, whole = shrunk["source"], shrunk["whole"]
    what = f"{called(source)} of the history" if source.get("thing") else "history items"
    size = f"{len(source['history'])} of {whole['history']} {what}"
    if whole["candidates"] is not None and source["candidates"] is not None:
        size += f", {len(source['candidates'])} of {whole['candidates']} candidates"
    return f"smallest example: user {one_line(shrunk['user'])}, {size}"


def _smallest(shrunk: Mapping[str, Any], alone: bool, *, seen: bool) -> Iterator[str]:
    source, followup = shrunk["source"], shrunk["followup"]
    yield size_of_smallest(shrunk)
    calls = "1 call" if shrunk["calls"] == 1 else f"{shrunk['calls']} calls"
    yield f"({shrunk['ended']}; {calls}; effect {shrunk['effect']:.4f})"
    parts: dict[str, Sequence[Line]] = {
        name: [(" ", text) for text in lines] for name, lines in _parts(source)
    }
    answers = _answer(source, seen=seen), _NO_ANSWER
    if followup is not None:
        found = changes(source, followup, most=MOST_CHANGES, around=None)
        parts |= {change.part: change.lines for change in found}
        other = _answer(followup, seen=seen)
        answers = other if alone else answers[0], other
        if not found:
            yield f"  {SAME}"
    for name, lines in parts.items():
        yield from _part(name, lines)
    yield from _answers(*answers, alone)
    yield from _wrote(source, followup)


def _parts(request: Mapping[str, Any]) -> Iterator[tuple[str, list[str]]]:
    rated = [f"{each['title']}: {float(each['rating']):g}" for each in request["history"]]
    yield "history", rated or [NOTHING]
    low, high = request["scale"]
    yield "scale", [f"{low:g} to {high:g}"]
    offered = request["candidates"]
    if offered is None:
        yield "candidates", [the_catalogue(request)]
    else:
        yield "candidates", [each["title"] for each in offered]
    yield "k", [str(request["k"])]
    if request["instruction"]:
        yield "instruction", request["instruction"].split("\n")
    if request["attributes"]:
        yield "attributes", [f"{key}: {value}" for key, value in request["attributes"].items()]


_Answer = tuple[Sequence[str], frozenset[int]]
"""The titles of an answer, and the places from 1 of those to mark as seen."""

_NO_ANSWER: _Answer = ((), frozenset())


def _answer(asked: Mapping[str, Any], *, seen: bool) -> _Answer:
    return asked["answer"], _seen(asked.get("kinds"), seen=seen)


def _seen(kinds: Sequence[str] | None, *, seen: bool) -> frozenset[int]:
    shown = enumerate(kinds_shown(kinds, seen=seen), 1)
    return frozenset(place for place, kind in shown if kind == "history")


def _answers(source: _Answer, followup: _Answer, alone: bool) -> Iterator[str]:
    if alone:
        titles, marked = source if source[0] else followup
        yield f"{'':4}answer"
        for place, title in enumerate(_lines(titles), 1):
            room = WIDTH - 4 - (len(SEEN) + 3) * (place in marked)
            yield f"{place:>3} {shorten(title, room)}{f' ({SEEN})' * (place in marked)}"
        return
    left, right = _lines(source[0]), _lines(followup[0])
    yield f"{'':4}{'source':<33}  follow-up"
    sides = (("source", source), ("follow-up", followup))
    for place, (old, new) in enumerate(zip_longest(left, right, fillvalue=""), 1):
        note = ""
        if new and new not in (old, NOTHING):
            note = f"was {left.index(new) + 1}" if new in left else "new"
        seen = [each for each, (_, marked) in sides if place in marked]
        line = f"{place:>3} {shorten(old, 33):<33}  {shorten(new, 33):<33}"
        yield f"{line} {note}".rstrip()
        if seen:
            yield f"{'':4}({' and '.join(seen)}: {SEEN})"


def _lines(titles: Sequence[str]) -> tuple[str, ...]:
    return tuple(map(one_line, titles)) or (NOTHING,)


def _wrote(*sides: Mapping[str, Any] | None) -> Iterator[str]:
    for name, side in zip(("source", "follow-up"), sides, strict=True):
        text = (side or {}).get("text")
        if not text:
            continue
        lines = [one_line(line) for line in text.split("\n") if line.strip()]
        yield f"  the model wrote ({name}):"
        for line in lines[:MOST_ROWS]:
            yield f"    {shorten(line, WIDTH - 4)}"
        if (further := len(lines) - MOST_ROWS) > 0:
            yield f"    … {_more(further)}"


def _more(lines: int) -> str:
    return f"{lines} more {'line' if lines == 1 else 'lines'}"
