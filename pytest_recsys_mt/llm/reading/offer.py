"""The items that an answer may name, by title, number or letter."""

import re
from collections.abc import Iterator, Sequence
from functools import cached_property

from pytest_recsys_mt.llm.reading import comments, enumerations
from pytest_recsys_mt.llm.reading.blocks import Block
from pytest_recsys_mt.llm.reading.line import LABEL, Piece, chained
from pytest_recsys_mt.llm.reading.spelling import normalise, split_year
from pytest_recsys_mt.llm.reading.titles import Scope
from pytest_recsys_mt.requests import Item, Request

_CANDIDATE_NUMBER = re.compile(
    rf"{LABEL}[#(\[{{]{{0,2}}(\d{{1,4}})[.)\]}}]{{0,2}}",
    re.IGNORECASE,
)
_LETTER = re.compile(r"[\[(]?([A-Z])[\])]?")
_BRACKETED = re.compile(r"[\[(]\d{1,4}[\])]")
_BRACKETS = re.compile(r"[(\[](?!(?:18|19|20)\d\d[)\]])[^()\[\]]{1,40}[)\]]")
_SPLIT = re.compile(
    r"\s*(?:>{1,2}|≻|→|->|=>|[,;|，、])\s*(?:and\s)?|\s+and\s+|(?<=[\])\d])\s+(?=[\[(\d])",
)
_WORD = re.compile(r"\S+")
_PUNCTUATION = " .,;:!?…\"'“”‘’()[]{}<>≺≻→←=|*_-–—。，、；：！？"  # what may stand behind a title without being of it
_QUOTES = "\"'“”„‘’«»「」『』《》*"
_SHORT = 3  # fewer letters of a title may be another word of a sentence
MOST_WORDS = 14  # most words of a title inside a sentence


def _stands_alone(text: str, start: int, end: int) -> bool:
    """Whether a title is no part of another word, nor a hash tag."""
    before, after = text[start - 1 : start], text[end : end + 1]
    latin = text[start].isascii() and text[end - 1].isascii()
    inside = latin and (before.isalnum() or after.isalnum())
    return not inside and before not in ("#", "@")


def _is_whole(title: str, text: str, start: int, end: int) -> bool:
    """Whether a title in a text is no part of something
    else; a number must stand in quotes.
    """
    if title.isdigit():
        return text[start - 1 : start] in _QUOTES and text[end : end + 1] in _QUOTES
    return _stands_alone(text, start, end)


def _stands_as_word(number: str, text: str) -> bool:
    """Whether a number stands in a text outside of quotes and
    brackets, and is no part of another.
    """
    pattern = rf"(?<![\d(.,{_QUOTES}]){number}(?![\d)]|[.,]\d)"
    return re.search(pattern, text) is not None


def _is_distinctive(title: str) -> bool:
    """Whether a title is long enough to be found among other words;
    one letter may be a word in other scripts.
    """
    return len(title) >= _SHORT or not title.isascii()


class Offer:
    """The items of a request, and which of them a text names.

    Args:
        request: The request.
        scope: See `parser.scope_of`.
        first: The number of the first candidate.
        loose: Whether other words may stand next to a title.
    """

    def __init__(
        self,
        request: Request,
        scope: Scope,
        first: int,
        *,
        loose: bool,
    ) -> None:
        self.candidates = request.candidates
        self.titles = {
            item.id: normalise(item.title) for item in request.candidates or ()
        }
        self.history = {
            rating.item.id for rating in request.history
        } - self.titles.keys()
        self.first = first
        self.wanted = request.k
        self.freely = loose
        self.places = {
            item.id: at for at, item in enumerate(request.candidates or (), first)
        }
        self.scope = scope
        self.named: set[str] = set()

    @property
    def offered(self) -> int:
        """How many candidates have a number."""
        return len(self.candidates or ())

    def equal(self, text: str, year: int | None = None) -> Item | None:
        """The item of a title; of several, one that was not named yet."""
        return self.scope.equal(text, year, self.named) if text else None

    def find_rated(self, text: str, year: int | None = None) -> Item | None:
        """The item of a title, which may be misspelt, before its rating: ``Heat: 5``."""
        title = comments.unrated(text)
        return self.scope.find(title, year, self.named) if title else None

    def candidate(self, number: int) -> Item | None:
        """The candidate with that number."""
        offered, at = self.candidates or (), number - self.first
        return offered[at] if 0 <= at < len(offered) else None

    def number(self, text: str) -> Item | None:
        """The candidate whose number a text is."""
        match = _CANDIDATE_NUMBER.fullmatch(text.strip().rstrip(",;"))
        return None if match is None else self.candidate(int(match[1]))

    def beginning_with(self, text: str, year: int | None) -> Item | None:
        """The item of the longest title at the start of a piece, before a comment.

        Args:
            text: The piece.
            year: The year of release, if the data of the piece contain it.
        """
        for head, rest, closed in comments.cuts(text):
            item = self.equal(head, year)
            if self.freely:
                other = self._behind(rest, year)
                if (item is None) != (other is None):
                    return item or other
            if item is None:
                continue
            if closed or self._ends_title(text, rest, item):
                return item
        return self.equal(comments.retranslated(text), year)

    def _behind(self, rest: str, year: int | None) -> Item | None:
        """The item of a title that stands behind other words, not in brackets."""
        if rest.rstrip().endswith((")", "]")):
            return None
        return self.equal(rest.strip(" \t-–—:：|,.;~"), year)

    def _ends_title(self, text: str, rest: str, item: Item) -> bool:
        """Whether a title of `item` ends where the rest of a text begins."""
        if comments.is_comment(rest, item) or self.equal(rest) == item:
            return True
        if self.titles.get(item.id, "").startswith(normalise(text)):
            return True  # the rest begins as in the offered title
        by_its_maker = rest[:1].isupper() and text.endswith(f" by {rest}")
        return by_its_maker and item.year is None and item.id in self.titles

    def place_of(self, piece: Piece) -> int | None:
        """The number of the candidate whose title a piece is."""
        if piece.number is None or not self.candidates:
            return None
        text = comments.unwrapped(piece.text)
        item = self.equal(text, piece.year) or self.beginning_with(text, piece.year)
        return self.places.get(item.id) if item is not None else None

    def mentions(self, text: str) -> list[tuple[str, Item]]:
        """The offered items that a text names as they were offered, each once, in its
        order, as they are written.
        """
        taken = [False] * len(text)
        found: dict[int, tuple[str, Item]] = {}
        for title, item in self._written:
            start = text.find(title)
            while start >= 0:
                end = start + len(title)
                if _is_whole(title, text, start, end) and not any(taken[start:end]):
                    found[start] = (title, item)
                    taken[start:end] = [True] * len(title)
                start = text.find(title, end)
        first = dict[str, tuple[str, Item]]()
        for _, (title, item) in sorted(found.items()):
            first.setdefault(item.id, (title, item))
        return list(first.values())

    def named_by(self, text: str) -> Iterator[tuple[str, Item]]:
        """The items that a sentence names by titles of any spelling, as they are
        written.

        Of titles that were not offered, those in quotes or with a year.
        """
        last_end = 0
        for start, end, quoted in enumerations.spans(text, MOST_WORDS):
            if start < last_end:
                continue
            written = text[start:end]
            item = self.equal(written)
            if item is None or item.id in self.history:
                continue
            if quoted or split_year(written)[1] or item.id in self.titles:
                yield written, item
                last_end = end

    def lost_numbers(self, text: str) -> list[str]:
        """The offered titles that are numbers, ``1984``, stand in a text and were not
        read: `mentions` leaves them out.
        """
        numbers = [
            item.title for item in self._titles_of_digits if item.id not in self.named
        ]
        return [number for number in numbers if _stands_as_word(number, text)]

    @cached_property
    def _titles_of_digits(self) -> list[Item]:
        return [item for item in self.candidates or () if item.title.isdigit()]

    @cached_property
    def spellings(self) -> frozenset[str]:
        """The exact titles and labels of the offered items."""
        texts = set[str]()
        for item in self.candidates or ():
            texts.update((item.title, item.label))
        return frozenset(filter(None, texts))

    @cached_property
    def _written(self) -> list[tuple[str, Item]]:
        """The titles as they are offered, the longest first;
        the shortest words say too little.
        """
        items = self.candidates or ()
        by_text = {item.title: item for item in items}
        by_text |= {item.label: item for item in items}
        distinctive = [named for named in by_text.items() if _is_distinctive(named[0])]
        return sorted(distinctive, key=lambda named: -len(named[0]))

    def named_in(self, text: str) -> tuple[str, list[str]]:
        """A line without the titles of offered items, and
        those items, each once, in its order.
        """
        whole = self.equal(comments.unwrapped(text))
        if whole is not None:
            signs = re.sub(r"[\w\s()]", "", text)
            return " ".join([signs, *_BRACKETS.findall(text)]), [whole.id]
        words = [word.span() for word in _WORD.finditer(text)]
        rest = list[str]()
        named = list[str]()
        at = 0
        while at < len(words):
            start, end = words[at]
            # Titles begin with a capital, a digit or a sign.
            found = None if text[start].islower() else self._named_at(text, words, at)
            if found is None:
                rest.append(text[start:end])
                at += 1
            else:
                item, last_word, title_end = found
                named.append(item.id)
                rest += ["", text[title_end : words[last_word][1]]]
                at = last_word + 1
        return " ".join(rest), list(dict.fromkeys(named))

    def _named_at(
        self,
        text: str,
        words: Sequence[tuple[int, int]],
        at: int,
    ) -> tuple[Item, int, int] | None:
        """The item of the longest offered title that begins with a word, if there is
        one.

        Args:
            text: A line.
            words: Where each of its words begins and ends.
            at: The place of the word.

        Returns:
            The item, the place of its last word, and where the title ends in the text.
        """
        start, first_end = words[at]
        first_word = text[start:first_end]
        first_char = next(filter(str.isalnum, first_word), "")
        if not first_char or first_char.islower():
            return None
        begins = normalise(first_word) in self.scope.offered_letters
        found = None
        for last in range(min(len(words), at + MOST_WORDS) - 1, at - 1, -1):
            written = text[start : words[last][1]].rstrip(_PUNCTUATION)
            if not begins and "(" not in written:
                continue  # the letters of an equal title would begin with, or hold, this word
            item = self.equal(written)
            if item is None or item.id not in self.titles:
                continue
            if found is not None and found[0].id != item.id:
                break  # "Portal 2" begins with another title
            found = item, last, start + len(written)
        return found

    def idents(self, piece: Piece) -> tuple[int, ...] | None:
        """The candidates' numbers that a piece consists
        of; None if it is something else.
        """
        if piece.place == "tag":
            return ()
        text = piece.text
        if not text.strip() and _BRACKETED.fullmatch(piece.whole.strip()):
            text = piece.whole
        if any(char.isalpha() for char in text) and self.equal(text) is not None:
            return None
        chain = chained(text) if piece.chain else None
        if chain is not None:
            return self._numbers_of_chain(chain[1])
        one = _CANDIDATE_NUMBER.fullmatch(comments.unwrapped(text).strip().rstrip(",;"))
        if one is not None:
            return (int(one[1]),)
        chain = chained(text)
        if chain is None or chain[0]:
            return None
        return self._numbers_of_chain(chain[1])

    def _numbers_of_chain(self, chain: str) -> tuple[int, ...] | None:
        """The candidates' numbers in a ranking in one line, of numbers or of letters."""
        parts = [part.strip() for part in _SPLIT.split(chain)]
        numbers = list(filter(None, map(_CANDIDATE_NUMBER.fullmatch, parts)))
        if len(numbers) == len(parts):
            return tuple(int(number[1]) for number in numbers)
        letters = list(filter(None, map(_LETTER.fullmatch, parts)))
        if len(letters) == len(parts):
            return tuple(ord(letter[1]) - ord("A") + self.first for letter in letters)
        return None

    def numbers(self, block: Block) -> list[tuple[int, ...]] | None:
        """The candidates' numbers in each piece of a block of nothing else; none if it
        says titles.

        Returns:
            None if it can be read in two ways: a number that is a title of another item
            too, or a zero among others.
        """
        if not self.candidates:
            return []
        found = self._idents_of(block)
        named = [number for idents in found for number in idents]
        if not named:
            return []
        in_range = [number for number in named if self.candidate(number) is not None]
        distinct = list(dict.fromkeys(named))
        titles = [self.equal(str(number)) for number in distinct]
        offered = [
            item for item in titles if item is not None and item.id in self.titles
        ]
        all_are_titles = len(offered) == len(distinct)
        if offered and not all_are_titles:
            # A list is of titles or of numbers, as most of its entries are.
            if len(offered) == len(in_range):
                return None
            if len(offered) > len(in_range):
                return []
        if len(in_range) == len(named):
            if (
                all_are_titles
                and [self.places[item.id] for item in offered] != distinct
            ):
                return None
            return found
        if all_are_titles or not in_range:
            return []
        # It may count from another number than the prompt.
        beyond = 0 if self.first else len(self.candidates)
        return None if beyond in named else found

    def _idents_of(self, block: Block) -> list[tuple[int, ...]]:
        """The numbers in each piece of a block, none for words
        around them; empty if a piece names a title.
        """
        found = []
        for piece in block.pieces:
            idents = self.idents(piece)
            if idents is None:
                if piece.place not in ("line", "note") or self.equal(piece.text):
                    return []
                idents = ()
            found.append(idents)
        return found
