"""How titles are written: normal form, year, other names, misspellings."""

import html
import re
import unicodedata
from collections.abc import Callable, Container, Sequence
from functools import lru_cache, wraps
from typing import TypeVar

from pytest_recsys_mt.llm.reading.wording import phrase

MIN_LENGTH = 8
"""A normal form with fewer letters has no misspellings, only neighbours."""

_INVERTED = phrase("inverted", re.IGNORECASE)

_YEAR = phrase("year")

_ALSO_KNOWN = re.compile(r"^(?:a\.?\s?k\.?\s?a\.?|also known as)\s+", re.IGNORECASE)

_QUALIFIER = phrase("qualifier", re.IGNORECASE)

_STROKES = str.maketrans(
    {
        "ø": "o",
        "ł": "l",
        "đ": "d",
        "ð": "d",
        "þ": "th",
        "æ": "ae",
        "œ": "oe",
        "ı": "i",
        "&": "and",
    },
)

_SHORT_FORMS = {
    "ii": "2", "iii": "3", "iv": "4", "v": "5", "vi": "6", "vii": "7", "viii": "8", "ix": "9",
    "x": "10", "xi": "11", "xii": "12", "xiii": "13", "xiv": "14", "xv": "15", "xvi": "16",
    "vol": "volume", "pt": "part", "vs": "versus",
}  # fmt: skip

_PARTS = frozenset(("part", "volume", "episode", "chapter"))

_CARDINALS = {
    "one": "1", "two": "2", "three": "3", "four": "4", "five": "5", "six": "6", "seven": "7",
    "eight": "8", "nine": "9", "ten": "10", "eleven": "11", "twelve": "12", "thirteen": "13",
}  # fmt: skip

_WIDE_DIGITS = str.maketrans("０１２３４５６７８９", "0123456789")

_DOUBLED = re.compile(r"(.)\1+")

_RECURS = 120  # most characters of a text that is kept with its reading

_NO_LETTERS = re.compile(r"[^a-z0-9]+")

MAX_LENGTH = 400
"""Most characters of a text that can belong to a title; the rest is ignored."""


def _fold(text: str) -> str:
    if text.isascii() and "&" not in text:
        return text.lower()  # the same, and most titles are like this
    text = unicodedata.normalize("NFKC", html.unescape(text)).casefold()
    return unaccented(text).translate(_STROKES)


def unaccented(text: str) -> str:
    """A text without Latin accents, as many models write names: Agnes Varda."""
    if text.isascii():
        return text
    parts = unicodedata.normalize("NFD", text)
    plain = "".join(char for char in parts if not "\u0300" <= char <= "\u036f")
    return unicodedata.normalize("NFC", plain)


def _uninvert(title: str) -> str:
    match = _INVERTED.search(title)
    if match is None:
        return title
    return f"{match[1]} {title[: match.start()].lstrip()}{title[match.end() :]}"


@lru_cache(maxsize=1 << 16)
def normalise(title: str) -> str:
    """The form in which equal titles are equal: only letters and digits, of any script.

    ``Matrix, The`` and ``the  MATRIX!`` are both ``thematrix``; ``&`` is ``and``. A
    title without letters and digits is its own normal form.
    """
    folded = _fold(_uninvert(html.unescape(title[:MAX_LENGTH].strip())))
    if folded.isascii():
        letters = _NO_LETTERS.sub("", folded)
    else:
        letters = "".join(
            c for c in folded if c.isalnum() or unicodedata.category(c)[0] == "M"
        )
    return letters or "".join(folded.split())


Read = TypeVar("Read")


def once(read: Callable[[str], Read]) -> Callable[[str], Read]:
    """`read` for texts that recur, as titles and their
    lines do: short ones are read once.
    """
    kept = lru_cache(maxsize=1 << 15)(read)

    @wraps(read)
    def reading(text: str) -> Read:
        return kept(text) if len(text) <= _RECURS else read(text)

    return reading


@once
def split_year(text: str) -> tuple[str, int | None]:
    """A text without the year of release at its end, ``Heat (1995)``, and that year."""
    text = text.strip()
    match = _YEAR.search(text.translate(_WIDE_DIGITS))
    if match is None or not text[: match.start()].strip():
        return text, None
    return text[: match.start()].strip(), int(match[1] or match[2])


def split_brackets(title: str) -> tuple[str, tuple[str, ...]]:
    """A title and its other names, which MovieLens puts in brackets after it.

    ``Seven (a.k.a. Se7en)`` is ``Seven`` and ``Se7en``. A bracket that distinguishes
    versions (``Part 1``) is not another name.
    """
    names: list[str] = []
    title = title.strip()
    while (
        title.endswith(")") and (start := _opening(title)) > 0 and title[:start].strip()
    ):
        inner = _ALSO_KNOWN.sub("", title[start + 1 : -1].strip())
        if inner and not _QUALIFIER.match(inner) and not inner.isdigit():
            names.append(inner)
        title = title[:start].strip()
    return title, tuple(reversed(names))


def _opening(text: str) -> int:
    depth = 0
    for at in range(len(text) - 1, -1, -1):
        depth += (text[at] == ")") - (text[at] == "(")
        if depth == 0:
            return at
    return -1


def words(title: str) -> tuple[str, ...]:
    """The words of a title for comparison: folded, without articles, numerals as
    digits.

    ``Part II``, ``Vol. 2`` and ``2`` are one word, except at the beginning.
    """
    found: list[str] = re.findall(
        r"\w+",
        _fold(_uninvert(title)).replace("'", "").replace("’", ""),
    )
    kept: list[str] = []
    for word in found:
        if word in ("a", "an", "the"):
            continue
        word = _SHORT_FORMS.get(word, word) if kept else word
        if len(kept) > 1 and kept[-1] in _PARTS and (word == "i" or word.isdigit()):
            kept[-1] = "1" if word == "i" else word
        else:
            kept.append(word)
    return tuple(kept)


def in_digits(title: Sequence[str]) -> tuple[str, ...]:
    """The words with the numbers up to thirteen as digits: ``Ocean's Eleven`` as
    ``Ocean's 11``.

    A title that is only a number stays: ``Nine`` and ``9`` are two films of one year.
    """
    return (
        tuple(_CARDINALS.get(word, word) for word in title)
        if len(title) > 1
        else tuple(title)
    )


def is_foreign(text: str) -> bool:
    """Whether a text is written in another script than Latin."""
    return any(c.isalpha() and ord(c) > 0x36F for c in text)


def is_misspelling(
    written: Sequence[str],
    title: Sequence[str],
    *,
    known: Container[str] = frozenset(),
    dated: bool = False,
) -> bool:
    """Whether these words can only be a misspelling of that title.

    Most titles one letter apart are two films (Alien and Aliens, Contact and Contract,
    Julie and Julia). So the number of words must be equal; numbers and short words must
    be equal; each word may have one edit, inside it; and a long word must be equal, or
    the misspelt one must be long.

    No word of `known` titles is a misspelling of another (Good Will Haunting). If the
    text is `dated` as the title, then, with an equal long word, a missing or extra
    letter is allowed in shorter words too, even if that makes another word (Forest
    Gump), and a doubled letter in the shortest.
    """
    from rapidfuzz.distance import OSA

    if len(written) != len(title):
        return False
    edited = [(a, b) for a, b in zip(written, title, strict=True) if a != b]
    has_equal_word = any(
        len(a) >= 4 and a == b for a, b in zip(written, title, strict=True)
    )
    anchored = has_equal_word and sum(map(len, title)) >= 12
    if not 1 <= len(edited) <= (2 if anchored else 1):
        return False
    for a, b in edited:
        slip = dated and has_equal_word and len(a) != len(b)
        least = 5 if anchored or slip else MIN_LENGTH
        if dated and _DOUBLED.sub(r"\1", a) == _DOUBLED.sub(r"\1", b):
            least = 3 if has_equal_word else 5
        if min(len(a), len(b)) < least or any(c.isdigit() for c in a + b):
            return False
        if a[0] != b[0] or a[-1] != b[-1] or OSA.distance(a, b, score_cutoff=1) > 1:
            return False
        if {a[-3:], b[-3:]} == {"man", "men"} or (a in known and not slip):
            return False
    return True
