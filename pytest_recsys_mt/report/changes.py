"""The differences between a request and its follow-up, as
`report.asked` has them: a diff of each part.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from pytest_recsys_mt.report.diffs import (
    Entry,
    Hunk,
    Line,
    folded,
    is_change,
    list_diff,
    text_diff,
)
from pytest_recsys_mt.requests.nouns import plural

SAME = "the same request on both sides"
"""The text if nothing differs."""

AROUND = 1
"""Unchanged lines shown before and after a change."""


class Change(NamedTuple):
    """The diff of one part of a request."""

    part: str
    lines: tuple[Line, ...]


def changes(
    source: Mapping[str, Any],
    followup: Mapping[str, Any],
    *,
    most: int | None = None,
    around: int | None = AROUND,
) -> list[Change]:
    """The parts of a request that differ, in the order of `report.asked`.

    An item that only changed its place has one line, marked "+", which says from where
    it moved.

    Args:
        source: The request.
        followup: The changed request.
        most: How many changes of each part are shown; None for all.
        around: How many unchanged lines are shown before and after each change; None
            for all.
    """
    found = []
    for part, hunks in _parts(source, followup):
        if any(is_change(hunk) for hunk in hunks):
            found.append(Change(part, tuple(folded(hunks, most, around))))
    return found


def _parts(
    source: Mapping[str, Any],
    followup: Mapping[str, Any],
) -> Iterator[tuple[str, list[Hunk]]]:
    """The diff of each part of a request, in the order in which they are shown."""

    def plain(lines_of: Any, part: str) -> list[Hunk]:
        """The diff of a part whose lines are entries of a list."""
        old = [(text, text) for text in lines_of(source.get(part))]
        new = [(text, text) for text in lines_of(followup.get(part))]
        return list_diff(old, new)

    # If one side has the whole catalogue to choose from, the items of the other are
    # only counted.
    is_open = source.get("candidates") is None or followup.get("candidates") is None
    yield "user", plain(_some, "user")
    yield "history", _history_diff(source, followup)
    yield "scale", plain(_scale, "scale")
    yield (
        "candidates",
        list_diff(_offered(source, is_open), _offered(followup, is_open)),
    )
    yield "seen", plain(_listed, "seen")
    yield "k", plain(_some, "k")
    yield (
        "instruction",
        text_diff(
            _lines(source.get("instruction")),
            _lines(followup.get("instruction")),
        ),
    )
    yield "edits", plain(_listed, "edits")
    yield "attributes", plain(_facts, "attributes")
    yield (
        "prompt",
        text_diff(_messages(source.get("prompt")), _messages(followup.get("prompt"))),
    )


def _history_diff(source: Mapping[str, Any], followup: Mapping[str, Any]) -> list[Hunk]:
    old = _rated(source, with_times=False)
    new = _rated(followup, with_times=False)
    if old == new:  # times are shown if anything else of the history is the same
        old = _rated(source, with_times=True)
        new = _rated(followup, with_times=True)
    return list_diff(old, new)


def _some(value: object) -> list[str]:
    return [] if value in (None, "") else [str(value)]


def _listed(values: Sequence[str] | None) -> Sequence[str]:
    return values or []


def _lines(text: object) -> list[str]:
    return str(text).split("\n") if text else []


def _scale(scale: Sequence[float] | None) -> list[str]:
    return [f"{scale[0]:g} to {scale[1]:g}"] if scale else []


def _facts(attributes: Mapping[str, Any] | None) -> list[str]:
    return [f"{key}: {value}" for key, value in (attributes or {}).items()]


def _messages(prompt: Sequence[Mapping[str, Any]] | None) -> list[str]:
    """The lines of a prompt; of several messages each with its role above."""
    messages = prompt or ()
    lines = []
    for message in messages:
        if len(messages) > 1:
            lines.append(f"[{message['role']}]")
        for image in message.get("images") or ():
            lines.append(f"[image {image}]")
        lines += str(message["content"]).split("\n")
    return lines


def _rated(side: Mapping[str, Any], *, with_times: bool) -> list[Entry]:
    """The entries of a history: each item with its rating, and
    with the time of the rating if wanted.
    """
    entries: list[Entry] = []
    for rated in side.get("history") or []:
        text = f"{_title(rated)}: {float(rated['rating']):.10g}"
        if with_times:
            text += f", at {rated.get('timestamp')}"
        entries.append((rated["item"], text))
    return entries


def _title(item: Mapping[str, Any]) -> str:
    """The title of an item, else its id, with its attributes if it has any."""
    title = str(item.get("title") or item["item"])
    attributes = item.get("attributes")
    if attributes:
        title += f" {{{', '.join(_facts(attributes))}}}"
    return title


def _offered(side: Mapping[str, Any], is_open: bool) -> list[Entry]:
    """The entries of the candidates; one line for all of them
    if the question `is_open` on a side.
    """
    candidates = side.get("candidates")
    if candidates is None:
        return [(None, the_catalogue(side))]
    if is_open:
        return [(None, f"{len(candidates)} {called(side)}")]
    return [(item["item"], _title(item)) for item in candidates]


def called(side: Mapping[str, Any], count: int = 2) -> str:
    """The name of so many items of the data."""
    thing = str(side.get("thing") or "item")
    return thing if count == 1 else plural(thing)


def the_catalogue(side: Mapping[str, Any]) -> str:
    """The items from which an open question lets a recommender
    choose, except those of its history.
    """
    seen = len(side.get("seen") or ())
    if not seen:
        return "the whole catalogue"
    return f"the whole catalogue but {seen} more {called(side, seen)} that the user has"
