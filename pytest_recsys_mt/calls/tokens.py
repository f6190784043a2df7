"""The tokens of a call: counted if its tokenizer is known, else estimated."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from pytest_recsys_mt.requests import Prompt

if TYPE_CHECKING:
    from pytest_recsys_mt.calls.answer import Answer
    from pytest_recsys_mt.calls.call import Call
    from pytest_recsys_mt.calls.subject import Subject

CHARACTERS = 4
"""Characters of English per token, by the rule of thumb of OpenAI's help pages. A
character outside ASCII takes at most as many tokens as UTF-8 has bytes for it, since
byte-level tokenizers split no further.
"""

PER_MESSAGE = 4
"""Approximate number of tokens that a chat format adds to each message."""

PER_IMAGE = 765
"""Approximate number of tokens of an image: the count in OpenAI's documentation for an
image of 1024 x 1024 pixels shown to GPT-4o in high detail. Other models and sizes
differ several times over.
"""


class Most(NamedTuple):
    """The most tokens that a call may take.

    Attributes:
        prompt: Tokens of its prompt; 0 without one.
        output: The most tokens of its answer.
        is_bound: Whether the model sets the limit of its answers, so that the numbers
            are an upper bound.
    """

    prompt: int
    output: int
    is_bound: bool


def estimated(prompt: Prompt) -> int:
    """The tokens of `prompt`, estimated from its characters and images."""
    total = 0
    for message in prompt.messages:
        total += PER_MESSAGE
        total += _of_text(message.content)
        total += PER_IMAGE * len(message.images)
    return total


def _of_text(text: str) -> int:
    """The tokens of `text`, estimated from its characters; see `CHARACTERS`."""
    ascii_characters = len(text.encode("ascii", "ignore"))
    other_bytes = len(text.encode("utf-8", "surrogatepass")) - ascii_characters
    return math.ceil(ascii_characters / CHARACTERS) + other_bytes


def is_thrifty(prompt: Prompt, answer: Answer) -> bool:
    """Whether a usage has less than a hundredth of its prompt's tokens, as no tokenizer
    has, or none for its text.
    """
    prompt_tokens, completion_tokens, _ = _reported(answer)
    if not prompt_tokens and not completion_tokens:
        return False
    if prompt_tokens < estimated(prompt) / 100:
        return True
    return bool(answer.get("text")) and not completion_tokens


def filled(subject: Subject, call: Call, answer: Answer) -> list[int] | None:
    """The usage of a thrifty answer, see `is_thrifty`, with at least the tokens that
    were planned.

    Returns:
        The larger of the planned and the reported tokens; None if nothing more than
        planned was reported: such a usage counts as unknown, and so as planned.
    """
    prompt_tokens, completion_tokens, parts = _reported(answer)
    planned = most(subject, call, answer)
    if prompt_tokens <= planned.prompt and completion_tokens <= planned.output:
        return None
    return [
        max(prompt_tokens, planned.prompt),
        max(completion_tokens, planned.output),
        *parts,
    ]


def _reported(answer: Answer) -> tuple[int, int, list[int]]:
    """The reported tokens of the prompt, of the answer,
    and of their parts if there are any.
    """
    prompt_tokens, completion_tokens, *parts = answer.get("usage") or [0, 0]
    return prompt_tokens, completion_tokens, parts


def prompt_tokens(subject: Subject, call: Call) -> tuple[int, bool]:
    """The tokens of a call's prompt, and whether they were counted rather than
    estimated.

    A call without a prompt has none.
    """
    if call.prompt is None:
        return 0, True
    counted = subject.prompt_tokens(call)
    if counted is None:
        return estimated(call.prompt), False
    return counted, True


def most_output(call: Call) -> int | None:
    """The most tokens that the answer to a call may have;
    None if its model names no limit.
    """
    if call.prompt is None:
        return 0
    sampling = call.content["model"].get("sampling")
    if not isinstance(sampling, dict):
        return None
    limit = sampling.get("max_tokens")
    return limit if isinstance(limit, int) else None


def most(subject: Subject, call: Call, answer: Answer | None = None) -> Most:
    """The most tokens of a call: those of its prompt, and the limit of its answer.

    The answer, if it is there, may exceed the limit. Without a prompt, the tokens are
    unknown.
    """
    prompt, _ = prompt_tokens(subject, call)
    limit = most_output(call)
    text = None if answer is None else answer.get("text")
    written = _of_text(text) if call.prompt and isinstance(text, str) else 0
    return Most(
        prompt,
        output=max(limit or 0, written),
        is_bound=call.prompt is not None and limit is not None,
    )
