"""One call to a recommender, and the key under which its answer is stored."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

from pytest_recsys_mt.calls.causes import Purpose
from pytest_recsys_mt.errors import RelationError
from pytest_recsys_mt.requests import Edit, Item, Prompt, Request

SCHEMA = "recsys-mt-call/1"

AGAIN = 2**20
"""Replicates from this number on check whether answers changed; see `Call.again`."""


@dataclass(frozen=True, slots=True)
class Call:
    """One question as it is sent.

    Attributes:
        key: SHA-256 of `content`, in hexadecimal.
        content: Everything that the answer may depend on, as plain JSON data: the model, its
            parameters, the question, the seed and the number of the replicate.
        request: The request, with its replicate number; None for a test's own prompt.
        prompt: What a text model reads; None for other recommenders.
        purpose: Why it is asked; the answer does not depend on it.
    """

    key: str
    content: Mapping[str, Any]
    request: Request | None
    prompt: Prompt | None = None
    purpose: Purpose = field(default="request", compare=False)

    @property
    def again(self) -> bool:
        """Whether the question was asked before, and is repeated to check for changed answers."""
        return int(self.content["replicate"]) >= AGAIN

    def sent(self, **how: str) -> Call:
        """The same question, sent in a different way that the answer may depend on."""
        content = {**self.content, **how}
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


def canonical(value: Any) -> str:
    """`value` as JSON text, the same for equal values.

    Raises:
        TypeError: If `value` holds anything that is not plain data.
        ValueError: If it holds NaN or an infinity.
    """
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)


def key_of(content: Mapping[str, Any]) -> str:
    """SHA-256 of the canonical JSON of `content`, in hexadecimal."""
    return hashlib.sha256(canonical(content).encode()).hexdigest()


def plain_request(request: Request) -> dict[str, Any]:
    """`request` as plain JSON data.

    Raises:
        RelationError: If an edit is not a dataclass, so that its fields are unknown.
    """
    return {
        "user": request.user,
        "history": [
            [_plain_item(rating.item), rating.value, rating.timestamp] for rating in request.history
        ],
        "scale": [request.scale.low, request.scale.high],
        "candidates": (
            None
            if request.candidates is None
            else [_plain_item(item) for item in request.candidates]
        ),
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
