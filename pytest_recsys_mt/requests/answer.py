"""The answer to one request, with the reading of each entry of its text
and its usage.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

EntryKind = Literal[
    "candidate",
    "history",
    "catalogue",
    "outside",
    "unknown",
    "duplicate",
    "unparsed",
]
"""The kind of one entry of a text answer.

* ``candidate``: an item that the request offered (without candidates: any item of the
  catalogue that the user is not known to have)
* ``history``: an item that the user is known to have: see `Request.known`
* ``catalogue``: an item of the catalogue that the request did not offer
* ``outside``: an existing title outside the catalogue
* ``unknown``: a title of no known item
* ``duplicate``: an item that this answer has already named
* ``unparsed``: text that names no title
"""

UNKNOWN_PREFIX = "unknown:"
"""Titles outside the catalogue are stored in an answer under this prefix and their
normal form, so that two answers with the same unknown film still agree.
"""


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry of a text answer: its text, its kind, and the item it named.

    `item` is an id of the catalogue, an `UNKNOWN_PREFIX` id, or None for unparsed text.
    """

    text: str
    kind: EntryKind
    item: str | None = None


MOST_TOKENS = 10**9
"""No answer takes more tokens: a larger reported number is an error."""


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens that one answer took.

    Attributes:
        prompt_tokens: Tokens of the prompt.
        completion_tokens: Tokens that the model wrote, with its thinking.
        reasoning_tokens: Those of them that it spent on thinking.
        cached_tokens: Those of the prompt that the provider took from its own cache.
    """

    prompt_tokens: int = 0
    completion_tokens: int = 0
    reasoning_tokens: int = 0
    cached_tokens: int = 0

    @classmethod
    def said(
        cls,
        prompt_tokens: object,
        completion_tokens: object,
        reasoning_tokens: object = 0,
        cached_tokens: object = 0,
    ) -> Usage | None:
        """A reported usage; None, which is unknown and not zero, unless all are whole
        numbers from 0 to `MOST_TOKENS`.

        The last two are parts of the others, 0 if they are None. One that is larger was
        counted apart from its whole, so the sum is the usage.
        """
        parts = (
            0 if part is None else part for part in (reasoning_tokens, cached_tokens)
        )
        counts = [_count(each) for each in (prompt_tokens, completion_tokens, *parts)]
        prompt, written, thought, cached = (count or 0 for count in counts)
        if None in counts:
            return None
        prompt += cached * (cached > prompt)
        written += thought * (thought > written)
        return cls(prompt, written, thought, cached)


def _count(said: object) -> int | None:
    if isinstance(said, bool):
        return None
    try:
        count = operator.index(said)  # type: ignore[arg-type]
    except TypeError:
        return None
    return count if 0 <= count <= MOST_TOKENS else None


@dataclass(frozen=True, slots=True)
class Recommendation:
    """The answer to one request.

    Attributes:
        items: Item ids, best first, as the recommender gave them (repeats included).
            Titles outside every catalogue have `UNKNOWN_PREFIX` ids.
        entries: For text answers, the kind of each entry.
        text: The raw text, if any.
        usage: Tokens, if counted.
        error: Why there is no answer; such a request is an error case, never an empty
            list.
        version: The model that answered and its fingerprint, if the recommender reports
            it.
        how: For text answers, which part was taken for the list and why, in words; of
            an answer without a list, why there is none.
        ambiguous: Whether several of its lists have equal claims, so that none was
            taken.
    """

    items: tuple[str, ...]
    entries: tuple[Entry, ...] = ()
    text: str | None = None
    usage: Usage | None = None
    error: str | None = None
    version: str | None = None
    how: str = ""
    ambiguous: bool = False

    def __post_init__(self) -> None:
        unordered = isinstance(self.items, str | set | frozenset)
        if unordered or not isinstance(self.items, Iterable):
            raise TypeError(
                f"Recommendation(items) takes a sequence of item ids, best first, got {self.items!r}; "
                f"an answer without items is Recommendation(())",
            )
        if not isinstance(self.items, tuple):
            object.__setattr__(self, "items", tuple(self.items))

    @property
    def unread(self) -> bool:
        """Whether it is a text of which nothing could be read: a refusal, an unknown
        form, or several lists of equal claims. An empty list of JSON is read.
        """
        if self.text is None or self.items or any(entry.item for entry in self.entries):
            return False
        return bool(self.entries) or "[" not in self.text
