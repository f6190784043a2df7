"""One call to a recommender, and the key under which its answer is stored."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from pytest_recsys_mt.calls.causes import Purpose
from pytest_recsys_mt.calls.content import Content, canonical
from pytest_recsys_mt.requests import Prompt, Request

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
