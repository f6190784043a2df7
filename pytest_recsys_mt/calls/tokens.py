"""The tokens of a call: counted if its tokenizer is known, else estimated."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from pytest_recsys_mt.requests import Prompt

if TYPE_CHECKING:
    from pytest_recsys_mt.calls.answer import Answer
    from pytest_recsys_mt.calls.call import Call
    from pytest_recsys_mt.calls.subject import Subject

CHARACTERS = 4
"""Characters of English per token, by the rule of thumb of OpenAI's help pages. A character outside ASCII takes at most
as many tokens as UTF-8 has bytes for it, since byte-level tokenizers split no further.
"""

PER_MESSAGE = 4
"""Approximate number of tokens that a chat format adds to each message."""

PER_IMAGE = 765
"""Approximate number of tokens of an image: the count in OpenAI's documentation for an image of
1024 x 1024 pixels shown to GPT-4o in high detail. Other models and sizes differ several times over.
"""


def estimated(prompt: Prompt) -> int:
    """The tokens of `prompt`, estimated from its characters and images."""
    return sum(
        PER_MESSAGE + _of_text(message.content) + PER_IMAGE * len(message.images)
        for message in prompt.messages
    )


def _of_text(text: str) -> int:
    plain = len(text.encode("ascii", "ignore"))
    return math.ceil(plain / CHARACTERS) + len(text.encode("utf-8", "surrogatepass")) - plain


def is_thrifty(call: Call, answer: Answer) -> bool:
    """Whether a usage has less than a hundredth of its prompt's tokens, as no tokenizer has, or none for its text."""
    said, written, *_ = answer.get("usage") or [0, 0]
    if call.prompt is None or not (said or written):
        return False
    return said < estimated(call.prompt) / 100 or bool(answer.get("text") and not written)


def filled(subject: Subject, call: Call, answer: Answer) -> list[int] | None:
    """The usage of such an answer as planned, which is not reported, or as reported where that is more."""
    said, written, *parts = answer.get("usage") or [0, 0]
    prompt, most_written, _ = most(subject, call, answer)
    if said <= prompt and written <= most_written:
        return None
    return [max(said, prompt), max(written, most_written), *parts]


def prompt_tokens(subject: Subject, call: Call) -> tuple[int, bool]:
    """The tokens of a call's prompt, and whether they were counted rather than estimated.

    A call without a prompt has none.
    """
    if call.prompt is None:
        return 0, True
    counted = subject.prompt_tokens(call)
    return (estimated(call.prompt), False) if counted is None else (counted, True)


def most_output(call: Call) -> int | None:
    """The most tokens that the answer to a call may have; None if its model names no limit."""
    if call.prompt is None:
        return 0
    sampling = call.content["model"].get("sampling")
    limit = sampling.get("max_tokens") if isinstance(sampling, dict) else None
    return limit if isinstance(limit, int) else None


def most(subject: Subject, call: Call, answer: Answer | None = None) -> tuple[int, int, bool]:
    """The tokens of a call's prompt, the most of its answer, and whether the model sets that limit.

    The answer, if it is there, may exceed the limit. Without a prompt, the tokens are unknown.
    """
    prompt, _ = prompt_tokens(subject, call)
    limit, text = most_output(call), (answer or {}).get("text")
    written = _of_text(text) if call.prompt and isinstance(text, str) else 0
    known = call.prompt is not None and limit is not None
    return prompt, max(limit or 0, written), known
