"""One call to a recommender: what it says as plain data, and the key under which its answer is stored."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import chain
from typing import Any, Generic, TypeVar

from pytest_recsys_mt.calls.causes import Purpose
from pytest_recsys_mt.errors import RelationError
from pytest_recsys_mt.requests import Edit, Item, Prompt, Rating, Request, Scale

AGAIN = 2**20
"""Replicates from this number on check whether answers changed; see `Call.again`."""


@dataclass(frozen=True, slots=True)
class Call:
    """One question as it is sent."""

    key: str
    content: Mapping[str, Any]  # all that the answer may depend on, as plain JSON data
    request: Request | None  # with its replicate number; None for a test's own prompt
    prompt: Prompt | None = None  # what a text model reads
    purpose: Purpose = field(default="request", compare=False)

    @property
    def again(self) -> bool:
        """Whether the question was asked before, and is repeated to check for changed answers."""
        return int(self.content["replicate"]) >= AGAIN

    def sent(self, **how: str) -> Call:
        """The same question, sent in a different way that the answer may depend on."""
        known = self.content
        content = known.sent(**how) if isinstance(known, Content) else {**known, **how}
        return replace(self, key=key_of(content), content=content)

    @property
    def label(self) -> str:
        """The user of the question, for messages."""
        user = "a prompt" if self.request is None else f"user {self.request.user!r}"
        return f"{user}, replicate {self.content['replicate']}"

    @property
    def summary(self) -> str:
        """The question in short, for debugging."""
        if self.request is None:
            return self.label
        offered = self.request.candidates
        what = "the whole catalogue" if offered is None else f"{len(offered)} candidates"
        return f"{self.label}: k={self.request.k}, {len(self.request.history)} ratings, {what}"


def key_of(content: Mapping[str, Any]) -> str:
    """SHA-256 of the canonical JSON of `content`, in hexadecimal."""
    text = content.text if isinstance(content, Content) else canonical(content)
    return hashlib.sha256(text.encode()).hexdigest()


SCHEMA = "recsys-mt-call/1"

Value = TypeVar("Value")


def canonical(value: Any) -> str:
    """`value` as JSON text, the same for equal values."""
    return _ENCODER.encode(value)


def _plain(value: object) -> dict[str, Any]:
    if isinstance(value, Content):
        return dict(value)
    raise TypeError(f"{value!r} is not plain data")


_ENCODER = json.JSONEncoder(sort_keys=True, separators=(",", ":"), allow_nan=False, default=_plain)


class Part:
    """Plain data that many contents share, with its canonical text."""

    __slots__ = ("text", "value")

    def __init__(self, value: Mapping[str, Any]) -> None:
        self.value = value
        self.text = canonical(value)


@dataclass(frozen=True, slots=True)
class Content(Mapping[str, Any]):
    """Everything that the answer to a request may depend on."""

    model: Part
    request: Request
    repeat: bool  # whether it is asked anew even if the same replicate was asked before
    how: tuple[tuple[str, str], ...] = ()  # ``asked`` and ``before``, if not as usual

    def __getitem__(self, name: str) -> Any:
        if name == "request":
            return plain_request(self.request)
        model, replicate = self.model.value, self.request.replicate
        rest = {"schema": SCHEMA, "model": model, "replicate": replicate, "repeat": self.repeat}
        return (rest | dict(self.how))[name]

    def __iter__(self) -> Iterator[str]:
        return chain(
            ("schema", "model", "request", "replicate", "repeat"), (name for name, _ in self.how)
        )

    def __len__(self) -> int:
        return 5 + len(self.how)

    def sent(self, **how: str) -> Content:
        """The same question, sent in a different way: ``asked`` and ``before``."""
        return replace(self, how=(*self.how, *how.items()))

    @property
    def text(self) -> str:
        """As `canonical` writes it."""
        how = "".join([f'"{name}":{canonical(how)},' for name, how in sorted(self.how)])
        return (
            f'{{{how}"model":{self.model.text},"repeat":{"true" if self.repeat else "false"},'
            f'"replicate":{self.request.replicate},"request":{_request_text(self.request)},'
            f'"schema":"{SCHEMA}"}}'
        )


def plain_request(request: Request) -> dict[str, Any]:
    """`request` as plain JSON data."""
    offered = request.candidates
    return {
        "user": request.user,
        "history": [
            [_plain_item(rating.item), rating.value, rating.timestamp] for rating in request.history
        ],
        "scale": [request.scale.low, request.scale.high],
        "candidates": None if offered is None else [_plain_item(item) for item in offered],
        "k": request.k,
        "instruction": request.instruction,
        "edits": [_plain_edit(edit) for edit in request.edits],
        "attributes": _plain_mapping(request.attributes),
        **({"seen": list(request.seen)} if request.seen else {}),
    }


@lru_cache(maxsize=2**16)  # the items of a catalogue stand in thousands of requests
def _plain_item(item: Item) -> list[Any]:
    return [item.id, item.title, item.year, _plain_mapping(item.attributes)]


def _plain_mapping(mapping: Mapping[str, Any]) -> dict[str, Any]:
    return {str(key): mapping[key] for key in mapping}


def _plain_edit(edit: Edit) -> dict[str, Any]:
    if not dataclasses.is_dataclass(edit) or isinstance(edit, type):
        raise RelationError(
            f"the prompt edit {edit!r} is not a dataclass, so its answers cannot be distinguished from those "
            f"of other edits; make it a frozen dataclass with plain fields"
        )
    return {"edit": type(edit).__qualname__, **dataclasses.asdict(edit)}


class _Same(Generic[Value]):
    """Equal only for the very same object: faster than comparing, and an item's attributes have no hash."""

    __slots__ = ("value",)

    def __init__(self, value: Value) -> None:
        self.value = value

    def __hash__(self) -> int:
        return id(self.value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and self.value is other.value


def _once(
    most: int, fixed: Callable[[Any], bool] = lambda value: True
) -> Callable[[Callable[[Value], str]], Callable[[Value], str]]:
    """Write the text of an object once, and keep the latest `most`; an object that is not `fixed` is written each time."""

    def of(write: Callable[[Value], str]) -> Callable[[Value], str]:
        kept = lru_cache(most)(lambda same: write(same.value) if fixed(same.value) else "")
        return lambda value: kept(_Same(value)) or write(value)

    return of


@_once(2**16, lambda item: item.fixed)
def _item_text(item: Item) -> str:
    return canonical(_plain_item(item))


@_once(2**16, lambda rating: rating.item.fixed)
def _rating_text(rating: Rating) -> str:
    return (
        f"[{_item_text(rating.item)},{_number_text(rating.value)},{_number_text(rating.timestamp)}]"
    )


def _number_text(value: float | None) -> str:
    """A number as `canonical` writes it, which is far slower for so short a text."""
    if value is None:
        return "null"
    if value.__class__ is int or (value.__class__ is float and math.isfinite(value)):
        return repr(value)
    return canonical(value)


@_once(2**10, lambda history: all(rating.item.fixed for rating in history))
def _history_text(history: tuple[Rating, ...]) -> str:
    return f"[{','.join(map(_rating_text, history))}]"


@_once(2**10, lambda offered: all(item.fixed for item in offered or ()))
def _candidates_text(candidates: tuple[Item, ...] | None) -> str:
    return "null" if candidates is None else f"[{','.join(map(_item_text, candidates))}]"


@_once(2**6)
def _scale_text(scale: Scale) -> str:
    return canonical([scale.low, scale.high])


@_once(2**10)
def _seen_text(seen: tuple[str, ...]) -> str:
    return f',"seen":{canonical(seen)}' if seen else ""


def request_digest(request: Request) -> str:
    """SHA-256 of all that a request says, but for the number of its call, in hexadecimal."""
    return hashlib.sha256(_request_text(request).encode()).hexdigest()


def _request_text(request: Request) -> str:
    return (
        f'{{"attributes":{canonical(_plain_mapping(request.attributes)) if request.attributes else "{}"},'
        f'"candidates":{_candidates_text(request.candidates)},'
        f'"edits":{canonical([_plain_edit(edit) for edit in request.edits]) if request.edits else "[]"},'
        f'"history":{_history_text(request.history)},'
        f'"instruction":{canonical(request.instruction)},'
        f'"k":{request.k if request.k.__class__ is int else canonical(request.k)},'
        f'"scale":{_scale_text(request.scale)}'
        f"{_seen_text(request.seen)},"
        f'"user":{canonical(request.user)}}}'
    )
