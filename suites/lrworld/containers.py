r"""The text of an answer in one plain form: what JSON, ``\\boxed{}`` and tags hold
stands as ``answer: ...``.
"""

import json
import re
import unicodedata
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pytest_recsys_mt.llm.reading.layout import STRUCK
from pytest_recsys_mt.llm.reading.thinking import without_thinking
from pytest_recsys_mt.llm.reading.wording import patterns, word_set
from pytest_recsys_mt.safety.sanitize import sanitize

_KEYS = patterns(Path(__file__).with_name("answer_patterns.toml"), MENTION="")["keys"]

_TEXTS = word_set("title text optiontext name value item movie film product artist")
"""Keys whose value may repeat the option next to its mark."""

LONGEST = 20_000
"""Characters that are read of an answer, from its end; most models answer there."""

_FORMATTING = re.compile(
    r"</?(?:b|i|u|em|p|strong|code|mark|span|div|br)\b[^<>]{0,80}>",
)
_TAG = re.compile(
    r"<(answer|final_answer|final|choice|option|result|output|response)>([^<>]*)</\1>",
    re.IGNORECASE,
)
_OTHER_TAG = re.compile(r"<(\w{1,40})>[^<>]*</\1>", re.IGNORECASE)
_FORMULA = re.compile(r"\$+([^$\n]{0,80})\$+")
_SPECIAL = re.compile(r"<\|[^|<>]{0,40}\|>|</?s>")
_LATEX = re.compile(r"\\(?:text|math)[a-z]*\s*\{([^{}]*)\}")
_BOXED = re.compile(r"\\(?:boxed|fbox)\s*\{([^{}]*)\}")
_OBJECTS = 20  # how many objects of JSON are looked for: an answer has one, and a search for each brace is slow

DEEPEST = 20
"""Lists and objects within each other that are read; one that
is nested a thousand times says nothing.
"""


def opened(text: str) -> str:
    """An answer without reasoning in tags, its containers
    opened, in compatible characters (NFKC).
    """
    text = unicodedata.normalize("NFKC", sanitize(text))
    text = STRUCK.sub("", "".join(_plain(char) for char in text))
    text = _FORMATTING.sub("", _SPECIAL.sub("", without_thinking(text[-LONGEST:])))
    for _ in range(2):  # one tag may stand in another
        text = _TAG.sub(lambda found: _line(found[2]), text)
    text = _OTHER_TAG.sub("\n", text)
    for _ in range(2):
        text = _LATEX.sub(r"\1", text)
    text = _BOXED.sub(lambda found: _line(found[1]), text)
    text = "".join(_objects(text))
    return re.sub(r"\\[()\[\]]", " ", _FORMULA.sub(r" \1 ", text))


def _plain(char: str) -> str:
    """A digit of any script as that of ASCII; no characters of
    private use, which mark options later.
    """
    if "0" <= char <= "9" or char.isascii():
        return char
    if "\ue000" <= char <= "\uf8ff":
        return ""
    digit = unicodedata.decimal(char, None)
    return (
        {"’": "'", "‘": "'", "−": "-"}.get(char, char) if digit is None else str(digit)
    )


def _line(content: str) -> str:
    return f" answer: {' '.join(content.split())} "


def _objects(text: str) -> Iterator[str]:
    decoder, at = json.JSONDecoder(), 0
    for _ in range(_OBJECTS):
        begun = text.find("{", at)
        if begun < 0:
            break
        try:
            found, end = decoder.raw_decode(text, begun)
        except (ValueError, RecursionError):
            yield text[at : begun + 1]
            at = begun + 1
            continue
        yield text[at:begun]
        yield "".join(map(_line, _answers(found)))
        at = end
    yield text[at:]


def _answers(found: Mapping[str, Any], depth: int = 0) -> Iterator[str]:
    named = {
        "".join(filter(str.isalnum, key.casefold())): value
        for key, value in found.items()
    }
    if any(named.get(key) is True for key in ("rejected", "excluded", "wrong")) or any(
        named.get(key) is False
        for key in ("answer", "isanswer", "correct", "chosen", "selected")
    ):
        return
    keys = [key for key in named if _KEYS.fullmatch(key)]
    said = [text for key in keys for text in _texts(named[key], depth)]
    if said:
        texts = [
            text for key in named if key in _TEXTS for text in _texts(named[key], depth)
        ]
        yield "; ".join([*said, *texts])


def _texts(value: object, depth: int) -> Iterator[str]:
    if depth > DEEPEST:
        return
    if isinstance(value, dict):
        yield from _answers({"answer": None, **value}, depth + 1)
    elif isinstance(value, list):
        for each in value:
            yield from _texts(each, depth + 1)
    elif isinstance(value, str) or (
        isinstance(value, int) and not isinstance(value, bool)
    ):
        yield str(value)
