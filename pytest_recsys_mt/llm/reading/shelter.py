"""Keeps the titles of offered items whole while an answer is cut into pieces.

A title may hold what elsewhere divides or marks entries: commas, colons, numbers, quotes, dashes. While an answer is cut,
each such sign of an offered title is replaced by a private character, and put back in the pieces.
"""

import html
import json
import re
from collections.abc import Iterable
from dataclasses import replace
from functools import lru_cache

from pytest_recsys_mt.llm.reading.line import Piece
from pytest_recsys_mt.requests import Item

_PRIVATE = 0xF100
"""Where the private characters begin; they stand for the ASCII characters in their order, ``)`` is U+F129."""

_SIGN = re.compile(r"[!-@\[-`{-~–—]")
_SIGNS = {chr(code): chr(_PRIVATE + code) for code in range(0x21, 0x7F)} | {
    "–": chr(_PRIVATE + 0x80),
    "—": chr(_PRIVATE + 0x81),
}
_BACK = str.maketrans({private: sign for sign, private in _SIGNS.items()})
_PRIVATES = re.compile(f"[{chr(_PRIVATE)}-{chr(_PRIVATE + 0x81)}]")


_ENTRY = r"(?m)(?:(?<=[)、．:：位|\"'*\t] )|(?<=[)、．:：位|\"'*\t])|(?<=\d\.)|(?<=\d\. )|(?<=[-•] )|^){}(?=\s*$|\s*[|\"'*:<\t])"
"""Around a title of numbers alone: an entry, as anywhere else it may be a score, a year or a candidate's number."""


class Shelter:
    """The titles of `items` that hold signs, the longest first."""

    def __init__(self, items: Iterable[Item]) -> None:
        titles = {
            title for item in items for title in (item.label, item.title) if _SIGN.search(title)
        }
        self._titles = sorted(titles, key=len, reverse=True)

    def close(self, text: str) -> str:
        """`text` with private characters in place of the signs in its titles."""
        escapes = "\\" in text or "&" in text
        for title in self._titles:
            for written in (title, *(_escaped(title) if escapes else ())):
                if written not in text:
                    continue
                if any(map(str.isalpha, written)):
                    text = text.replace(
                        written, _sheltered(title)
                    )  # also within a word: it is put back
                else:
                    text = re.sub(_ENTRY.format(re.escape(written)), _sheltered(title), text)
        return text

    def open(self, piece: Piece) -> Piece:
        """A piece of a closed text, with the signs in their places."""
        if not any(map(_PRIVATES.search, (piece.text, piece.whole, piece.beside, piece.name))):
            return piece
        return replace(
            piece,
            text=piece.text.translate(_BACK),
            whole=piece.whole.translate(_BACK),
            beside=piece.beside.translate(_BACK),
            name=piece.name.translate(_BACK),
        )


@lru_cache(maxsize=1 << 14)
def _sheltered(title: str) -> str:
    return _SIGN.sub(lambda sign: _SIGNS[sign[0]], title)


def _escaped(title: str) -> Iterable[str]:
    """How JSON, HTML and Markdown write a title."""
    yield json.dumps(title)[1:-1]
    yield json.dumps(title, ensure_ascii=False)[1:-1]
    yield html.escape(title)
    yield html.escape(title, quote=False)
    yield re.sub(r"([*_#\[\]|~])", r"\\\1", title)
