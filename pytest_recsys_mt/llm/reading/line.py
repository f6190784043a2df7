"""The pieces of one line: its marker, a chain of titles, several numbers."""

import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal

from pytest_recsys_mt.llm.reading.fields import measured
from pytest_recsys_mt.llm.reading.spelling import once
from pytest_recsys_mt.llm.reading.wording import ORDINALS, phrase

Place = Literal["numbered", "bulleted", "data", "line", "note", "tag"]
"""The place of a piece.

* ``numbered``, ``bulleted``: an entry of a list of that kind
* ``data``: an element of JSON, a cell of a table, an element of an HTML list
* ``line``: a separate line
* ``note``: below a numbered entry, where comments stand
* ``tag``: no text, but where a part of the answer begins or ends, such as ``<answer>``; its name is the text
"""


@dataclass(frozen=True, slots=True, eq=False)
class Piece:
    """A part of an answer that may name one item, or several in one line, without its
    list marker.

    A piece is equal to itself alone: two lines with the same words are two pieces.
    """

    text: str
    place: Place
    whole: str = ""  # with its list marker, for titles that begin like one
    year: int | None = None  # of release, if the data contain it
    number: int | None = None  # the one in its list marker, or the rank in the data
    score: float | None = None  # in the data; the best is the highest
    name: str = ""  # of the list, in the data or at the beginning of the line
    group: str = ""  # the list that it belongs to, of several in data
    # Whether it is a whole ranking in one line: ``[3] > [1] > [2]``.
    chain: bool = False
    other_fields: str = ""  # the other cells or fields of the entry in the data


MAX_PIECES = 1_000
"""Most pieces of an answer to read; no list of recommendations is that long."""

_NUMBER, _LABELLED, _RANKED = (
    phrase(key, re.IGNORECASE) for key in ("number", "labelled", "ranked")
)

_KEYCAP = phrase("keycap")

_BARE_NUMBER = phrase("bare_number")

_BULLET = phrase("bullet")

_INLINE_NUMBER = re.compile(
    r"(?:^|(?<=[\s,;)\uf129]))[(#]{0,2}(\d{1,3})[.):](?=\s|\*\*|[\"“'‘])",
)

LABEL = (
    r"(?:(?:candidate|option|item|movie|film|book|song|track|game|product|article|passage|document|doc|choice|id|number|no|nr)"
    r"[\s_.:#-]{0,2})?"
)

_NUMBERED_ITEM = rf"{LABEL}(?:\[\d{{1,4}}\]|\(\d{{1,4}}\)|\{{\d{{1,4}}\}}|#?\d{{1,4}})"

_ARROW = r"\s*(?:>{1,2}|≻|→|->|=>)\s*"

_LEAD = (
    r"(?P<lead>[^\d\[\]<>|]{0,80}?(?:[:：=]|\b(?:is|are|ist|sind|est|es|são|è))\s*)?"
)

_CHAIN = re.compile(
    rf"{_LEAD}(?P<chain>{_NUMBERED_ITEM}(?:(?:{_ARROW}|\s*[,;|，、]\s*(?:and\s)?){_NUMBERED_ITEM})+"
    rf"|\[\d{{1,4}}\](?:\s+\[\d{{1,4}}\])+|\d{{1,4}}(?:\s\d{{1,4}}){{2,}}"
    rf"|[\[(]?[A-Z][\])]?(?:{_ARROW}[\[(]?[A-Z][\])]?)+)\s?(?:\([^()\d]{{0,80}}\))?[.。]?",
    re.IGNORECASE,
)

_BRACKETED = re.compile(
    rf"(?P<lead>[^\d\[\]<>|]{{0,120}})(?P<chain>\[\d{{1,4}}\](?:{_ARROW}\[\d{{1,4}}\])+)[^\d\[\]<>|]{{0,300}}",
)
"""Also inside a sentence."""

_TITLES = phrase("titles")

_SCORED = phrase("scored")

_TWO_NUMBERS = re.compile(r"#?\d+\W+\d{1,3}")  # a ranking of two candidates: ``3 → 1``


def chained(line: str) -> tuple[str, str] | None:
    """The introduction of a ranking in one line, and the ranking; None if none."""
    line = line.strip(' \t*_`"')
    found = (
        _CHAIN.fullmatch(line) or _BRACKETED.fullmatch(line) or _TITLES.fullmatch(line)
    )
    return (
        None
        if found is None
        else ((found["lead"] or "").strip(), found["chain"].strip())
    )


def without_chain(piece: Piece, is_title: Callable[[str], bool]) -> Sequence[Piece]:
    """The pieces of a line, but no chain if it is a title: ``- Blocks: 2 2 2``."""
    cut = _cut(piece.whole, chains=False) if piece.chain else ()
    return cut if len(cut) == 1 and is_title(cut[0].text) else [piece]


def _cut(line: str, *, chains: bool, inside: bool = False) -> Sequence[Piece]:
    """The pieces of a line, or of one `inside` a bullet,
    within which no further one is looked for.
    """
    whole = line
    if (
        line[:1] in (">", "#")
        and (rest := line.lstrip("#> "))
        and not line[1:2].isdigit()
    ):
        line = rest
    ranked = _RANKED.fullmatch(line)
    if ranked and not _TWO_NUMBERS.fullmatch(line):
        rank, rest = _rank_of(ranked["rank"]), ranked["rest"] or ranked["said"]
        line = f"{rank}. {rest}" if rank else rest  # else it may be prose
    if scored := _SCORED.fullmatch(line):
        score = measured(scored["score"] or scored["p"])
        return [Piece(scored["rest"] or scored["title"], "data", line, score=score)]
    if chains and (chain := chained(line)) is not None:
        return [Piece(line, "line", line, name=chain[0], chain=True)]
    if parts := _inline_numbers(line):
        return parts
    number = _number(line) or _LABELLED.match(line)
    if number is not None:
        text = line[number.end() :].strip()
        ends = number["end"] or number.groupdict().get("late")
        if text and number["bold"] and not ends:
            text = f"**{text}"
        bullet = _BULLET.match(text)
        text = text[bullet.end() :] if bullet else text
        return [Piece(text, "numbered", line, number=int(number["n"]))]
    if keycap := _KEYCAP.match(line) or _BARE_NUMBER.match(line):
        return [
            Piece(line[keycap.end() :], "numbered", line, number=_digits(keycap[0])),
        ]
    bullet = _BULLET.match(line)
    text = line[bullet.end() :].strip() if bullet is not None else ""
    if not text:
        return [Piece(line, "line", whole)]
    inner = (
        [] if inside or _BULLET.match(text) else _cut(text, chains=chains, inside=True)
    )
    if all(piece.place == "line" and not piece.chain for piece in inner):
        return [Piece(text, "bulleted", line)]
    return [replace(piece, whole=line) if piece.chain else piece for piece in inner]


marked = once(partial(_cut, chains=True))

_PLACES = {word: at for at, words in enumerate(ORDINALS, 1) for word in words.split()}


def _rank_of(words: str) -> int | None:
    """The rank that a label says, in digits or in a word."""
    number = re.search(r"\d+", words)
    if number:
        return int(number[0])
    return _PLACES.get(words.split()[0].casefold()) if words.split() else None


_SIGNS = ("I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX", "X", "🥇", "🥈", "🥉")


def _digits(marker: str) -> int | None:
    named = marker.strip(" .)").upper()
    if named in _SIGNS:
        return _SIGNS.index(named) % 10 + 1
    digits = "".join(char for char in marker if char.isdecimal())
    if digits:
        return int(digits)
    number = next(
        filter(None, (unicodedata.numeric(char, None) for char in marker)),
        None,
    )
    return None if number is None else int(number)


_OF_NUMBERS = ".:,-–—"
"""Signs that also stand inside a number or a time: ``7.5``, ``10:30``."""


def _number(line: str) -> re.Match[str] | None:
    number = _NUMBER.match(line)
    if number is None:
        return None
    following = line[number.end() : number.end() + 1]
    tight = not number["space"] and not number["mark"].isspace()
    decimal = following.isdigit() and number["mark"][-1] in _OF_NUMBERS
    inside = decimal or (":" in number["mark"] and following)
    return None if tight and inside else number


def _inline_numbers(line: str) -> list[Piece]:
    marks: list[re.Match[str]] = []
    for match in _INLINE_NUMBER.finditer(line):
        turn = int(marks[-1][1]) + 1 if marks else 1
        if int(match[1]) == turn and (not marks or match[0][-1] == marks[0][0][-1]):
            marks.append(match)
    if len(marks) < 2:
        return []
    ends = [mark.start() for mark in marks[1:]] + [len(line)]
    parts = [
        line[m.end() : end].strip(" \t,;") for m, end in zip(marks, ends, strict=True)
    ]
    if not all(parts):
        return []
    before = line[: marks[0].start()].strip()
    head = [Piece(before, "note")] if before else []
    return head + [
        Piece(part, "numbered", number=int(mark[1]))
        for mark, part in zip(marks, parts, strict=True)
    ]


def numbered_text(text: str) -> tuple[str, int | None]:
    """A text behind its list marker, and the number in it;
    an empty text if it begins with none.
    """
    number = _number(text)
    return ("", None) if number is None else (text[number.end() :], int(number["n"]))
