"""Finding items by the titles people and models write.

Two titles are equal if their normal forms are. Unequal titles may still match, but only
if nothing contradicts it: a wrong match is a wrong verdict, a missed one is a reported
unknown title.
"""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cached_property

from pytest_recsys_mt.llm.reading.named import MIN_SCORE, YEAR_SLACK, Group, Name
from pytest_recsys_mt.llm.reading.shelter import Shelter
from pytest_recsys_mt.llm.reading.spelling import (
    MAX_LENGTH,
    MIN_LENGTH,
    in_digits,
    is_foreign,
    is_misspelling,
    normalise,
    split_brackets,
    split_year,
    words,
)
from pytest_recsys_mt.llm.reading.wording import phrase
from pytest_recsys_mt.requests import Item

__all__ = ["Scope", "TitleIndex", "normalise"]

ROUNDING = 0.01
"""Above the rounding errors of a similarity, also of the single precision that
rapidfuzz gives a limit.
"""

MIN_MARGIN = 3.0
"""By how much the best misspelt title must beat the second best, in the same unit."""

LONG = 5
"""Titles with at least this many words, without articles, are one title if they differ
only in an article: of 17,472 films of Wikidata none of that length has such a namesake,
of shorter ones 148.
"""

_WHICH = re.compile(
    r"\((?:part|vol|volume|season|series|episode|chapter)\b",
    re.IGNORECASE,
)
"""A bracket whose absence makes another title."""

_SENTENCE = re.compile(r"[\"«»“”]|\s[-–—|]\s|\((?:18|19|20)\d\d\)")
"""Words of a sentence around its titles: the bracket is of the last one alone."""
_NUMBERS = re.compile(r"\s*\d+(?:\s*[,;]\s*\d+)+\s*")

_IN_BRACKETS = re.compile(r"\(((?:18|19|20)\d\d)\)")

_numbers = re.compile(r"\d+").findall

_LOOSE_YEAR = phrase("loose_year")


class Scope:
    """The items of one request in the order they are
    looked up: offered, history, catalogue.
    """

    def __init__(
        self,
        groups: Sequence[Group],
        copies: Mapping[str, Item] | None = None,
        offered: Sequence[Item] = (),
    ) -> None:
        self._offered = offered
        self._groups = groups
        self._copies = copies or {}
        self._kept: dict[tuple[str, int | None], Item] = {}
        self._by_use = False  # whether use already decided anything

    @cached_property
    def shelter(self) -> Shelter:
        """The titles of the offered items."""
        return Shelter(self._offered)

    @cached_property
    def offered_letters(self) -> str:
        """The normal forms of all names of the offered items, between blanks."""
        names = self._groups[0].by_name if self._groups else {}
        return " ".join([*names, *self._copies])

    def equal(
        self,
        text: str,
        year: int | None = None,
        used: Collection[str] = (),
    ) -> Item | None:
        """The item of an equal title, see `TitleIndex.find`; misspellings do not match."""
        kept = self._kept.get((text, year))
        if kept is not None:
            return kept
        self._by_use = False
        item = self._equal_title(text, year, used)
        if item is None:
            return None
        if _NUMBERS.fullmatch(text) and _numbers(text) != _numbers(
            item.title or item.id,
        ):
            return None  # "2, 1" is not the film "21"
        if not self._by_use:
            self._kept[text, year] = item
        return item

    def _equal_title(
        self,
        text: str,
        year: int | None,
        used: Collection[str],
    ) -> Item | None:
        text = text[:MAX_LENGTH]
        copied = self._copies.get(normalise(text))
        if copied is not None and year in (None, copied.year):
            return copied
        title, found = split_year(text)
        item = self._equal(normalise(text), year, used)
        year = year if year is not None else found
        if item is None and title != text:
            item = self._equal(normalise(title), year, used)
        return item or self._bracketed(title, year, used)

    def find(
        self,
        text: str,
        year: int | None = None,
        used: Collection[str] = (),
    ) -> Item | None:
        """The item of a title, which may be misspelt; see `TitleIndex.find`."""
        item = self.equal(text, year, used)
        if item is not None:
            return item
        title, found = split_year(text[:MAX_LENGTH])
        year = year if year is not None else found
        for name in dict.fromkeys((title, split_brackets(title)[0])):
            item = self._reworded(name, year, used) or self._misspelt(name, year, used)
            if item is not None:
                return item
        if loose := _LOOSE_YEAR.fullmatch(text):
            title, year = (
                loose["before"] or loose["behind"],
                int(loose["first"] or loose["last"]),
            )
            return self.equal(title, year, used)
        return self._shortened(title, year)

    def _shortened(self, title: str, year: int | None) -> Item | None:
        names = (
            self._groups[0].by_beginning.get(normalise(title), ())
            if self._groups
            else ()
        )
        near = [name.item for name in names if year in (None, name.year)]
        return near[0] if len({item.id for item in near}) == 1 else None

    def extends(self, text: str) -> bool:
        """Whether a longer title begins with this text, as
        at the end of a cut-off answer.
        """
        key = normalise(text)
        return any(
            name.startswith(key) and name != key
            for group in self._groups
            for name in group.by_name
        )

    def _bracketed(
        self,
        title: str,
        year: int | None,
        used: Collection[str],
    ) -> Item | None:
        """The item of a title with another name in brackets: if both name films, they
        must be one. ``The Ring (Ringu)`` names two films, hence no item. The name in
        brackets counts alone only if the year agrees, or if it is the same title in
        another script.
        """
        base, others = split_brackets(title)
        if base == title or _WHICH.search(title, len(base)):
            return None
        if (
            year is None
            and (found_year := _IN_BRACKETS.search(title, len(base))) is not None
        ):
            year = int(found_year[1])  # "Heat (1995) (my favourite)"
        items = [self._equal(normalise(name), year, used) for name in (base, *others)]
        found = [item for item in items if item is not None]
        if len({item.id for item in found}) != 1:
            return None
        name = (base, *others)[items.index(found[0])]
        foreign = is_foreign(name) != is_foreign(base)
        dated = year is not None and found[0].year == year
        alone = (dated or foreign) and not _SENTENCE.search(base)
        return found[0] if items[0] or alone else None

    def _equal(self, key: str, year: int | None, used: Collection[str]) -> Item | None:
        for slack in (0, YEAR_SLACK) if year is not None else (0,):
            for group in self._groups:
                names = group.by_name.get(key, ())
                if year is not None and slack == 0:
                    names = [name for name in names if name.year == year]
                if not names:
                    continue
                item = self._chosen(group.standing(names, year, slack), used)
                if item is not None:
                    return item
        return None

    def _chosen(self, names: Sequence[Name], used: Collection[str]) -> Item | None:
        if len(names) > 1:
            self._by_use = True
            names = [name for name in names if name.item.id not in used] or names
        return names[0].item if names else None

    def _reworded(
        self,
        text: str,
        year: int | None,
        used: Collection[str],
    ) -> Item | None:
        """Matches without articles, numerals (``Rocky 2``) and, if the year agrees, a
        subtitle. "The Batman" is not "Batman": an article alone is left out only if the
        text chose among few, the year agrees, or the title is `LONG`. A subtitle is
        left out only if the text chose among few and the year agrees, since spin-offs
        share their year.
        """
        spelt = words(text)
        if not spelt:
            return None
        for group in self._groups:
            names = group.by_words.get(in_digits(spelt), [])
            if not group.closed:
                names = [
                    name
                    for name in names
                    if (year is not None and name.year == year)
                    or (
                        words(name.text) == spelt
                        and _hardly_another(spelt, text, name.text)
                    )
                ]
            item = self._chosen(group.standing(names, year, YEAR_SLACK), used)
            if item is not None:
                return item
        return None if year is None else self._of_main_title(text, year)

    def _of_main_title(self, text: str, year: int) -> Item | None:
        near = [group for group in self._groups if group.closed]
        main, colon, _ = text.partition(":")
        main = main.removesuffix(" or")  # "Dr. Strangelove or: How I Learned"
        names = [n for g in near for n in g.by_main_title.get(normalise(text), ())]
        if colon:
            groups = (
                self._groups if any(word.isdigit() for word in words(main)) else near
            )
            names += [n for g in groups for n in g.by_name.get(normalise(main), ())]
        names = [name for name in names if name.year == year]
        return names[0].item if len({name.item.id for name in names}) == 1 else None

    def _misspelt(
        self,
        text: str,
        year: int | None,
        used: Collection[str],
    ) -> Item | None:
        from rapidfuzz import fuzz

        key, spelling = normalise(text), words(text)
        if len(key) < MIN_LENGTH:
            return None
        scores: dict[str, tuple[float, Item]] = {}
        for group in self._groups:
            hits: dict[str, Item] = {}
            for name in group.maybe_misspelt(key, spelling, dated=year is not None):
                names = [
                    n
                    for n in group.by_name[name]
                    if (
                        group.closed
                        or len(spelling) > 1
                        or (year is not None and n.year == year)
                    )
                    and self._is_misspelling(
                        spelling,
                        n,
                        dated=year is not None and n.year == year,
                    )
                ]
                item = self._chosen(group.standing(names, year, YEAR_SLACK), used)
                if item is not None:
                    hits[name] = item
            # No name below the least similar hit can take the place of one.
            least = (
                min((fuzz.ratio(key, name) for name in hits), default=0.0) - ROUNDING
            )
            for name, score in group.best(key, max(MIN_SCORE, least)) if hits else ():
                if name in hits:
                    scores.setdefault(name, (score, hits[name]))
        ranked = sorted(scores.values(), key=lambda hit: -hit[0])
        if not ranked:
            return None
        best, item = ranked[0]
        rivals = [score for score, other in ranked[1:] if other.id != item.id]
        return None if rivals and best - rivals[0] < MIN_MARGIN else item

    def _is_misspelling(
        self,
        written: Sequence[str],
        name: Name,
        *,
        dated: bool,
    ) -> bool:
        title = words(name.text)
        if not is_misspelling(written, title, dated=dated):
            return False
        known = {w for w in written for group in self._groups if w in group.vocabulary}
        return is_misspelling(written, title, known=known, dated=dated)


def _hardly_another(spelt: Sequence[str], text: str, title: str) -> bool:
    numbered = any(word.isdigit() for word in spelt)
    return len(spelt) >= LONG or (
        numbered and normalise(text)[:1] == normalise(title)[:1]
    )


class TitleIndex:
    """The items of a catalogue by their names."""

    def __init__(self, items: Iterable[Item]) -> None:
        self._catalogue = Group(items, closed=False)

    def scope(
        self,
        offered: Sequence[Item] = (),
        history: Iterable[Item] = (),
        shown: Sequence[Sequence[str]] = (),
    ) -> Scope:
        """The items of one request; `offered` come first, then `history`, then the
        catalogue.

        A name by which one of `offered` was `shown` in place of its title counts only
        as a whole, and only if it belongs to one item and is no title of another in the
        request.
        """
        # Of items with one label the same is named, whatever the order of the
        # candidates.
        first = offered
        if len({item.label for item in offered}) < len(offered):
            turns: dict[str, list[Item]] = {}
            for item in sorted(offered, key=lambda item: item.id, reverse=True):
                turns.setdefault(item.label, []).append(item)
            first = [turns[item.label].pop() for item in offered]
        near = [Group(first, closed=True), Group(history, closed=True)]
        return Scope([*near, self._catalogue], _copies(offered, shown, near), offered)

    def find(
        self,
        text: str,
        year: int | None = None,
        offered: Iterable[Item] = (),
    ) -> Item | None:
        """The item that `text` names, first among `offered`, or None.

        Titles are equal by `normalise`, by the title or by another name in its
        brackets. A year in the text must agree (within `YEAR_SLACK`) and distinguishes
        remakes. Titles that differ in articles, numerals or spelling match only if
        hardly anything else is possible (`is_misspelling`, `MIN_SCORE`, `MIN_MARGIN`,
        `LONG`; a single word only among `offered`, or with its year). A title that
        several years of the catalogue share names none of them.
        """
        return self.scope(tuple(offered)).find(text, year)


def _copies(
    offered: Sequence[Item],
    shown: Sequence[Sequence[str]],
    near: Sequence[Group],
) -> dict[str, Item]:
    titles, owners = Scope(near), dict[str, list[Item]]()
    for item, names in zip(offered, shown, strict=bool(shown)):
        keys = {
            key
            for name in names
            if (key := normalise(name)) and not any(key in g.by_name for g in near)
            if titles.equal(name) is None
        }
        for key in keys:
            owners.setdefault(key, []).append(item)
    return {key: items[0] for key, items in owners.items() if len(items) == 1}
