"""What an answer may name: the offered items, by title, number or letter."""

import re
from collections.abc import Iterator, Sequence
from functools import cached_property

from pytest_recsys_mt.llm.reading import comments, enumerations
from pytest_recsys_mt.llm.reading.blocks import Block
from pytest_recsys_mt.llm.reading.line import LABEL, Piece, chained
from pytest_recsys_mt.llm.reading.spelling import normalise, split_year
from pytest_recsys_mt.llm.reading.titles import Scope
from pytest_recsys_mt.requests import Item, Request

_CANDIDATE_NUMBER = re.compile(rf"{LABEL}[#(\[{{]{{0,2}}(\d{{1,4}})[.)\]}}]{{0,2}}", re.IGNORECASE)
_LETTER = re.compile(r"[\[(]?([A-Z])[\])]?")
_BRACKETED = re.compile(r"[\[(]\d{1,4}[\])]")
_BRACKETS = re.compile(r"[(\[](?!(?:18|19|20)\d\d[)\]])[^()\[\]]{1,40}[)\]]")
_SPLIT = re.compile(
    r"\s*(?:>{1,2}|≻|→|->|=>|[,;|，、])\s*(?:and\s)?|\s+and\s+|(?<=[\])\d])\s+(?=[\[(\d])"
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


class Offer:
    """The items of a request, and which of them a text names.

    Args:
        request: The request.
        scope: See `parser.scope_of`.
        first: The number of the first candidate.
        loose: Whether anything may stand beside a title.
    """

    def __init__(self, request: Request, scope: Scope, first: int, *, loose: bool) -> None:
        self.candidates = request.candidates
        self.titles = {item.id: normalise(item.title) for item in request.candidates or ()}
        self.history = {rating.item.id for rating in request.history} - self.titles.keys()
        self.first = first
        self.wanted = request.k
        self.freely = loose
        self.places = {item.id: at for at, item in enumerate(request.candidates or (), first)}
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
        """The item of the longest title at the start of a piece, before a comment."""
        for head, rest, closed in comments.cuts(text):
            item = self.equal(head, year)
            if self.freely:
                behind = "" if rest.rstrip().endswith((")", "]")) else rest.strip(" \t-–—:：|,.;~")
                other = self.equal(behind, year)
                if (item is None) != (other is None):
                    return item or other
            if item is None:
                continue
            if closed or comments.is_comment(rest, item) or self.equal(rest) == item:
                return item
            if self.titles.get(item.id, "").startswith(normalise(text)):
                return item  # the rest begins as in the offered title
            by_its_maker = rest[:1].isupper() and text.endswith(f" by {rest}")
            if by_its_maker and item.year is None and item.id in self.titles:
                return item
        return self.equal(comments.retranslated(text), year)

    def place_of(self, piece: Piece) -> int | None:
        """The number of the candidate whose title a piece is."""
        if piece.number is None or not self.candidates:
            return None
        text = comments.unwrapped(piece.text)
        item = self.equal(text, piece.year) or self.beginning_with(text, piece.year)
        return self.places.get(item.id) if item is not None else None

    def mentions(self, text: str) -> list[tuple[str, Item]]:
        """The offered items that a text names as they were offered, each once, in its order, as they are written."""
        taken = [False] * len(text)
        found: dict[int, tuple[str, Item]] = {}
        for title, item in self._written:
            at = text.find(title)
            while at >= 0:
                end = at + len(title)
                whole = _stands_alone(text, at, end)
                if title.isdigit():
                    whole = text[at - 1 : at] in _QUOTES and text[end : end + 1] in _QUOTES
                if whole and not any(taken[at:end]):
                    found[at] = (title, item)
                    taken[at:end] = [True] * len(title)
                at = text.find(title, end)
        first = {item.id: (title, item) for _, (title, item) in sorted(found.items(), reverse=True)}
        order = dict.fromkeys(item.id for _, (_, item) in sorted(found.items()))
        return [first[item] for item in order]

    def named_by(self, text: str) -> Iterator[tuple[str, Item]]:
        """The items that a sentence names by titles of any spelling; of titles that were not offered, those in quotes
        or with a year.
        """
        at = 0
        for start, end, quoted in enumerations.spans(text, MOST_WORDS):
            if start < at:
                continue
            written = text[start:end]
            item = self.equal(written)
            if item is None or item.id in self.history:
                continue
            if not (quoted or split_year(written)[1] or item.id in self.titles):
                continue
            yield written, item
            at = end

    def lost_numbers(self, text: str) -> list[str]:
        """The offered titles that are numbers, ``1984``, stand in a text and were not read: `mentions` leaves them out."""
        unread = [item.title for item in self._titles_of_digits if item.id not in self.named]
        return [
            number
            for number in unread
            if re.search(rf"(?<![\d(.,{_QUOTES}]){number}(?![\d)]|[.,]\d)", text)
        ]

    @cached_property
    def _titles_of_digits(self) -> list[Item]:
        return [item for item in self.candidates or () if item.title.isdigit()]

    @cached_property
    def spellings(self) -> frozenset[str]:
        """The titles and labels of what is offered, to the letter."""
        offered = self.candidates or ()
        return frozenset(text for item in offered for text in (item.title, item.label) if text)

    @cached_property
    def _written(self) -> list[tuple[str, Item]]:
        """The titles as they are offered, the longest first; the shortest words say too little."""
        titles = {item.title: item for item in self.candidates or ()}
        titles |= {item.label: item for item in self.candidates or ()}
        telling = {
            title: item
            for title, item in titles.items()
            if title and (len(title) >= _SHORT or not title.isascii())
        }
        return sorted(telling.items(), key=lambda each: -len(each[0]))

    def named_in(self, text: str) -> tuple[str, list[str]]:
        """A line without the titles of offered items, and those items, each once, in its order."""
        if (whole := self.equal(comments.unwrapped(text))) is not None:
            aside = _BRACKETS.findall(text)
            return " ".join([re.sub(r"[\w\s()]", "", text), *aside]), [whole.id]
        words = [found.span() for found in _WORD.finditer(text)]
        rest, named, at = [], list[str](), 0
        while at < len(words):
            # Titles begin with a capital, a digit or a sign.
            found = None if text[words[at][0]].islower() else self._named_at(text, words, at)
            if found is None:
                rest.append(text[slice(*words[at])])
                at += 1
            else:
                item, last, end = found
                named.append(item.id)
                rest += ["", text[end : words[last][1]]]
                at = last + 1
        return " ".join(rest), list(dict.fromkeys(named))

    def _named_at(
        self, text: str, words: Sequence[tuple[int, int]], at: int
    ) -> tuple[Item, int, int] | None:
        start = words[at][0]
        first = next((char for char in text[start : words[at][1]] if char.isalnum()), "")
        if not first or first.islower():
            return None
        begins = normalise(text[start : words[at][1]]) in self.scope.offered_letters
        found = None
        for last in range(min(len(words), at + MOST_WORDS) - 1, at - 1, -1):
            written = text[start : words[last][1]].rstrip(_PUNCTUATION)
            if not begins and "(" not in written:
                continue  # the letters of an equal title would begin with, or hold, this word
            item = self.equal(written)
            if item is not None and item.id in self.titles:
                if found is not None and found[0].id != item.id:
                    break  # "Portal 2" begins with another title
                found = item, last, start + len(written)
        return found

    def idents(self, piece: Piece) -> tuple[int, ...] | None:
        """The candidates' numbers that a piece consists of; None if it is something else."""
        if piece.place == "tag":
            return ()
        text = piece.text
        if not text.strip() and _BRACKETED.fullmatch(piece.whole.strip()):
            text = piece.whole
        if any(char.isalpha() for char in text) and self.equal(text) is not None:
            return None
        chain = chained(text) if piece.chain else None
        if chain is None:
            one = _CANDIDATE_NUMBER.fullmatch(comments.unwrapped(text).strip().rstrip(",;"))
            if one is not None:
                return (int(one[1]),)
            chain = chained(text)
            chain = None if chain is None or chain[0] else chain
        if chain is None:
            return None
        parts = _SPLIT.split(chain[1])
        numbers = [_CANDIDATE_NUMBER.fullmatch(part.strip()) for part in parts]
        if all(numbers):
            return tuple(int(number[1]) for number in numbers if number)
        letters = [_LETTER.fullmatch(part.strip()) for part in parts]
        if not all(letters):
            return None
        return tuple(ord(letter[1]) - 65 + self.first for letter in letters if letter)

    def numbers(self, block: Block) -> list[tuple[int, ...]] | None:
        """The candidates' numbers in each piece of a block of nothing else, none if it says titles.

        None if it can be read in two ways: a number that is a title of another item too, or a zero beside others.
        """
        if not self.candidates:
            return []
        found: list[tuple[int, ...]] = []
        for piece in block.pieces:
            idents = self.idents(piece)
            if idents is None and piece.place in ("line", "note") and not self.equal(piece.text):
                idents = ()  # words around
            if idents is None:
                return []
            found.append(idents)
        named = [number for idents in found for number in idents]
        if not named:
            return []
        inside = [number for number in named if self.candidate(number) is not None]
        distinct = list(dict.fromkeys(named))
        titles = [self.equal(str(number)) for number in distinct]
        offered = [item for item in titles if item is not None and item.id in self.titles]
        as_titles = len(offered) == len(distinct)
        if (
            offered and not as_titles
        ):  # a list is of titles or of numbers, as most of its entries are
            if len(offered) == len(inside):
                return None
            if len(offered) > len(inside):
                return []
        if len(inside) == len(named):
            places = [self.places[item.id] for item in titles if item] if as_titles else distinct
            return found if places == distinct else None
        if as_titles or not inside:
            return []
        other = 0 if self.first else len(self.candidates)  # it may count from another number
        return None if other in named else found
