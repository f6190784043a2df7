"""What a text model reads for a request, written and hashed once for all replicates of it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

from pytest_recsys_mt.requests import Entry, Message, Prompt, Request

if TYPE_CHECKING:
    from hashlib import _Hash


@dataclass(frozen=True)
class Question:
    """A prompt without a seed, and what was read in answers to it.

    Attributes:
        request: The request that was rendered, or one that differs in its replicate alone.
        unseeded: The prompt.
        shown: How the prompt names each candidate; see `Template.shown`.
        entries: What was read in answers, by their text and whether they were cut off.
        begun: Hashes of texts that differ only at their ends, up to there.
    """

    request: Request
    unseeded: Prompt
    shown: Sequence[Sequence[str]] = ()
    entries: dict[tuple[str, bool], tuple[Entry, ...]] = field(default_factory=dict)
    begun: dict[object, _Hash] = field(default_factory=dict)

    def is_of(self, request: Request) -> bool:
        """Whether `request` has the very parts of this question's own, replicate aside."""
        own = self.request
        return (
            own.history is request.history
            and own.candidates is request.candidates
            and own.edits is request.edits
            and own.attributes is request.attributes
            and own.scale is request.scale
            and own.seen is request.seen
        )

    def prompt(self, seed: int, replicate: int) -> Prompt:
        """The prompt of one call.

        Args:
            seed: The seed of the run.
            replicate: Number of the call.
        """
        begun = self.begun.get(seed)
        if begun is None:
            begun = self.begun[seed] = _begun(seed, self.unseeded.messages)
        return replace(self.unseeded, seed=_ended(begun, replicate))

    @cached_property
    def messages(self) -> list[list[str]]:
        """The messages as plain data."""
        return plain_messages(self.unseeded.messages)


def plain_messages(messages: Sequence[Message]) -> list[list[str]]:
    """Role, content and the SHA-256 of each image; the image itself would be long."""
    return [
        [
            message.role,
            message.content,
            *(hashlib.sha256(image.encode()).hexdigest() for image in message.images),
        ]
        for message in messages
    ]


def call_seed(seed: int, messages: Sequence[Message], replicate: int) -> int:
    """The seed of one call: 63 bits from only the run's seed, the messages and the replicate."""
    return _ended(_begun(seed, messages), replicate)


def _begun(seed: int, messages: Sequence[Message]) -> _Hash:
    said = [[message.role, message.content, *message.images] for message in messages]
    return hashlib.sha256(json.dumps([seed, said])[:-1].encode())


def _ended(begun: _Hash, replicate: int) -> int:
    ended = begun.copy()
    ended.update(f", {json.dumps(replicate)}]".encode())
    return int.from_bytes(ended.digest()[:8], "big") >> 1
