"""The requests behind an example, and its whole answers, as plain data for the record."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pytest_recsys_mt.oracles.judging.examples import Shown
from pytest_recsys_mt.requests import Entry, Item, Message, Request
from pytest_recsys_mt.safety.sanitize import sanitize
from pytest_recsys_mt.verdict.verdict import Example

if TYPE_CHECKING:
    from pytest_recsys_mt.engine.counterexample import Counterexample

MOST_CHARACTERS = 20_000
"""Longest text of a model or a prompt that the record keeps; a model may write without end."""

MOST_OF_A_FACT = 100
"""Longest value of an attribute; it may be an image."""


def asked_of(example: Example) -> dict[str, object]:
    """Both sides of an example: the keys ``source`` and ``followup``, None for a side it lacks."""
    source, followup = (
        None if each is None else each.request
        for each in (example.source_asked, example.followup_asked)
    )
    return asked(source, followup, example)


def plain_requests(source: Request, followup: Request) -> tuple[dict[str, object], ...]:
    """Two requests without answers, as plain data for `report.changes`."""
    differing = _differing(source, followup)
    return tuple(_request(each, differing) for each in (source, followup))


def asked(source: Request | None, followup: Request | None, example: Example) -> dict[str, object]:
    """Like `asked_of`, for requests that may lack an answer in `example`."""
    differing = _differing(source, followup)
    answer = _answer(example.source, example.source_kinds, example.source_asked)
    other = _answer(example.followup, example.followup_kinds, example.followup_asked)
    return {
        name: None if request is None else {**_request(request, differing), **told}
        for name, request, told in (("source", source, answer), ("followup", followup, other))
    }


def shrunk_of(found: Counterexample) -> dict[str, object]:
    """The smallest example of a violation: the keys of `asked`, and how it was found."""
    example, whole = found.example, found.whole
    return {
        "user": example.user,
        "effect": found.effect,
        "score": example.score,
        "calls": found.calls,
        "minimal": found.minimal,
        "ended": found.ended,
        "whole": {
            "history": len(whole.history),
            "candidates": None if whole.candidates is None else len(whole.candidates),
        },
        **asked(found.source, found.followup, example),
    }


def _request(request: Request, differing: Mapping[str, frozenset[str]]) -> dict[str, object]:
    offered = request.candidates
    return {
        "user": request.user,
        "history": [
            {
                **_item(rating.item, differing),
                # A relation may send nan, which JSON has not.
                "rating": value if math.isfinite(value := float(rating.value)) else str(value),
                "timestamp": None if rating.timestamp is None else int(rating.timestamp),
            }
            for rating in request.history
        ],
        "scale": [float(request.scale.low), float(request.scale.high)],
        "candidates": None if offered is None else [_item(item, differing) for item in offered],
        "seen": list(request.seen),
        "k": int(request.k),
        "instruction": request.instruction,
        "edits": [repr(edit) for edit in request.edits],
        "attributes": _facts(request.attributes),
    }


def _item(item: Item, differing: Mapping[str, frozenset[str]]) -> dict[str, object]:
    told: dict[str, object] = {"item": item.id, "title": item.label}
    facts = {name: item.attributes.get(name) for name in sorted(differing.get(item.id, ()))}
    return {**told, "attributes": _facts(facts)} if facts else told


def _facts(attributes: Mapping[str, Any]) -> dict[str, str]:
    return {sanitize(str(key)): str(attributes[key])[:MOST_OF_A_FACT] for key in attributes}


def _differing(source: Request | None, followup: Request | None) -> dict[str, frozenset[str]]:
    if source is None or followup is None:
        return {}
    ours, theirs = _items(source), _items(followup)
    found = {}
    for key in ours.keys() & theirs.keys():
        one, other = ours[key].attributes, theirs[key].attributes
        if one != other:
            names = frozenset(name for name in {*one, *other} if one.get(name) != other.get(name))
            found[key] = names
    return found


def _items(request: Request) -> dict[str, Item]:
    return {
        item.id: item
        for item in (*(rating.item for rating in request.history), *(request.candidates or ()))
    }


def _answer(titles: Sequence[str], kinds: Sequence[str], shown: Shown | None) -> dict[str, object]:
    told: dict[str, object] = {"answer": list(titles), "kinds": list(kinds)}
    if shown is None:
        return told
    if thing := shown.context.thing:
        told["thing"] = thing
    messages, text = shown.context.messages(shown.request), shown.answer.text
    if not messages and text is None and not shown.answer.entries:
        return told  # no text model
    return {
        **told,
        "prompt": [_message(message) for message in messages] or None,
        "text": None if text is None else _cut(text),
        "how": _cut(shown.answer.how),
        "entries": [_entry(entry, shown.context.items) for entry in shown.answer.entries],
    }


def _message(message: Message) -> dict[str, object]:
    told: dict[str, object] = {"role": message.role, "content": _cut(message.content)}
    if message.images:
        told["images"] = [
            hashlib.sha256(image.encode()).hexdigest()[:8] for image in message.images
        ]
    return told


def _entry(entry: Entry, items: Mapping[str, Item]) -> dict[str, object]:
    known = None if entry.item is None else items.get(entry.item)
    title = None if known is None else known.label
    return {"text": _cut(entry.text), "kind": entry.kind, "title": title}


def _cut(text: str) -> str:
    further = len(text) - MOST_CHARACTERS
    return text if further <= 0 else f"{text[:MOST_CHARACTERS]}\n… {further:,} more characters"
