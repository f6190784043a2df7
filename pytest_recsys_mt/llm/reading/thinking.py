"""Separates the answer of a model from the thinking before or around it."""

import re

_NAME = r"[\w:.-]{0,20}?(?:think|thinking|thoughts?|reasoning|reflection|analysis|scratchpad)"
"""The name of a tag, also with something before it:
`think`, `seed:think`, `START_THINKING`.
"""

_TAG = re.compile(
    rf"(?P<end>[<◁]\|?(?:/|end_){_NAME}\|?[>▷]|\[/think(?:ing)?\]"
    r"|<\|channel\|>\s?final\s?<\|message\|>|(?-i:assistantfinal))"
    rf"|[<◁]\|?{_NAME}\|?[>▷]|\[think(?:ing)?\]"
    r"|<\|channel\|>\s?analysis\s?<\|message\|>|(?-i:\Aanalysis(?=[A-Z]))",
    re.IGNORECASE,
)
"""Where thinking begins or ends, in the tags of open models and in OpenAI's Harmony
format.

Some servers leave out Harmony's special tokens, which leaves
`analysis...assistantfinal...`. A word in square brackets may be a title
(`[Reflection]`), so these count for `think` and `thinking` alone.
"""


_MAYBE = re.compile(r"[<◁\[]|assistantfinal|\Aanalysis")
"""A text without any of these has no tag."""


def without_thinking(text: str) -> str:
    """The text after the last end of thinking, else the text outside all thinking; it
    may be empty.

    An end without a beginning counts too, since the beginning may stand in the prompt.
    """
    if not _MAYBE.search(text):
        return text
    ends = [tag.end() for tag in _TAG.finditer(text) if tag["end"]]
    if ends and (rest := text[ends[-1] :]).strip():
        text = rest
    kept: list[str] = []
    begun, thinks = 0, False
    for tag in _TAG.finditer(text):
        if tag["end"]:
            if not thinks:
                kept.clear()
            begun, thinks = tag.end(), False
        elif not thinks:
            kept.append(text[begun : tag.start()])
            thinks = True
    return "".join(kept) if thinks else "".join(kept) + text[begun:]
