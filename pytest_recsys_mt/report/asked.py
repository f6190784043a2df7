"""The requests behind an example, and its whole answers, as plain data
for the record.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pytest_recsys_mt.oracles.judging.examples import Shown
from pytest_recsys_mt.requests import Entry, Item, Message, Rating, Request
from pytest_recsys_mt.safety.sanitize import sanitize
from pytest_recsys_mt.verdict.verdict import Example

if TYPE_CHECKING:
    from pytest_recsys_mt.engine.counterexample import Counterexample

MOST_CHARACTERS = 20_000
"""Longest text of a model or a prompt that the record
keeps; a model may write without end.
"""

MOST_OF_A_FACT = 100
"""Longest value of an attribute; it may be an image."""

Differing = Mapping[str, frozenset[str]]
"""By the id of an item, the names of its attributes that differ between
two requests.
"""


def asked_of(example: Example) -> dict[str, object]:
    """Both sides of an example: the keys ``source`` and
    ``followup``, None for a side it lacks.
    """
    source = example.source_asked
    followup = example.followup_asked
    return asked(
        None if source is None else source.request,
        None if followup is None else followup.request,
        example,
    )


def replicates_of(example: Example) -> dict[str, list[dict[str, object]]]:
    """All answers to both requests of an example, by ``source`` and ``followup``; empty
    if no request has more than one.
    """
    sides: dict[str, list[dict[str, object]]] = {}
    for name, shown in (
        ("source", example.source_asked),
        ("followup", example.followup_asked),
    ):
        entries = [] if shown is None else shown.entries()
        sides[name] = [
            {"answer": list(titles), "kinds": list(kinds)} for titles, kinds in entries
        ]
    if all(len(answers) < 2 for answers in sides.values()):
        return {}
    return sides


def plain_requests(source: Request, followup: Request) -> tuple[dict[str, object], ...]:
    """Two requests without answers, as plain data for `report.changes`."""
    differing = _differing(source, followup)
    return _request(source, differing), _request(followup, differing)


def asked(
    source: Request | None,
    followup: Request | None,
    example: Example,
) -> dict[str, object]:
    """Like `asked_of`, for requests that may lack an answer in `example`."""
    differing = _differing(source, followup)
    answer = _answer(example.source, example.source_kinds, example.source_asked)
    other_answer = _answer(
        example.followup,
        example.followup_kinds,
        example.followup_asked,
    )
    sides: dict[str, object] = {"source": None, "followup": None}
    if source is not None:
        sides["source"] = _request(source, differing) | answer
    if followup is not None:
        sides["followup"] = _request(followup, differing) | other_answer
    return sides


def shrunk_of(found: Counterexample) -> dict[str, object]:
    """The smallest example of a violation: the keys of `asked`, and how
    it was found.
    """
    example = found.example
    whole = found.whole
    size_of_whole = {
        "history": len(whole.history),
        "candidates": None if whole.candidates is None else len(whole.candidates),
    }
    return {
        "user": example.user,
        "effect": found.effect,
        "score": example.score,
        "calls": found.calls,
        "minimal": found.minimal,
        "ended": found.ended,
        "whole": size_of_whole,
        **asked(found.source, found.followup, example),
    }


def _request(request: Request, differing: Differing) -> dict[str, object]:
    """A request, with the attributes of items that differ on the other side."""
    offered = None
    if request.candidates is not None:
        offered = [_item(item, differing) for item in request.candidates]
    return {
        "user": request.user,
        "history": [_rating(rating, differing) for rating in request.history],
        "scale": [float(request.scale.low), float(request.scale.high)],
        "candidates": offered,
        "seen": list(request.seen),
        "k": int(request.k),
        "instruction": request.instruction,
        "edits": [repr(edit) for edit in request.edits],
        "attributes": _facts(request.attributes),
    }


def _rating(rating: Rating, differing: Differing) -> dict[str, object]:
    """One entry of a history."""
    value = float(rating.value)
    timestamp = rating.timestamp
    return {
        **_item(rating.item, differing),
        # A relation may send nan, which JSON has not.
        "rating": value if math.isfinite(value) else str(value),
        "timestamp": None if timestamp is None else int(timestamp),
    }


def _item(item: Item, differing: Differing) -> dict[str, object]:
    """An item, with those of its attributes that differ on the other side."""
    plain: dict[str, object] = {"item": item.id, "title": item.label}
    names = differing.get(item.id)
    if names:
        attributes = {name: item.attributes.get(name) for name in sorted(names)}
        plain["attributes"] = _facts(attributes)
    return plain


def _facts(attributes: Mapping[str, Any]) -> dict[str, str]:
    """Attributes as texts, each cut to the longest that is kept."""
    facts = {}
    for key, value in attributes.items():
        facts[sanitize(str(key))] = str(value)[:MOST_OF_A_FACT]
    return facts


def _differing(source: Request | None, followup: Request | None) -> Differing:
    """The attributes that items in both requests have different values of; an item
    without any is left out.
    """
    if source is None or followup is None:
        return {}
    source_items = _items(source)
    followup_items = _items(followup)
    differing = {}
    for item_id in source_items.keys() & followup_items.keys():
        one = source_items[item_id].attributes
        other = followup_items[item_id].attributes
        if one != other:
            names = {*one, *other}
            differing[item_id] = frozenset(
                name for name in names if one.get(name) != other.get(name)
            )
    return differing


def _items(request: Request) -> dict[str, Item]:
    """The items of a request by their ids; of one both rated
    and offered, that which is offered.
    """
    items = {rating.item.id: rating.item for rating in request.history}
    items.update((item.id, item) for item in request.candidates or ())
    return items


def _answer(
    titles: Sequence[str],
    kinds: Sequence[str],
    shown: Shown | None,
) -> dict[str, object]:
    """The answer to a request; of a text model also the
    prompt and the text of the answer.
    """
    plain: dict[str, object] = {"answer": list(titles), "kinds": list(kinds)}
    if shown is None:
        return plain
    context = shown.context
    answer = shown.answer
    if context.thing:
        plain["thing"] = context.thing
    messages = context.messages(shown.request)
    is_of_text_model = messages or answer.text is not None or answer.entries
    if not is_of_text_model:
        return plain
    return {
        **plain,
        "prompt": [_message(message) for message in messages] or None,
        "text": None if answer.text is None else _cut(answer.text),
        "how": _cut(answer.how),
        "entries": [_entry(entry, context.items) for entry in answer.entries],
    }


def _message(message: Message) -> dict[str, object]:
    """A message of a prompt; of an image, the start of its digest."""
    plain: dict[str, object] = {"role": message.role, "content": _cut(message.content)}
    if message.images:
        digests = [
            hashlib.sha256(image.encode()).hexdigest() for image in message.images
        ]
        plain["images"] = [digest[:8] for digest in digests]
    return plain


def _entry(entry: Entry, items: Mapping[str, Item]) -> dict[str, object]:
    """A line of an answer, with the title of the item that it was read as."""
    item = None if entry.item is None else items.get(entry.item)
    return {
        "text": _cut(entry.text),
        "kind": entry.kind,
        "title": None if item is None else item.label,
    }


def _cut(text: str) -> str:
    further = len(text) - MOST_CHARACTERS
    if further <= 0:
        return text
    return f"{text[:MOST_CHARACTERS]}\n… {further:,} more characters"
