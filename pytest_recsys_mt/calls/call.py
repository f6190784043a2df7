"""One call to a recommender: its content as plain data, and
the key under which its answer is stored.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, Literal, TypeVar, get_args

from pytest_recsys_mt.requests import Edit, Item, Prompt, Rating, Request, Scale
from pytest_recsys_mt.safety.errors import RelationError

Purpose = Literal[
    "source", "follow-up", "request", "question", "judge", "profile", "sample", "counterexample",
    "control", "again", "retry",
]  # fmt: skip
"""Why a call is sent.

* ``source``, ``follow-up``: a side of a relation, unchanged or transformed.
* ``request``, ``question``: the calls that a test itself sends: `Recsys.ask`, and `Texts.complete` with its own prompts.
* ``judge``, ``profile``: a language model compares lists, or describes users.
* ``sample``: a recommender helps to draw users or candidates.
* ``counterexample``: the search for the smallest example.
* ``control``: a relation that changes as much as possible shows what the recommender reads.
* ``again``: a question once more, to see whether answers changed.
* ``retry``: a failed call once more.
"""

SEARCH: Purpose = "counterexample"
CONTROL: Purpose = "control"

COUNTED_APART = (SEARCH, CONTROL)
"""Purposes other than the tests' own: they are counted apart,
because no status depends on their answers.
"""

PURPOSES: tuple[Purpose, ...] = get_args(Purpose)

AGAIN = 2**20
"""Replicates from this number on check whether answers changed; see `Call.again`."""


@dataclass(frozen=True, slots=True)
class Call:
    """One question as it is sent.

    Attributes:
        key: Under which its answer is stored; see `key_of`.
        content: All that the answer may depend on, as plain JSON data.
        request: The request with its replicate number; None for a test's own prompt.
        prompt: The prompt of a text model; None for other recommenders.
        purpose: Why it is sent.
    """

    key: str
    content: Mapping[str, Any]
    request: Request | None
    prompt: Prompt | None = None
    purpose: Purpose = field(default="request", compare=False)

    @property
    def again(self) -> bool:
        """Whether the question was sent before, and is
        repeated to check for changed answers.
        """
        return int(self.content["replicate"]) >= AGAIN

    def sent(self, **how: str) -> Call:
        """The same question, sent in a different way that the answer may depend on."""
        content: Mapping[str, Any]
        if isinstance(self.content, Content):
            content = self.content.sent(**how)
        else:
            content = {**self.content, **how}
        return replace(self, key=key_of(content), content=content)

    @property
    def label(self) -> str:
        """The user of the question, for messages."""
        replicate = self.content["replicate"]
        if self.request is None:
            return f"a prompt, replicate {replicate}"
        return f"user {self.request.user!r}, replicate {replicate}"

    @property
    def summary(self) -> str:
        """The question in short, for debugging."""
        if self.request is None:
            return self.label
        candidates = self.request.candidates
        offered = (
            "the whole catalogue"
            if candidates is None
            else f"{len(candidates)} candidates"
        )
        ratings = len(self.request.history)
        return f"{self.label}: k={self.request.k}, {ratings} ratings, {offered}"


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
    """A `Content` for the encoder, which by itself writes no mapping but a dict."""
    if isinstance(value, Content):
        return dict(value)
    raise TypeError(f"{value!r} is not plain data")


_ENCODER = json.JSONEncoder(
    sort_keys=True,
    separators=(",", ":"),
    allow_nan=False,
    default=_plain,
)


class Part:
    """Plain data that many contents share, with its canonical text.

    Attributes:
        value: The data.
        text: As `canonical` writes it.
    """

    __slots__ = ("text", "value")

    def __init__(self, value: Mapping[str, Any]) -> None:
        self.value = value
        self.text = canonical(value)


_CONTENT_NAMES = ("schema", "model", "request", "replicate", "repeat")


@dataclass(frozen=True, slots=True)
class Content(Mapping[str, Any]):
    """Everything that the answer to a request may depend on.

    Attributes:
        model: The identity of the recommender.
        request: The request with its replicate number.
        repeat: Whether it is sent again even if the same replicate was sent before.
        how: ``asked`` and ``before`` with their values, if it is not sent as usual.
    """

    model: Part
    request: Request
    repeat: bool
    how: tuple[tuple[str, str], ...] = ()

    def __getitem__(self, name: str) -> Any:
        if name == "request":
            return plain_request(self.request)
        values = {
            "schema": SCHEMA,
            "model": self.model.value,
            "replicate": self.request.replicate,
            "repeat": self.repeat,
        }
        values.update(self.how)
        return values[name]

    def __iter__(self) -> Iterator[str]:
        yield from _CONTENT_NAMES
        for name, _ in self.how:
            yield name

    def __len__(self) -> int:
        return len(_CONTENT_NAMES) + len(self.how)

    def sent(self, **how: str) -> Content:
        """The same question, sent in a different way: ``asked`` and ``before``."""
        return replace(self, how=(*self.how, *how.items()))

    @property
    def text(self) -> str:
        """As `canonical` writes it, but faster: from texts of parts, which are written
        once.

        The names stand in sorted order; ``asked`` and ``before`` come before all
        others.
        """
        how = ""
        for name, value in sorted(self.how):
            how += f'"{name}":{canonical(value)},'
        repeat = "true" if self.repeat else "false"
        return (
            f"{{{how}"
            f'"model":{self.model.text},'
            f'"repeat":{repeat},'
            f'"replicate":{self.request.replicate},'
            f'"request":{_request_text(self.request)},'
            f'"schema":"{SCHEMA}"}}'
        )


def plain_request(request: Request) -> dict[str, Any]:
    """`request` as plain JSON data."""
    candidates = None
    if request.candidates is not None:
        candidates = [_plain_item(item) for item in request.candidates]
    plain: dict[str, Any] = {
        "user": request.user,
        "history": [_plain_rating(rating) for rating in request.history],
        "scale": [request.scale.low, request.scale.high],
        "candidates": candidates,
        "k": request.k,
        "instruction": request.instruction,
        "edits": [_plain_edit(edit) for edit in request.edits],
        "attributes": _plain_mapping(request.attributes),
    }
    # Left out where it is empty, so that the keys of older answers stay as they are.
    if request.seen:
        plain["seen"] = list(request.seen)
    return plain


def _plain_rating(rating: Rating) -> list[Any]:
    return [_plain_item(rating.item), rating.value, rating.timestamp]


def _plain_item(item: Item) -> list[Any]:
    return [item.id, item.title, item.year, _plain_mapping(item.attributes)]


def _plain_mapping(mapping: Mapping[str, Any]) -> dict[str, Any]:
    return {str(key): mapping[key] for key in mapping}


def _plain_edit(edit: Edit) -> dict[str, Any]:
    if not dataclasses.is_dataclass(edit) or isinstance(edit, type):
        raise RelationError(
            f"the prompt edit {edit!r} is not a dataclass, so its answers cannot be distinguished from those "
            f"of other edits; make it a frozen dataclass with plain fields",
        )
    return {"edit": type(edit).__qualname__, **dataclasses.asdict(edit)}


def _always_fixed(value: object) -> bool:
    return True


def _cached_by_identity(
    maxsize: int,
    is_fixed: Callable[[Any], bool] = _always_fixed,
) -> Callable[[Callable[[Value], str]], Callable[[Value], str]]:
    """Cache the texts that the decorated function writes, by the identity of its
    argument.

    Args:
        maxsize: Number of texts that are cached.
        is_fixed: Whether an object cannot change in place. The text of one that can is
            written each time.
    """

    def decorate(write: Callable[[Value], str]) -> Callable[[Value], str]:
        # The value is kept with its text, so that its id belongs to no other object.
        cached: dict[int, tuple[Value, str]] = {}

        def text_of(value: Value) -> str:
            known = cached.get(id(value))
            if known is not None:
                return known[1]
            text = write(value)
            if is_fixed(value):
                if len(cached) >= maxsize:
                    cached.clear()
                cached[id(value)] = value, text
            return text

        return text_of

    return decorate


@lru_cache(2**12)
def _string_text(value: str) -> str:
    return canonical(value)


@_cached_by_identity(2**16, is_fixed=lambda item: item.fixed)
def _item_text(item: Item) -> str:
    return canonical(_plain_item(item))


@_cached_by_identity(2**16, is_fixed=lambda rating: rating.item.fixed)
def _rating_text(rating: Rating) -> str:
    item = _item_text(rating.item)
    value = _number_text(rating.value)
    timestamp = _number_text(rating.timestamp)
    return f"[{item},{value},{timestamp}]"


def _number_text(value: float | None) -> str:
    """A number as `canonical` writes it, which is far slower for so short a text."""
    if value is None:
        return "null"
    # Neither a bool nor a number of numpy, whose reprs are not JSON.
    if value.__class__ is int:
        return repr(value)
    if value.__class__ is float and math.isfinite(value):
        return repr(value)
    return canonical(value)


def _is_history_fixed(history: tuple[Rating, ...]) -> bool:
    return all(rating.item.fixed for rating in history)


@_cached_by_identity(2**10, is_fixed=_is_history_fixed)
def _history_text(history: tuple[Rating, ...]) -> str:
    ratings = ",".join(map(_rating_text, history))
    return f"[{ratings}]"


def _are_candidates_fixed(candidates: tuple[Item, ...] | None) -> bool:
    return candidates is None or all(item.fixed for item in candidates)


@_cached_by_identity(2**10, is_fixed=_are_candidates_fixed)
def _candidates_text(candidates: tuple[Item, ...] | None) -> str:
    if candidates is None:
        return "null"
    items = ",".join(map(_item_text, candidates))
    return f"[{items}]"


@_cached_by_identity(2**6)
def _scale_text(scale: Scale) -> str:
    return canonical([scale.low, scale.high])


@_cached_by_identity(2**10)
def _seen_text(seen: tuple[str, ...]) -> str:
    """The field with its comma; empty where there is none, as in `plain_request`."""
    if not seen:
        return ""
    return f',"seen":{canonical(seen)}'


def request_digest(request: Request) -> str:
    """SHA-256 of a request without its replicate number, in hexadecimal."""
    return hashlib.sha256(_request_text(request).encode()).hexdigest()


def digest_of(requests: Iterable[Request]) -> str:
    """SHA-256 of several requests without their replicate numbers, in hexadecimal."""
    texts = ",".join(map(_request_text, requests))
    return hashlib.sha256(f'{{"requests":[{texts}]}}'.encode()).hexdigest()


def _request_text(request: Request) -> str:
    """`plain_request` as `canonical` writes it, but faster: from texts of parts, which
    are written once.

    Most requests have neither attributes nor edits, and an integer `k`: these need no
    encoder.
    """
    attributes = "{}"
    if request.attributes:
        attributes = canonical(_plain_mapping(request.attributes))
    candidates = _candidates_text(request.candidates)
    edits = "[]"
    if request.edits:
        edits = canonical([_plain_edit(edit) for edit in request.edits])
    k = str(request.k) if request.k.__class__ is int else canonical(request.k)
    return (
        f'{{"attributes":{attributes},'
        f'"candidates":{candidates},'
        f'"edits":{edits},'
        f'"history":{_history_text(request.history)},'
        f'"instruction":{_string_text(request.instruction)},'
        f'"k":{k},'
        f'"scale":{_scale_text(request.scale)}'
        f"{_seen_text(request.seen)},"
        f'"user":{_string_text(request.user)}}}'
    )
