"""The titles of a group of items, by each way in which they are looked up."""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import cached_property, lru_cache
from itertools import chain
from typing import NamedTuple, TypeVar

from pytest_recsys_mt.llm.reading.misspelt import MostSimilar, NearWords
from pytest_recsys_mt.llm.reading.spelling import (
    in_digits,
    normalise,
    split_brackets,
    split_year,
    words,
)
from pytest_recsys_mt.requests import Item

YEAR_SLACK = 1
"""Years that a text and the catalogue may differ for one film: a festival and its
release.

The limit holds even among few items: 8 % of the films of MovieLens (823 of 9,742 in
ml-latest-small) have a namesake of another year in Wikidata alone, so "Casablanca
(1967)" may not be the one of 1942.
"""

MOST_SIMILAR = 8
"""How many names of a group are considered to be
misspelt: those of the largest similarity.
"""

Key = TypeVar("Key")

MIN_SCORE = 88.0
"""Least similarity (rapidfuzz's `ratio` of the normal
forms, of 100) of a misspelt title.
"""

_PART = re.compile(r",\s|\s[-–—]\s|\s?[(（]|:\s|：|，")


class Name(NamedTuple):
    """One name of an item."""

    item: Item
    year: int | None
    text: str
    rank: int  # 0 the title, 1 another name in its brackets


@lru_cache(maxsize=1 << 16)  # the items of a catalogue stand in thousands of requests
def names_of(item: Item) -> tuple[tuple[str, Name], ...]:
    """The names of an item, each by its normal form."""
    title, year = split_year(item.title or item.id)
    if item.year not in (None, year) or not item.title.endswith((")", "]", "）")):
        title, year = item.title or item.id, item.year  # "Wonder Woman, 1984" of 2020
    base, others = split_brackets(title)
    ranks = dict.fromkeys(others, 1) | dict.fromkeys(
        (base, item.title or item.id, title),
        0,
    )
    maker, dash, work = title.partition(" - ")
    if dash and year is None:  # "Radiohead - Creep" is "Creep by Radiohead", too
        ranks |= dict.fromkeys((f"{work} by {maker}", f"{work} {maker}"), 1)
    return tuple(
        (normalise(name), Name(item, year, name, rank)) for name, rank in ranks.items()
    )


def _by_key(names: Iterable[tuple[Key, Name]]) -> dict[Key, list[Name]]:
    index: dict[Key, list[Name]] = {}
    for key, name in names:
        index.setdefault(key, []).append(name)
    return index


class Group:
    """Items looked up together; `by_name` holds all names
    of equal normal form, in item order.
    """

    def __init__(self, items: Iterable[Item], *, closed: bool) -> None:
        self.by_name = _by_key(pair for item in items for pair in names_of(item))
        self.closed = closed  # few items: those offered or shown to the text's model

    @cached_property
    def by_words(self) -> dict[tuple[str, ...], list[Name]]:
        """Names by `words` in digits, for titles that
        differ only in articles and numbers.
        """
        return self._spelt[0]

    @cached_property
    def vocabulary(self) -> Collection[str]:
        return self._spelt[1]

    @cached_property
    def _spelt(self) -> tuple[dict[tuple[str, ...], list[Name]], Collection[str]]:
        known: dict[str, str] = {}  # each word once, however many titles contain it
        index = _by_key(
            (
                in_digits([known.setdefault(word, word) for word in words(name.text)]),
                name,
            )
            for name in self._all()
        )
        return index, known.keys()

    @cached_property
    def _near_words(self) -> NearWords:
        return NearWords(self.vocabulary)

    @cached_property
    def _most_similar(self) -> MostSimilar:
        return MostSimilar(self.by_name)

    def maybe_misspelt(
        self,
        key: str,
        spelling: Sequence[str],
        *,
        dated: bool,
    ) -> Collection[str]:
        """Every normal form that `best` may return and whose words may be misspelt so."""
        if self.closed:
            return [name for name, _ in self.best(key, MIN_SCORE)]
        titles = self._near_words.titles(spelling, dated=dated)
        return {
            normalise(n.text)
            for t in titles
            for n in self.by_words.get(in_digits(t), ())
        }

    def best(self, key: str, least: float) -> list[tuple[str, float]]:
        """The `MOST_SIMILAR` normal forms with their
        similarities, which are `least` or more.
        """
        return self._most_similar.best(key, least, MOST_SIMILAR)

    @cached_property
    def by_beginning(self) -> dict[str, list[Name]]:
        """Names by their part before a comma, a dash, a
        bracket, or, without a year, a colon.
        """
        return _by_key(
            (beginning, name)
            for name in self._all()
            for cut in _PART.finditer(name.text)
            if name.year is None or ":" not in cut[0]
            if (beginning := normalise(name.text[: cut.start()]))
        )

    @cached_property
    def by_main_title(self) -> dict[str, list[Name]]:
        parted = ((name.text.partition(":"), name) for name in self._all())
        return _by_key(
            (normalise(main), name) for (main, colon, _), name in parted if colon
        )

    def _all(self) -> Iterator[Name]:
        return chain.from_iterable(self.by_name.values())

    def standing(
        self,
        names: Sequence[Name],
        year: int | None,
        slack: int,
    ) -> Sequence[Name]:
        """The names that a text may stand for; none if nothing or too much matches."""
        if year is not None:
            near = [n for n in names if n.year is None or abs(n.year - year) <= slack]
            gaps = [abs(n.year - year) if n.year is not None else slack for n in near]
            names = [n for n, gap in zip(near, gaps, strict=True) if gap == min(gaps)]
        if len(names) > 1:
            rank = min(n.rank for n in names)
            names = [n for n in names if n.rank == rank]
            if not self.closed and len({n.year for n in names}) > 1:
                return ()
            if len({split_year(n.item.title)[0] for n in names}) > 1:  # editions, sizes
                return [
                    n
                    for n in names
                    if n.text in (n.item.title, split_year(n.item.title)[0])
                ]
        return names
