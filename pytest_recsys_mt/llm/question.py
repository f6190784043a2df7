"""The prompt of a text model for a request, written and
hashed once for all replicates of it.
"""

from __future__ import annotations

import hashlib
import json
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Generic, TypeVar

from pytest_recsys_mt.requests import Message, Prompt, Request

if TYPE_CHECKING:
    from hashlib import _Hash


Value = TypeVar("Value")


class Latest(Generic[Value]):
    """The `most` values of the latest keys that were used;
    a key may hold addresses of objects.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._kept: OrderedDict[object, Value] = OrderedDict()

    def __reduce__(self) -> tuple[type[Latest[Value]], tuple[int]]:
        return type(self), (
            self._most,
        )  # a copy, or another process, has other addresses

    def get(self, key: object) -> Value | None:
        """The value of a key; None if it is not kept."""
        found = self._kept.get(key)
        if found is not None:
            self._kept.move_to_end(key)
        return found

    def put(self, key: object, value: Value) -> Value:
        """Keep a value, and return it."""
        self._kept[key] = value
        if len(self._kept) > self._most:
            self._kept.popitem(last=False)
        return value

    def clear(self) -> None:
        """Keep nothing."""
        self._kept.clear()


@dataclass(frozen=True)
class Question:
    """A prompt without a seed, and the request, whose parts live as long as the
    question is known by them.
    """

    request: Request
    unseeded: Prompt
    shown: Sequence[Sequence[str]] = ()  # how the prompt names each candidate
    begun: dict[object, _Hash] = field(
        default_factory=dict,
    )  # up to where the texts differ

    def prompt(self, seed: int, replicate: int) -> Prompt:
        """The prompt of one call."""
        begun = self.begun.get(seed)
        if begun is None:
            begun = self.begun[seed] = _begun(seed, self.unseeded.messages)
        own = self.unseeded
        return Prompt(
            own.messages,
            _ended(begun, replicate),
            own.k,
            own.choices,
            own.schema,
        )

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
    """The seed of one call: 63 bits from only the run's
    seed, the messages and the replicate.
    """
    return _ended(_begun(seed, messages), replicate)


def _begun(seed: int, messages: Sequence[Message]) -> _Hash:
    said = [[message.role, message.content, *message.images] for message in messages]
    return hashlib.sha256(json.dumps([seed, said])[:-1].encode())


def _ended(begun: _Hash, replicate: int) -> int:
    ended = begun.copy()
    ended.update(f", {replicate}]".encode())
    return int.from_bytes(ended.digest()[:8], "big") >> 1
