"""Finding items by the titles people and models write.

Two titles are equal when their normal forms are. What is not equal may still match, but only where
nothing speaks against it: a wrong match is a wrong verdict, a missed one is a reported unknown title.
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import NamedTuple

from pytest_recsys_mt.requests import Item

YEAR_SLACK = 1
"""Years that a text and the catalogue may differ for one film: a festival and its release."""

MIN_SCORE = 88.0
"""Least similarity (rapidfuzz's `ratio` of the normal forms, of 100) of a misspelt title."""

MIN_MARGIN = 3.0
"""By how much the best misspelt title must beat the next plausible one, in the same unit."""

MIN_LENGTH = 8
"""Letters of the normal form below which a title has no misspellings, only neighbours."""

_INVERTED = re.compile(
    r",\s?(the|an?|d(?:er|ie|as|en|em|e|et)|eine?|les?|la|l['’]|une?|des|el|l[ao]s|una|il|lo|gli|i|uno"
    r"|os?|as|uma?|het|een|en|ett?)(?=\s*$|\s*[\[(:]|\s+[-–—]\s)",
    re.IGNORECASE,
)
"""The article that libraries put behind a title: ``Matrix, The``."""

_YEAR = re.compile(
    r"[(\[（]\s?((?:18|19|20)\d\d)(?:\s?[-–—/]\s?(?:\d{2,4})?)?(?:[,;:]?\s[^()\[\]（）]{0,60})?[)\]）]$"
    r"|(?:\s[-–—|]\s|,\s?|\s/\s)((?:18|19|20)\d\d)$"
)

_ALSO_KNOWN = re.compile(r"^(?:a\.?\s?k\.?\s?a\.?|also known as)\s+", re.IGNORECASE)

_QUALIFIER = re.compile(
    r"(?:part|vol|volume|season|series|episode|chapter|uncut|unrated|extended|remastered|director|"
    r"imax|tv|3d|dvd|the movie|the director|original|new|remake|subtitled|dubbed)\b",
    re.IGNORECASE,
)
"""How a bracket begins that says which of several it is, not how else it is called."""

_WHICH = re.compile(r"\((?:part|vol|volume|season|series|episode|chapter)\b", re.IGNORECASE)
"""A bracket without which a title is another one."""

_STROKES = str.maketrans(
    {"ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "æ": "ae", "œ": "oe", "ı": "i", "&": "and"}
)

_ROMAN = {
    "ii": "2", "iii": "3", "iv": "4", "v": "5", "vi": "6", "vii": "7", "viii": "8", "ix": "9",
    "x": "10", "xi": "11", "xii": "12", "xiii": "13", "xiv": "14", "xv": "15", "xvi": "16",
}  # fmt: skip

_SHORT_FORMS = {**_ROMAN, "vol": "volume", "pt": "part", "vs": "versus"}

_LIMIT = 400
"""Characters of a text that can be part of a title; whatever follows is no title any more."""


def _fold(text: str) -> str:
    """Case, compatibility forms and Latin diacritics folded; signs of other scripts stay."""
    text = unicodedata.normalize("NFKC", html.unescape(text)).casefold()
    text = unicodedata.normalize("NFD", text)
    text = "".join(c for c in text if not "\u0300" <= c <= "\u036f")
    return unicodedata.normalize("NFC", text).translate(_STROKES)


def _uninvert(title: str) -> str:
    """``Matrix, The`` as ``The Matrix``, also before a bracket or a subtitle."""
    match = _INVERTED.search(title)
    if match is None:
        return title
    return f"{match[1]} {title[: match.start()].lstrip()}{title[match.end() :]}"


@lru_cache(maxsize=1 << 16)
def normalise(title: str) -> str:
    """The form in which equal titles are equal: letters and digits alone, of any script.

    ``Matrix, The`` and ``the  MATRIX!`` are both ``thematrix``. Characters of width and
    compatibility (NFKC), HTML entities, case, Latin diacritics, punctuation and spaces do not
    count, ``&`` is ``and``. A title without any letter or digit is its own normal form.
    """
    folded = _fold(_uninvert(html.unescape(title[:_LIMIT].strip())))
    letters = "".join(c for c in folded if c.isalnum() or unicodedata.category(c)[0] == "M")
    return letters or "".join(folded.split())


def split_year(text: str) -> tuple[str, int | None]:
    """A text without the year of release at its end, ``Heat (1995)``, and that year."""
    text = text.strip()
    match = _YEAR.search(text)
    if match is None or not text[: match.start()].strip():
        return text, None
    return text[: match.start()].strip(), int(match[1] or match[2])


def split_brackets(title: str) -> tuple[str, tuple[str, ...]]:
    """A title and its other names, which MovieLens puts in brackets behind it.

    ``Seven (a.k.a. Se7en)`` is ``Seven`` and ``Se7en``. A bracket that says which of several it is
    (``Part 1``) is no other name.
    """
    names: list[str] = []
    title = title.strip()
    while title.endswith(")") and (start := _opening(title)) > 0 and title[:start].strip():
        inner = _ALSO_KNOWN.sub("", title[start + 1 : -1].strip())
        if inner and not _QUALIFIER.match(inner) and not inner.isdigit():
            names.append(inner)
        title = title[:start].strip()
    return title, tuple(reversed(names))


def _opening(text: str) -> int:
    """Where the bracket opens that closes at the end of a text, or -1."""
    depth = 0
    for at in range(len(text) - 1, -1, -1):
        depth += (text[at] == ")") - (text[at] == "(")
        if depth == 0:
            return at
    return -1


def words(title: str) -> tuple[str, ...]:
    """The words of a title as they are compared: folded, articles gone, numerals as digits."""
    found: list[str] = re.findall(r"\w+", _fold(_uninvert(title)).replace("'", "").replace("’", ""))
    kept = [word for word in found if word not in ("a", "an", "the")]
    return tuple(_SHORT_FORMS.get(w, w) if i else w for i, w in enumerate(kept))


class _Name(NamedTuple):
    """One name of one item."""

    item: Item
    year: int | None
    text: str
    rank: int  # 0 the title, 1 another name in its brackets


@dataclass(frozen=True)
class _Group:
    """Items looked up together; `by_name` holds all names of equal normal form, in item order."""

    by_name: dict[str, list[_Name]]
    closed: bool  # few items that the text was asked to choose among or was shown

    @classmethod
    def of(cls, items: Iterable[Item], *, closed: bool) -> _Group:
        by_name: dict[str, list[_Name]] = {}
        for item in items:
            title, year = split_year(item.title or item.id)
            if item.year not in (None, year):  # "Wonder Woman, 1984" of 2020
                title, year = item.title, item.year
            base, others = split_brackets(title)
            ranks = {normalise(name): (1, name) for name in others}
            ranks |= {normalise(name): (0, name) for name in (base, item.title or item.id, title)}
            for key, (rank, name) in ranks.items():
                by_name.setdefault(key, []).append(_Name(item, year, name, rank))
        return cls(by_name, closed)

    @cached_property
    def by_words(self) -> dict[tuple[str, ...], list[_Name]]:
        """Names by `words`, for what differs in articles and numerals alone."""
        index: dict[tuple[str, ...], list[_Name]] = {}
        for names in self.by_name.values():
            for name in names:
                index.setdefault(words(name.text), []).append(name)
        return index

    @cached_property
    def by_main_title(self) -> dict[str, list[_Name]]:
        """Names with a subtitle by what stands before it."""
        index: dict[str, list[_Name]] = {}
        for names in self.by_name.values():
            for name in names:
                main, colon, _ = name.text.partition(":")
                if colon:
                    index.setdefault(normalise(main), []).append(name)
        return index

    def choose(
        self, names: Sequence[_Name], year: int | None, slack: int, used: Collection[str]
    ) -> Item | None:
        """The one item these names stand for, or None where nothing or too much fits."""
        if year is not None:
            near = [n for n in names if n.year is None or abs(n.year - year) <= slack]
            gaps = [abs(n.year - year) if n.year is not None else slack for n in near]
            names = [n for n, gap in zip(near, gaps, strict=True) if gap == min(gaps)]
        names = [n for n in names if n.rank == min(m.rank for m in names)]
        if not names:
            return None
        fresh = [n for n in names if n.item.id not in used] or names
        if self.closed or len({n.year for n in names}) == 1:
            return fresh[0].item
        return None


class Scope:
    """The items of one request in the order they are looked up: offered, history, catalogue.

    `TitleIndex.scope` makes it; it serves all entries of one answer.
    """

    def __init__(self, groups: Sequence[_Group]) -> None:
        self._groups = groups

    def equal(self, text: str, year: int | None = None, used: Collection[str] = ()) -> Item | None:
        """The item of an equal title, see `TitleIndex.find`; nothing misspelt matches."""
        text = text[:_LIMIT]
        title, found = split_year(text)
        item = self._equal(normalise(text), year, used)
        year = year if year is not None else found
        if item is None and title != text:
            item = self._equal(normalise(title), year, used)
        return item or self._bracketed(title, year, used)

    def find(self, text: str, year: int | None = None, used: Collection[str] = ()) -> Item | None:
        """The item of a title, which may be misspelt; see `TitleIndex.find`."""
        item = self.equal(text, year, used)
        if item is not None:
            return item
        title, found = split_year(text[:_LIMIT])
        year = year if year is not None else found
        for name in dict.fromkeys((title, split_brackets(title)[0])):
            item = self._reworded(name, year, used) or self._misspelt(name, year, used)
            if item is not None:
                return item
        return None

    def extends(self, text: str) -> bool:
        """Whether a longer title begins with this text, as the end of a cut-off answer does."""
        key = normalise(text)
        return any(
            name.startswith(key) and name != key for group in self._groups for name in group.by_name
        )

    def _bracketed(self, title: str, year: int | None, used: Collection[str]) -> Item | None:
        """A title with another name in brackets: where both are of films, they must be of one.

        ``The Ring (Ringu)`` names two films, hence none. The name in brackets counts alone only
        where the year agrees, or where it is the same title in another script.
        """
        base, others = split_brackets(title)
        if base == title or _WHICH.search(title, len(base)):
            return None
        items = [self._equal(normalise(name), year, used) for name in (base, *others)]
        found = [item for item in items if item is not None]
        if len({item.id for item in found}) != 1:
            return None
        name = (base, *others)[items.index(found[0])]
        foreign = _is_foreign(name) != _is_foreign(base)
        return found[0] if items[0] or found[0].year == year or foreign else None

    def _equal(self, key: str, year: int | None, used: Collection[str]) -> Item | None:
        for slack in (0, YEAR_SLACK) if year is not None else (0,):
            for group in self._groups:
                names = group.by_name.get(key, ())
                if year is not None and slack == 0:
                    names = [name for name in names if name.year == year]
                item = group.choose(names, year, slack, used)
                if item is not None:
                    return item
        return None

    def _reworded(self, text: str, year: int | None, used: Collection[str]) -> Item | None:
        """Articles, numerals (``Rocky 2``) and, with the year agreeing, a subtitle left out.

        "The Batman" is not "Batman": an article alone is left out only where the text chose among
        few, or the year agrees; a subtitle only where both do, since spin-offs share their year.
        """
        key = words(text)
        if not key:
            return None
        for group in self._groups:
            names = group.by_words.get(key, [])
            if not group.closed:
                first = normalise(text)[:1]
                names = [
                    name
                    for name in names
                    if (year is not None and name.year == year)
                    or (any(w.isdigit() for w in key) and normalise(name.text)[:1] == first)
                ]
            item = group.choose(names, year, YEAR_SLACK, used)
            if item is not None:
                return item
        if year is None:
            return None
        near = [group for group in self._groups if group.closed]
        main = [n for g in near for n in g.by_main_title.get(normalise(text), ())]
        main = [name for name in main if name.year == year]
        return main[0].item if len({name.item.id for name in main}) == 1 else None

    def _misspelt(self, text: str, year: int | None, used: Collection[str]) -> Item | None:
        from rapidfuzz import fuzz, process

        key, spelling = normalise(text), words(text)
        if len(key) < MIN_LENGTH:
            return None
        scores: dict[str, tuple[float, Item]] = {}
        for group in self._groups:
            near = process.extract(
                key, group.by_name.keys(), scorer=fuzz.ratio, score_cutoff=MIN_SCORE, limit=8
            )
            for name, score, _ in near:
                names = [
                    n
                    for n in group.by_name[name]
                    if (group.closed or len(spelling) > 1 or (year is not None and n.year == year))
                    and is_misspelling(spelling, words(n.text))
                ]
                item = group.choose(names, year, YEAR_SLACK, used)
                if item is not None and name not in scores:
                    scores[name] = (score, item)
        ranked = sorted(scores.values(), key=lambda hit: -hit[0])
        if not ranked:
            return None
        best, item = ranked[0]
        rivals = [score for score, other in ranked[1:] if other.id != item.id]
        return None if rivals and best - rivals[0] < MIN_MARGIN else item


class TitleIndex:
    """The items of a catalogue by what they are called.

    Args:
        items: The catalogue.
    """

    def __init__(self, items: Iterable[Item]) -> None:
        self._catalogue = _Group.of(items, closed=False)

    def scope(self, offered: Iterable[Item] = (), history: Iterable[Item] = ()) -> Scope:
        """The items of one request; `offered` come first, then `history`, then the catalogue."""
        return Scope(
            [_Group.of(offered, closed=True), _Group.of(history, closed=True), self._catalogue]
        )

    def find(self, text: str, year: int | None = None, offered: Iterable[Item] = ()) -> Item | None:
        """The item that `text` names, or None.

        Titles are equal by `normalise`, by the title or by another name in its brackets; a year in
        the text must agree (within `YEAR_SLACK`) and tells remakes apart. An item among `offered`
        comes before the rest of the catalogue. What differs in articles, numerals or spelling
        matches only where it can hardly be anything else (`is_misspelling`, `MIN_SCORE`,
        `MIN_MARGIN`; a single word only among `offered`, or with its year). A title that several years of the catalogue share names none of them.

        Args:
            text: The title, perhaps with its year in brackets.
            year: Of release, where it is known from elsewhere.
            offered: Items that the text was asked to choose among.
        """
        return self.scope(offered).find(text, year)


def _is_foreign(text: str) -> bool:
    """Whether a text is written in another script than the Latin one."""
    return any(c.isalpha() and ord(c) > 0x36F for c in text)


def is_misspelling(written: Sequence[str], title: Sequence[str]) -> bool:
    """Whether these words can only be the words of that title, misspelt.

    Most titles one letter apart are two films (Alien and Aliens, Contact and Contract, Julie and
    Julia), so: as many words; numbers and short words equal; one edit a word, inside it; and either
    a long word is equal too, or the misspelt one is long.
    """
    from rapidfuzz.distance import OSA

    if len(written) != len(title):
        return False
    edited = [(a, b) for a, b in zip(written, title, strict=True) if a != b]
    anchored = any(len(a) >= 4 and a == b for a, b in zip(written, title, strict=True))
    anchored = anchored and sum(map(len, title)) >= 12
    if not 1 <= len(edited) <= (2 if anchored else 1):
        return False
    for a, b in edited:
        short = min(len(a), len(b))
        if short < (5 if anchored else MIN_LENGTH) or any(c.isdigit() for c in a + b):
            return False
        if a[0] != b[0] or a[-1] != b[-1] or OSA.distance(a, b, score_cutoff=1) > 1:
            return False
        if {a[-3:], b[-3:]} == {"man", "men"}:
            return False
    return True
