"""Keeps the titles of offered items whole while an answer is cut into pieces.

A title may hold what elsewhere divides or marks entries: commas, colons, numbers,
quotes, dashes. While an answer is cut, each such sign of an offered title is replaced
by a private character, and restored in the pieces.
"""

import html
import json
import re
from collections.abc import Iterable
from dataclasses import replace
from functools import lru_cache

from pytest_recsys_mt.llm.reading.line import Piece
from pytest_recsys_mt.llm.reading.spelling import once
from pytest_recsys_mt.requests import Item

_PRIVATE = 0xF100
"""Where the private characters begin; they stand for the ASCII
characters in their order, ``)`` is U+F129.
"""

_SIGN = re.compile(r"[!-@\[-`{-~–—]")
_SIGNS = {chr(code): chr(_PRIVATE + code) for code in range(0x21, 0x7F)} | {
    "–": chr(_PRIVATE + 0x80),
    "—": chr(_PRIVATE + 0x81),
}
_BACK = str.maketrans({private: sign for sign, private in _SIGNS.items()})
_PRIVATES = re.compile(f"[{chr(_PRIVATE)}-{chr(_PRIVATE + 0x81)}]")


_ENTRY = r"(?m)(?:(?<=[)、．:：位|\"'*\t] )|(?<=[)、．:：位|\"'*\t])|(?<=\d\.)|(?<=\d\. )|(?<=[-•] )|^){}(?=\s*$|\s*[|\"'*:<\t])"
"""Around a title of numbers alone: an entry, as anywhere else it may be a score, a year
or a candidate's number.
"""


_NUMBER_GOES_ON = re.compile(
    r"(?m)^([ \t]*\d{1,3}[.)])[ \t]*\n[ \t]+(?=\S)(?![-*•]\s|\d{1,3}[.)])",
)
"""A number alone, with its entry indented below it."""

_CHAIN_GOES_ON = re.compile(r"(?<=\s)(>{1,2}|≻|→|->|=>)[ \t]*\n\s*")
"""Ends a line of a chain, ``Heat > Casino >``, that goes on in the next one."""

_GOES_ON = re.compile(r"[^\s]\n[ \t]*(?!\s|[-*•|#<\[{]\s|[(\[]?\d{1,3}[.):\]]\s)")
"""A line below another that begins no entry."""


_HYPHENATED = re.compile(r"\S-$")


class Shelter:
    """The titles of `items`, so that they stay whole while a text is cut."""

    def __init__(self, items: Iterable[Item]) -> None:
        self._offered = {
            title for item in items for title in (item.label, item.title) if title
        }
        signed = filter(_SIGN.search, self._offered)
        self._titles = sorted(signed, key=len, reverse=True)

    def unwrapped(self, text: str) -> str:
        """`text` with titles, and chains of them, that were
        broken across lines in one line.
        """
        if "<" not in text:
            text = _CHAIN_GOES_ON.sub(r"\1 ", text)
        if not _GOES_ON.search(text):
            return text
        text = _NUMBER_GOES_ON.sub(r"\1 ", text)
        for title in sorted(self._offered, key=len, reverse=True):
            if title not in text:
                text = _broken(title).sub(self._in_one_line, text)
        return text

    def _in_one_line(self, found: re.Match[str]) -> str:
        parts = [part.strip() for part in found[0].split("\n")]
        in_brackets = all(part.startswith("(") for part in parts[1:])
        if not in_brackets and not self._offered.isdisjoint(parts):
            return found[0]  # one below the other: "Alien", "Nation"
        return "".join(
            part if _HYPHENATED.search(part) else f"{part} " for part in parts
        ).rstrip()

    def close(self, text: str) -> str:
        """`text` with private characters in place of the signs in its titles."""
        text = self.unwrapped(text)
        escapes = "\\" in text or "&" in text
        for title in self._titles:
            for written in (title, *(_escaped(title) if escapes else ())):
                if written not in text:
                    continue
                if any(map(str.isalpha, written)):
                    text = text.replace(
                        written,
                        _sheltered(title),
                    )  # also within a word: it is restored
                else:
                    text = re.sub(
                        _ENTRY.format(re.escape(written)),
                        _sheltered(title),
                        text,
                    )
        return text

    def open(self, piece: Piece) -> Piece:
        """A piece of a closed text, with the signs in their places."""
        parts = (piece.text, piece.whole, piece.other_fields, piece.name)
        text, whole, other_fields, name = opened = tuple(map(_opened, parts))
        if opened == parts:
            return piece
        return replace(
            piece, text=text, whole=whole, other_fields=other_fields, name=name
        )


@once
def _opened(text: str) -> str:
    return text.translate(_BACK) if _PRIVATES.search(text) else text


@lru_cache(maxsize=1 << 12)
def _broken(title: str) -> re.Pattern[str]:
    """A title with a line break in place of any of its spaces, or behind a hyphen."""
    words = (
        re.escape(word).replace(r"\-", r"\-(?:\n[ \t]*)?") for word in title.split()
    )
    return re.compile(r"(?:[ \t]+|[ \t]*\n[ \t]*)".join(words))


@lru_cache(maxsize=1 << 14)
def _sheltered(title: str) -> str:
    return _SIGN.sub(lambda sign: _SIGNS[sign[0]], title)


@lru_cache(maxsize=1 << 14)
def _escaped(title: str) -> frozenset[str]:
    """How JSON, HTML and Markdown write a title, where that differs from the title."""
    ways = (
        json.dumps(title)[1:-1],
        json.dumps(title, ensure_ascii=False)[1:-1],
        html.escape(title),
        html.escape(title, quote=False),
        re.sub(r"([*_#\[\]|~])", r"\\\1", title),
    )
    return frozenset(ways) - {title}
