"""The evidence below a failed test, from its row of the record: what was asked and changed, and both answers."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from textwrap import wrap
from typing import Any

from pytest_recsys_mt.gate.document import Example, Row
from pytest_recsys_mt.report.changes import SAME, called, changes, the_catalogue
from pytest_recsys_mt.report.diffs import DIFFERING, Line
from pytest_recsys_mt.report.seen import SEEN, is_about_seen, kinds_shown
from pytest_recsys_mt.report.short_names import shorten
from pytest_recsys_mt.safety.sanitize import one_line
from pytest_recsys_mt.verdict.verdict import AGAINST, DECLARES, SHARED

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
    """What a reader needs to see why a row does not hold.

    These are what its changed answers share, its smallest example, or without one some of its users.

    Args:
        row: The row.
        where: The file with every request in full; an option that writes one if it is empty.

    Returns:
        Lines of 80 columns.
    """
    shrunk = row.get("shrunk")
    users = _users_of(row)
    alone = is_of_one_side(row)
    seen = is_about_seen(row)
    lines: list[str] = []
    users_left = len(users)
    if shrunk is not None:
        lines += ["", *_smallest(shrunk, alone, seen=seen)]
    else:
        for example in users:
            block = list(_user(example, alone, seen=seen))
            if lines and len(lines) + len(block) > MOST_LINES:
                break
            lines += ["", *block]
            users_left -= 1
    is_shortened = any("… " in line for line in lines)
    if users_left or is_shortened:
        more = ""
        if users_left:
            noun = "user" if users_left == 1 else "users"
            more = f"{users_left} more {noun}, and "
        lines += ["", f"({more}every request in full: {where or '--recsys-html=report.html'})"]
    excuse = _excuse(row)
    if excuse:
        lines += ["", *wrap(excuse, WIDTH - 1)]
    shared = wrap(one_line(shared_of(row)), WIDTH - 1)
    if shared:
        lines = ["", *shared, *lines]
    against = (row.get("details") or {}).get(AGAINST)
    if isinstance(against, str):
        who = f"source: {row['model']}; follow-up: {against}"
        if row["floor"] is not None and row["floor"] < 1:
            who += " (if one of them varies more than the other, that alone loses agreement)"
        lines = ["", *wrap(one_line(who), WIDTH - 1), *lines]
    return lines


def _excuse(row: Row) -> str:
    """What a recommender declares that is meant to answer so; empty if nothing excuses it."""
    details = row.get("details") or {}
    declares = details.get(DECLARES)
    if not isinstance(declares, str):
        return ""
    return f"If it is meant to answer so, it declares: {one_line(declares)}"


def _users_of(row: Row) -> list[Example]:
    """The examples of a row for its evidence, beside its smallest one."""
    users = [example for example in row["examples"] if not example.get("keeps")]
    if not users:  # all of them keep the promise
        users = row["examples"][:1]
    shrunk = row.get("shrunk")
    if shrunk is not None:
        users = [example for example in users if example["user"] != shrunk["user"]]
    if row.get("joint"):  # the number is one of all users together: no user's answer explains it
        users = users[:1]
    return users


def shared_of(row: Row) -> str:
    """What the changed answers of a row share, in words; empty if nothing was found."""
    details = row.get("details") or {}
    shared = details.get(SHARED)
    text = shared.get("text") if isinstance(shared, Mapping) else None
    return text if isinstance(text, str) else ""


def example_of(row: Row) -> list[str]:
    """The smallest example of a row, without how it was found, else its first user, in such lines."""
    alone = is_of_one_side(row)
    seen = is_about_seen(row)
    shrunk = row.get("shrunk")
    if shrunk is not None:
        size, _how_found, *parts = _smallest(shrunk, alone, seen=seen)
        return [size, *parts]
    if not row["examples"]:
        return []
    return list(_user(row["examples"][0], alone, seen=seen))


def is_of_one_side(row: Row) -> bool:
    """Whether a verdict is on the answers of one side: of the source or of the follow-up."""
    if not row["relation"]:
        return True
    for example in row.get("examples") or []:
        if example["source"] or example.get("score") is not None:
            return False
    return True


def _user(example: Example, alone: bool, *, seen: bool) -> Iterator[str]:
    """The lines of one user: what changed in the request, and the answers."""
    score = example.get("score")
    agreement = "" if score is None else f", agreement {score:.2f}"
    yield f"user {one_line(example['user'])}{agreement}"
    asked = example.get("asked") or {}
    source = asked.get("source")
    followup = asked.get("followup")
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
    all_changes = changes(source, followup, most=MOST_CHANGES)
    prompt_changes = [change for change in all_changes if change.part == "prompt"]
    for change in prompt_changes or all_changes:
        yield from _part(change.part, change.lines)
    if not all_changes:
        yield f"  {SAME}"


def _part(name: str, lines: Sequence[Line]) -> Iterator[str]:
    """The diff of one part of a request, with its name before the first line."""
    rows = []
    for mark, text in lines[:MOST_OF_A_PART]:
        rows += _rows(mark, text)
    further = len(lines) - MOST_OF_A_PART
    if further > 0:
        rows.append(f"… {_more(further)}")
    if any(DIFFERING in text for mark, text in lines if mark in "-+"):
        rows.append(f"  ({DIFFERING} is a blank that differs)")
    for label, text in zip_longest([name], rows, fillvalue=""):
        yield f"  {label:<{LABEL}}{text}".rstrip()


def _rows(mark: str, text: str) -> list[str]:
    """One line of a diff, wrapped to the width that its part leaves."""
    room = WIDTH - LABEL - 4
    lines = wrap(text, room, drop_whitespace=False, break_on_hyphens=False) or [""]
    if len(lines) > MOST_ROWS:
        further = sum(len(line) for line in lines[MOST_ROWS:])
        lines[MOST_ROWS:] = [f"… {further:,} more characters"]
    rows = [f"{mark} {lines[0]}".rstrip()]
    for line in lines[1:]:
        rows.append(f"  {line.strip()}")
    return rows


def size_of_smallest(shrunk: Mapping[str, Any]) -> str:
    """Whose smallest example it is, and what is left of the request, in a line."""
    source = shrunk["source"]
    whole = shrunk["whole"]
    what = f"{called(source)} of the history" if source.get("thing") else "history items"
    size = f"{len(source['history'])} of {whole['history']} {what}"
    if whole["candidates"] is not None and source["candidates"] is not None:
        size += f", {len(source['candidates'])} of {whole['candidates']} candidates"
    return f"smallest example: user {one_line(shrunk['user'])}, {size}"


def _smallest(shrunk: Mapping[str, Any], alone: bool, *, seen: bool) -> Iterator[str]:
    """The lines of a smallest example: its size, how it was found, its request and the answers."""
    source = shrunk["source"]
    followup = shrunk["followup"]
    yield size_of_smallest(shrunk)
    calls = "1 call" if shrunk["calls"] == 1 else f"{shrunk['calls']} calls"
    yield f"({shrunk['ended']}; {calls}; effect {shrunk['effect']:.4f})"
    lines_of_part: dict[str, Sequence[Line]] = {}
    for name, texts in _parts(source):
        lines_of_part[name] = [(" ", text) for text in texts]
    source_answer = _answer(source, seen=seen)
    followup_answer = _NO_ANSWER
    if followup is not None:
        differing = changes(source, followup, most=MOST_CHANGES, around=None)
        for change in differing:
            lines_of_part[change.part] = change.lines
        followup_answer = _answer(followup, seen=seen)
        if alone:  # the verdict is on the answer to the follow-up
            source_answer = followup_answer
        if not differing:
            yield f"  {SAME}"
    for name, lines in lines_of_part.items():
        yield from _part(name, lines)
    yield from _answers(source_answer, followup_answer, alone)
    yield from _wrote(source, followup)


def _parts(request: Mapping[str, Any]) -> Iterator[tuple[str, list[str]]]:
    """The parts of a request that a smallest example shows even where they did not change."""
    rated = [f"{entry['title']}: {float(entry['rating']):g}" for entry in request["history"]]
    yield "history", rated or [NOTHING]
    low, high = request["scale"]
    yield "scale", [f"{low:g} to {high:g}"]
    candidates = request["candidates"]
    if candidates is None:
        yield "candidates", [the_catalogue(request)]
    else:
        yield "candidates", [item["title"] for item in candidates]
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
    """The places, from 1, of the items that the history shows, if the row is about them."""
    places = enumerate(kinds_shown(kinds, seen=seen), 1)
    return frozenset(place for place, kind in places if kind == "history")


def _answers(source: _Answer, followup: _Answer, alone: bool) -> Iterator[str]:
    """Both answers beside each other; of a verdict on one side its answer alone."""
    if alone:
        source_titles, _ = source
        yield from _one_answer(source if source_titles else followup)
    else:
        yield from _two_answers(source, followup)


def _one_answer(answer: _Answer) -> Iterator[str]:
    titles, seen_places = answer
    yield f"{'':4}answer"
    for place, title in enumerate(_lines(titles), 1):
        note = f" ({SEEN})" if place in seen_places else ""
        room = WIDTH - 4 - len(note)
        yield f"{place:>3} {shorten(title, room)}{note}"


def _two_answers(source: _Answer, followup: _Answer) -> Iterator[str]:
    source_titles, seen_in_source = source
    followup_titles, seen_in_followup = followup
    left = _lines(source_titles)
    right = _lines(followup_titles)
    yield f"{'':4}{'source':<33}  follow-up"
    for place, (old, new) in enumerate(zip_longest(left, right, fillvalue=""), 1):
        note = ""
        if new and new not in (old, NOTHING):
            note = f"was {left.index(new) + 1}" if new in left else "new"
        line = f"{place:>3} {shorten(old, 33):<33}  {shorten(new, 33):<33}"
        yield f"{line} {note}".rstrip()
        sides_with_seen = []
        if place in seen_in_source:
            sides_with_seen.append("source")
        if place in seen_in_followup:
            sides_with_seen.append("follow-up")
        if sides_with_seen:
            yield f"{'':4}({' and '.join(sides_with_seen)}: {SEEN})"


def _lines(titles: Sequence[str]) -> tuple[str, ...]:
    if not titles:
        return (NOTHING,)
    return tuple(one_line(title) for title in titles)


def _wrote(source: Mapping[str, Any] | None, followup: Mapping[str, Any] | None) -> Iterator[str]:
    """What a text model wrote on each side, in few lines."""
    for name, side in (("source", source), ("follow-up", followup)):
        text = None if side is None else side.get("text")
        if not text:
            continue
        lines = [one_line(line) for line in text.split("\n") if line.strip()]
        yield f"  the model wrote ({name}):"
        for line in lines[:MOST_ROWS]:
            yield f"    {shorten(line, WIDTH - 4)}"
        further = len(lines) - MOST_ROWS
        if further > 0:
            yield f"    … {_more(further)}"


def _more(lines: int) -> str:
    noun = "line" if lines == 1 else "lines"
    return f"{lines} more {noun}"
