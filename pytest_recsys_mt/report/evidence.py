"""The evidence below a failed test, from its row of the record: the request, its
changes, and both answers.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from textwrap import wrap
from typing import Any

from pytest_recsys_mt.gate.document import Example, Row
from pytest_recsys_mt.report.answers_in_lines import (
    NOTHING,
    WIDTH,
    Answer,
    answer_of,
    lines_of_answers,
    lines_written,
    more_lines,
)
from pytest_recsys_mt.report.changes import SAME, called, changes, the_catalogue
from pytest_recsys_mt.report.diffs import DIFFERING, Line
from pytest_recsys_mt.report.seen import is_about_seen
from pytest_recsys_mt.safety.sanitize import one_line
from pytest_recsys_mt.verdict.verdict import AGAINST, DECLARES, SHARED

LABEL = 12
"""Columns of the name of a part."""

MOST_LINES = 40
"""Further users are shown while all is not longer; the first
is shown if there is no smallest example.
"""

MOST_CHANGES = 3
"""Changes shown of each part of a request."""

MOST_OF_A_PART = 9
"""Lines shown of one part of a request."""

MOST_ROWS = 3
"""Rows that one long line takes."""


def evidence(row: Row, where: str = "") -> list[str]:
    """The facts that show why a row does not hold.

    These are the common property of its changed answers, its smallest example, or
    without one some of its users.

    Args:
        row: The row.
        where: The file with every request in full; an option that writes one if it is
            empty.

    Returns:
        Lines of 80 columns.
    """
    lines, users_left = _examples(row)
    is_shortened = any("… " in line for line in lines)
    if users_left or is_shortened:
        lines += ["", _where_the_rest_is(users_left, where)]
    excuse = wrap(_excuse(row), WIDTH - 1)
    if excuse:
        lines += ["", *excuse]
    # Sentences on the whole row stand above its examples.
    shared = wrap(one_line(shared_of(row)), WIDTH - 1)
    if shared:
        lines = ["", *shared, *lines]
    compared = wrap(one_line(_two_recommenders(row)), WIDTH - 1)
    if compared:
        lines = ["", *compared, *lines]
    return lines


def _examples(row: Row) -> tuple[list[str], int]:
    """The lines of the smallest example, or without one of some
    users, and how many users are left out.
    """
    users = _users_of(row)
    alone = is_of_one_side(row)
    seen = is_about_seen(row)
    shrunk = row.get("shrunk")
    if shrunk is not None:
        return ["", *_smallest(shrunk, alone, seen=seen)], len(users)
    lines: list[str] = []
    for shown, example in enumerate(users):
        block = list(_user(example, alone, seen=seen))
        # The first one is shown however long it is.
        if lines and len(lines) + len(block) > MOST_LINES:
            return lines, len(users) - shown
        lines += ["", *block]
    return lines, 0


def _where_the_rest_is(users_left: int, where: str) -> str:
    """How many users are not shown, and the file that has them and every request."""
    more = ""
    if users_left:
        noun = "user" if users_left == 1 else "users"
        more = f"{users_left} more {noun}, and "
    file = where or "--recsys-html=report.html"
    return f"({more}every request in full: {file})"


def _two_recommenders(row: Row) -> str:
    """Which recommender answered which side; empty if one answered both."""
    details = row.get("details") or {}
    against = details.get(AGAINST)
    if not isinstance(against, str):
        return ""
    who = f"source: {row['model']}; follow-up: {against}"
    if row["floor"] is not None and row["floor"] < 1:
        who += (
            " (if one of them varies more than the other, that alone loses agreement)"
        )
    return who


def _excuse(row: Row) -> str:
    """The declaration by which a recommender is meant to
    answer so; empty if there is none.
    """
    details = row.get("details") or {}
    declares = details.get(DECLARES)
    if not isinstance(declares, str):
        return ""
    return f"If it is meant to answer so, it declares: {one_line(declares)}"


def _users_of(row: Row) -> list[Example]:
    """The examples of a row for its evidence, other than its smallest one."""
    users = [example for example in row["examples"] if not example.get("keeps")]
    if not users:  # all of them keep the promise
        users = row["examples"][:1]
    shrunk = row.get("shrunk")
    if shrunk is not None:
        users = [example for example in users if example["user"] != shrunk["user"]]
    if row.get(
        "joint",
    ):  # the number is one of all users together: no user's answer explains it
        users = users[:1]
    return users


def shared_of(row: Row) -> str:
    """The common property of a row's changed answers, in words; empty if none was
    found.
    """
    details = row.get("details") or {}
    shared = details.get(SHARED)
    text = shared.get("text") if isinstance(shared, Mapping) else None
    return text if isinstance(text, str) else ""


def example_of(row: Row) -> list[str]:
    """The smallest example of a row, without how it was
    found, else its first user, in such lines.
    """
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
    """Whether a verdict is on the answers of one side:
    of the source or of the follow-up.
    """
    if not row["relation"]:
        return True
    for example in row.get("examples") or []:
        if example["source"] or example.get("score") is not None:
            return False
    return True


def _user(example: Example, alone: bool, *, seen: bool) -> Iterator[str]:
    """The lines of one user: the changes of the request, and the answers."""
    score = example.get("score")
    agreement = "" if score is None else f", agreement {score:.2f}"
    yield f"user {one_line(example['user'])}{agreement}"
    asked = example.get("asked") or {}
    source = asked.get("source")
    followup = asked.get("followup")
    if source is not None and followup is not None:
        yield from changed(source, followup)
    source_answer = answer_of(example["source"], example.get("source_kinds"), seen=seen)
    followup_answer = answer_of(
        example["followup"],
        example.get("followup_kinds"),
        seen=seen,
    )
    yield from lines_of_answers(source_answer, followup_answer, alone=alone)
    yield from lines_written(source, followup)


def changed(source: Mapping[str, Any], followup: Mapping[str, Any]) -> Iterator[str]:
    """The differences between two requests; of those to a text model, between its
    prompts.

    Args:
        source: The request of the source, as `report.asked` has it.
        followup: The same of the follow-up.
    """
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
        rows.append(f"… {more_lines(further)}")
    differing = [text for mark, text in lines if mark in "-+"]
    if any(DIFFERING in text for text in differing):
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
    """Whose smallest example it is, and the size of the remaining
    request, in a line.
    """
    source = shrunk["source"]
    whole = shrunk["whole"]
    entries = (
        f"{called(source)} of the history" if source.get("thing") else "history items"
    )
    size = f"{len(source['history'])} of {whole['history']} {entries}"
    candidates = source["candidates"]
    if whole["candidates"] is not None and candidates is not None:
        size += f", {len(candidates)} of {whole['candidates']} candidates"
    user = one_line(shrunk["user"])
    return f"smallest example: user {user}, {size}"


def _smallest(shrunk: Mapping[str, Any], alone: bool, *, seen: bool) -> Iterator[str]:
    """The lines of a smallest example: its size, how it was
    found, its request and the answers.
    """
    source = shrunk["source"]
    followup = shrunk["followup"]
    yield size_of_smallest(shrunk)
    calls = "1 call" if shrunk["calls"] == 1 else f"{shrunk['calls']} calls"
    yield f"({shrunk['ended']}; {calls}; effect {shrunk['effect']:.4f})"
    lines_of_part: dict[str, Sequence[Line]] = {}
    for name, texts in _parts(source):
        lines_of_part[name] = [(" ", text) for text in texts]
    source_answer = _answer(source, seen=seen)
    followup_answer = Answer()
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
    yield from lines_of_answers(source_answer, followup_answer, alone=alone)
    yield from lines_written(source, followup)


def _answer(asked: Mapping[str, Any], *, seen: bool) -> Answer:
    return answer_of(asked["answer"], asked.get("kinds"), seen=seen)


def _parts(request: Mapping[str, Any]) -> Iterator[tuple[str, list[str]]]:
    """The parts of a request that a smallest example
    shows even where they did not change.
    """
    rated = []
    for entry in request["history"]:
        rating = float(entry["rating"])
        rated.append(f"{entry['title']}: {rating:g}")
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
        yield (
            "attributes",
            [f"{key}: {value}" for key, value in request["attributes"].items()],
        )
