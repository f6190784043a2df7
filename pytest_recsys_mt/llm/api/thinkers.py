"""Which models think before they answer, and the room that they get for it."""

import re
from typing import Literal

Effort = Literal["none", "minimal", "low", "medium", "high", "xhigh", "max"]
"""The efforts that the API knows
(`openai.types.shared.ReasoningEffort`); a model has some of
them.
"""

FOR_THINKING = 16_384
"""Tokens for an answer with its thinking, which may
take thousands for a list of ten films.
"""

_NAMES = re.compile(
    r"(^|/)(gpt-([5-9]|1\d|oss)(?!\S*chat)|o\d(-|$)|deepseek-r|qwq|magistral)"
    r"|thinking|(?<!non-)reasoning",
    re.IGNORECASE,
)
"""Names of models that think, as their makers describe them."""


def room(model: str, effort: Effort | None) -> tuple[int, float]:
    """The most tokens of an answer and the most seconds for it, unless the user says
    otherwise.

    A model is known to think by its name or by its effort. To look at its answers
    instead would give one spec two limits, and the limit is part of the key of an
    answer.
    """
    thinks = effort != "none" and (
        effort is not None or _NAMES.search(model) is not None
    )
    return (FOR_THINKING, 300.0) if thinks else (1024, 60.0)
