"""Tells the answer of a model from the thinking that it wrote before or around it."""

import re

_TAG = re.compile(
    r"(?P<end></(?:think|thinking|thought|reasoning|reflection|analysis|scratchpad)>"
    r"|<\|channel\|>\s?final\s?<\|message\|>)"
    r"|<(?:think|thinking|thought|reasoning|reflection|analysis|scratchpad)>"
    r"|<\|channel\|>\s?analysis\s?<\|message\|>",
    re.IGNORECASE,
)
"""Where thinking begins or ends, in the tags of open models and in OpenAI's Harmony format."""


def without_thinking(text: str) -> str:
    """The answer in a text: what follows the last end of thinking.

    An end without a beginning counts too, since the beginning may stand in the prompt. If nothing
    follows the last end, the answer is what stands outside all thinking. It is empty if the model
    thought to its end.
    """
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
