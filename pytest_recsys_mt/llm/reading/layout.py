"""Finds the entries of a text answer, without any
knowledge of titles; `data` cuts JSON, and `running_lines` the rest.
"""

import html
import json
import re
from contextlib import suppress
from itertools import islice

from pytest_recsys_mt.llm.reading import data
from pytest_recsys_mt.llm.reading.line import MAX_PIECES, Piece, marked
from pytest_recsys_mt.llm.reading.running_lines import lines
from pytest_recsys_mt.llm.reading.thinking import without_thinking
from pytest_recsys_mt.llm.reading.wording import phrase

MAX_CHARACTERS = 100_000
"""Most characters of an answer to read (without its reasoning); the rest is ignored."""

_STOP = phrase("stop")

STRUCK = phrase("struck", re.DOTALL)

_FORMULA = re.compile(r"\\(?:boxed|text|textbf|mathbf)\{([^{}\n]{0,2000})\}")

_ESCAPED = re.compile(r"\\([.#*_\-\[\]()!+~>|&%$])")


def pieces(text: str) -> list[Piece]:
    """The pieces of a sanitized answer, in their order;
    reasoning and markup are left out.
    """
    text = _answer_of(text)
    found = data.pieces(text) if "[" in text or "{" in text else lines(text)
    return list(islice(found, MAX_PIECES))


_PAGE = re.compile(
    r"\s*(?:<!doctype\s+html|<html|<\?xml[^>]*>\s*<(?:error|html))\b",
    re.IGNORECASE,
)
"""Begins a page of a server, such as an error or a sign-in, in the place of an answer."""


def _answer_of(text: str) -> str:
    """The answer in a text, without reasoning, formulas,
    other speakers and what follows it.
    """
    if _PAGE.match(text):
        return ""
    text = _decoded(text)
    if "<" in text and _ENTITY.search(text):
        text = html.unescape(text)
    text = STRUCK.sub("", without_thinking(text)[:MAX_CHARACTERS])
    if "\\" in text or "$$" in text:
        for _ in range(2):  # formulas may be nested
            text = _FORMULA.sub(r"\1", text)
        text = text.replace("$$", "")
        text = _ENVIRONMENT.sub("", text)
        text = _LATEX_ITEM.sub("• ", text)
        text = _ESCAPED.sub(r"\1", text)
    text = _SPEAKER.sub("", _first_turn(text))
    return next(filter(str.strip, _STOP.split(text)), "")


def _decoded(text: str) -> str:
    """A text that is a string of JSON as a whole, as it was before."""
    whole = text.strip()
    if not (whole.startswith('"') and whole.endswith('"') and '\\"' in whole):
        return text
    with suppress(ValueError):
        said = json.loads(whole)
        return said if isinstance(said, str) else text
    return text


_ENTITY = re.compile(r"&(?:[a-z]{2,8}|#\d{2,5});", re.IGNORECASE)
_LATEX_ITEM = re.compile(r"\\item(?![a-z])\s*")
_ENVIRONMENT = re.compile(r"\\(?:begin|end)\{\w+\}")
_SPEAKER = re.compile(
    r"\A\s*(?:(?:assistant|response|output)\s?:\s*|a(?:nswer)?:\s*(?=\d{1,2}[.)]\s))",
    re.IGNORECASE,
)
_TURN = phrase("turn", re.IGNORECASE | re.MULTILINE)
_ASKED = re.compile(r"\W*(?:user|human|question|q)\b", re.IGNORECASE)
_FEWEST = 2  # entries that are a list


def _first_turn(text: str) -> str:
    """An answer without the turns that a model invents behind it:
    what follows its list and another's question.
    """
    turns = list(_TURN.finditer(text))
    if len(turns) > 1 and turns[0].start() == 0 and _ASKED.match(text):
        return ""  # a whole conversation, of which no turn is the answer
    for turn in turns:
        before = text[: turn.start()]
        if _holds_list(before):
            return before
    return text


def _holds_list(text: str) -> bool:
    if "{" in text:
        return True
    entries = 0
    for line in text.split("\n"):
        for piece in marked(line.strip()):
            if piece.chain:
                return True
            if piece.place in ("numbered", "bulleted", "data"):
                entries += 1
    return entries >= _FEWEST
