"""The answer to one request: the reading of each entry of its text, its usage, and why
a text ended.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable
from dataclasses import dataclass, field
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
        took: The seconds from sending the question that brought it to its answer, and
            how many answers that brought; None if the recommender does not measure it.
        failed_before: Attempts at the call that failed before the one that was answered.
        refused_before: Those of them that the server refused: busy, or not ready.
    """

    items: tuple[str, ...]
    entries: tuple[Entry, ...] = ()
    text: str | None = None
    usage: Usage | None = None
    error: str | None = None
    version: str | None = None
    how: str = ""
    ambiguous: bool = False
    took: tuple[float, int] | None = field(default=None, compare=False, repr=False)
    failed_before: int = field(default=0, compare=False, repr=False)
    refused_before: int = field(default=0, compare=False, repr=False)

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


# Providers name the same end differently: OpenAI's ``length`` is ``max_tokens`` at
# Anthropic and ``MAX_TOKENS`` at Gemini. Words are compared without case, and ``-`` is
# ``_``.
_ENDED = frozenset((
    "stop", "end_turn", "stop_sequence", "stop_criteria_met", "eos", "eos_token",
    "tool_call", "tool_calls", "tool_use", "function_call",
    "complete", "completed", "finish", "finished", "done",
    "choice",  # of a local model that scores the choices of a question
))  # fmt: skip
"""The model ended its answer."""

_UNSAID = frozenset(("", "none", "null", "unknown", "finish_reason_unspecified"))
"""The provider does not say why the answer ended."""

_OUT_OF_TOKENS = frozenset((
    "length", "max_length", "max_tokens", "max_output_tokens", "max_completion_tokens", "max_new_tokens",
    "token_limit", "error_limit", "model_length", "model_context_window_exceeded", "context_length_exceeded",
))  # fmt: skip
"""A limit of length ended the answer."""

_FILTERED = frozenset((
    "content_filter", "content_filtered", "refusal", "guardrail_intervened", "error_toxic",
    "safety", "recitation", "blocklist", "prohibited_content", "spii",
))  # fmt: skip
"""A filter ended the answer."""


def is_cut_off(finish_reason: object) -> bool:
    """Whether something other than the model ended an answer with this `finish_reason`.

    Every reason counts as such that does not say that the model ended: a limit of
    tokens, a filter, an error, or a word that is not known here. An answer without a
    reason counts as whole.
    """
    return _plain(finish_reason) not in _ENDED | _UNSAID


def is_out_of_tokens(finish_reason: object) -> bool:
    """Whether a limit of length ended an answer, so that more tokens may help."""
    return _plain(finish_reason) in _OUT_OF_TOKENS


def is_final(finish_reason: object) -> bool:
    """Whether the model or a filter ended an answer, so that even an empty one is an
    answer and no failed call.
    """
    return _plain(finish_reason) in _ENDED | _FILTERED


def _plain(finish_reason: object) -> str:
    """The reason as it is compared; empty for anything but a text."""
    if not isinstance(finish_reason, str):
        return ""
    return finish_reason.strip().casefold().replace("-", "_")
