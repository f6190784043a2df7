"""Reads the pieces of an answer, one after another, into entries."""

import re
from collections.abc import Callable, Sequence

from pytest_recsys_mt.llm.reading import comments, enumerations
from pytest_recsys_mt.llm.reading.entries import Entries, year_in_brackets
from pytest_recsys_mt.llm.reading.line import Piece, chained, numbered_text
from pytest_recsys_mt.llm.reading.several import Named, titles_in
from pytest_recsys_mt.llm.reading.titles import Scope
from pytest_recsys_mt.llm.reading.wording import phrase
from pytest_recsys_mt.requests import Entry, Item, Request

_LABELS = re.compile(r"[:：]|\s→")
_BECAUSE = phrase("because", re.IGNORECASE)
_LABEL = 42  # most characters of a label before a title
_COUNTED = re.compile(
    r"(?:[(\[]\d{1,4}[)\]]|\d{1,3}[.)]|\d{1,2}\s?x|buy)\s(.+)",
    re.IGNORECASE,
)
"""The candidate's number or a quantity before a title: ``(3) Heat``, ``1 x Milk``."""
_ID = re.compile(r"\d+(?=\s*$|\s*[-–—:,(|*])")
_ARROW = re.compile(r"\s(?:>|≻|→)\s")
_DATED_BEFORE = re.compile(
    r"\((\d{4})\)\s((?:[\"“„«]|\*{1,3}|_{1,2})[^\"”“»*_]+[\"”“»*_]+)",
)
"""A year before a title in quotes: ``(1995) "Heat"``."""
_MARKED = ("numbered", "bulleted", "data")


class Reader(Entries):
    """The entries of an answer, best first; arguments are those of `Entries`."""

    def __init__(
        self,
        request: Request,
        scope: Scope,
        exists: Callable[[str, int], bool],
        first: int,
        *,
        loose: bool,
    ) -> None:
        super().__init__(request, scope, exists, first, loose=loose)
        self._listed = False  # whether any piece stood in a list
        self._listed_by_mark = False  # the same for an enumeration in a sentence
        self._chained = False  # whether any piece was a ranking in one line
        self._heading = False  # whether the last numbered piece named no item
        self._loose: list[int] = []  # entries of separate lines that named no item
        self._open = ""  # the last title without an equal one, which may be cut off
        # Whether that is a candidate's number, which no title goes on from.
        self._open_number = False

    @property
    def in_sentences(self) -> bool:
        """Whether nothing that was read stood in a list, a table or a chain."""
        return not (self._listed_by_mark or self._chained)

    def read_numbers(self, piece: Piece, numbers: Sequence[int]) -> None:
        """Read a piece that consists of candidates' numbers.

        Args:
            piece: The piece.
            numbers: The result of `Offer.idents` for it; empty if it has other words.
        """
        self._open = ""
        self._listed = True
        self._chained = True
        around = "" if numbers or piece.place == "tag" else piece.text
        words = piece.name if piece.chain else around
        if words:
            self._prose(words)
        for number in numbers:
            text = piece.text if len(numbers) == 1 else str(number)
            item = self.candidate(number)
            if item is None:
                self.entries.append(self._unknown(text, str(number)))
            else:
                self._add(text, item)
            self._open = str(number)
            self._open_number = True

    def read(self, piece: Piece) -> None:
        """Read a piece that names items by their titles, or none."""
        if piece.place == "tag":
            return
        if piece.chain:
            self._chained = True
            titles = self._titles_of_chain(piece.text)
            if titles:
                for title in titles:
                    self.read(Piece(title.strip(), "data"))
                return
        self._open = ""
        self._open_number = False
        if piece.place in _MARKED:
            self._listed = True
            self._listed_by_mark = True
        text = _with_year_behind(comments.unwrapped(piece.text))
        if piece.place == "note" and not self._heading:
            self._prose(piece.text)
        elif not any(char.isalnum() for char in text):
            item = self.equal(text)  # a title may consist of signs
            if item is not None or piece.place == "numbered":
                self._add(piece.whole or text, item)
        elif not self._read_whole(piece, text):
            text = comments.unlabelled(text)
            if not self._read_several(piece, text):
                self._read_one(piece, text)

    def _titles_of_chain(self, text: str) -> list[str]:
        """The parts of a ranking in one line, ``Heat >
        Alien``; none for a line without an arrow.
        """
        chain = chained(text)
        if chain is None or not _ARROW.search(chain[1]):
            return []
        first, *others = _ARROW.split(text.strip(" \t*_`"))
        if self.equal(first) is None:
            first = first.removeprefix(chain[0]).strip()
            first = numbered_text(first)[0].strip() or first
        liked = self.equal(first)
        if len(others) == 1 and liked is not None and liked.id in self.history:
            return others  # "Heat → Casino"
        return [first, *others]

    def read_mentions(self, text: str) -> bool:
        """Read an answer in sentences that name more offered items than were read.

        Args:
            text: The whole text of the answer.

        Returns:
            Whether they do; otherwise the entries stay as they were.
        """
        read = self.titles.keys() & set(self.items())
        if self._listed_by_mark or len(read) >= self.wanted:
            return False
        if text.rstrip(" *_").endswith(("?", "？")):
            return False  # "Would you like Heat or Casino?"
        mentioned = self.mentions(text)
        if len(mentioned) <= max(1, len(read)):
            return False
        self.entries = []
        self.named = set()
        for written, item in mentioned:
            self._add(written, item)
        self._loose = []
        self._open = ""
        return True

    def finish(self, *, cut_off: bool) -> None:
        """Finish the parts that depend on the whole answer.

        Args:
            cut_off: Whether the last entry may be cut off, whatever it says.
        """
        if self.entries and self._open and (cut_off or self._is_last_unfinished()):
            self._drop_last_title()
        if self._loose and self._is_bare_list():
            for at in self._loose:
                text = self.entries[at].text
                title = comments.unknown_title(text)
                if title and comments.is_capitalised(title):
                    self.entries[at] = self._unknown(text, title)
        if not self._listed and all(entry.item is None for entry in self.entries):
            self._read_sentences()

    def _is_last_unfinished(self) -> bool:
        """Whether a longer title begins with the last entry, which names no known item."""
        if self._open_number or self.entries[-1].kind not in ("unknown", "unparsed"):
            return False
        return self.scope.extends(self._open)

    def _drop_last_title(self) -> None:
        self.entries[-1] = Entry(self.entries[-1].text, "unparsed")
        self.named = set(self.items())
        last = len(self.entries) - 1
        self._loose = [at for at in self._loose if at != last]

    # ---- one piece ----

    def _read_whole(self, piece: Piece, text: str) -> bool:
        """Read a piece that is a title as a whole; whether it is."""
        item = self.equal(text, piece.year)
        if item is None and piece.whole and piece.whole != piece.text:
            item = self.equal(comments.unwrapped(piece.whole), piece.year)
        if item is None and piece.place == "line":
            item = self.equal(self._unnumbered(text))
        if item is None:
            return False
        self._heading = self._heading and piece.place == "note"
        self._add(piece.text, item)
        return True

    def _unnumbered(self, text: str) -> str:
        """A line without the number of its turn, ``3 Heat``;
        empty if it begins with another word.
        """
        number, _, rest = text.partition(" ")
        named = sum(entry.item is not None for entry in self.entries)
        return rest if number == str(named + 1) else ""

    def _read_one(self, piece: Piece, text: str) -> None:
        """Read a piece with a title and a comment, with a number, or with words alone."""
        self._open = ""
        item = self.beginning_with(text, piece.year) or self._labelled(text)
        title = ""
        if item is None:
            item = self.number(text)
            if item is not None:
                self._open = text
            else:
                title = self._possible_title(piece, text)
                if title:
                    item = self._find(title, piece.year or year_in_brackets(text))
        if piece.place != "note":
            self._heading = piece.place == "numbered" and item is None
        if item is not None:
            self._add(piece.text, item)
        elif piece.place in ("line", "note"):
            self._open = text
            self._loose.append(len(self.entries))
            self._prose(piece.text)
        elif title:
            self.entries.append(self._unknown(piece.text, title, piece.year))
        else:
            self._add(piece.text, self._begun_by(text))

    def _possible_title(self, piece: Piece, text: str) -> str:
        """The likely title in a piece that begins with no known one, or an empty text."""
        title = comments.unknown_title(piece.text) or self._bare_id(text)
        if piece.place in ("line", "note") and not comments.is_capitalised(title):
            return ""
        return title

    def _begun_by(self, text: str) -> Item | None:
        """The offered item whose title a sentence in a list
        begins with: ``Heat: fits well.`` and more.
        """
        sentence = comments.unwrapped(text)
        mentioned = self.mentions(sentence)
        if not mentioned:
            return None
        written, item = mentioned[0]
        return item if sentence.startswith(written) else None

    def _bare_id(self, text: str) -> str:
        """A number at the beginning of an entry, if all offered titles are numbers."""
        if not self.titles or not all(
            title.isdigit() for title in self.titles.values()
        ):
            return ""
        found = _ID.match(comments.unwrapped(text))
        return found[0] if found else ""

    def _labelled(self, text: str) -> Item | None:
        """The offered item of a title behind a label or a number: ``Best match: Heat``."""
        counted = _COUNTED.fullmatch(text)
        if counted is not None:
            ends = [counted.start(1)]
        else:
            ends = [label.end() for label in _LABELS.finditer(text)]
        if not _BECAUSE.match(text):
            ends = [end for end in ends[:1] if end <= _LABEL]
        for end in ends[:4]:
            item = self.equal(comments.unwrapped(text[end:].strip()))
            if item is not None and item.id in self.titles:
                return item
        return None

    # ---- several titles in one piece ----

    def _read_several(self, piece: Piece, text: str) -> bool:
        """Read a piece that is an enumeration, with or
        without words before it; whether it is.
        """
        strict = piece.place not in ("line", "note")
        best: Sequence[Named] = ()
        best_lead = ""
        best_score = (0, 0, 0)
        for lead, rest in enumerations.leads(text):
            found = titles_in(self, rest, strict=strict)
            score = self._score(found)
            if found and score > best_score:
                best = found
                best_lead = lead
                best_score = score
        if not best:
            return False
        if best_lead:
            self._prose(best_lead)
        for part, item in best:
            self._read_part(part, item)
        self._listed = True
        return True

    def _score(self, found: Sequence[Named]) -> tuple[int, int, int]:
        """How well the parts of an enumeration are read: many items,
        few of the history and few unknown ones.
        """
        items = {item.id for _, item in found if item is not None}
        not_in_history = items - self.history or items
        unknown = sum(item is None for _, item in found)
        return 1 + len(not_in_history), -len(items & self.history), -unknown

    def _read_part(self, part: str, item: Item | None) -> None:
        """Read a part of an enumeration, of which `item`
        is already found or still to be.
        """
        self._open = ""
        title = ""
        if item is None:
            title = comments.unknown_title(part)
            if title:
                item = self._find(title, year_in_brackets(part))
        if item is None or comments.unwrapped(part).isdigit():
            self._open = title or part
        if item is not None:
            self._add(part, item)
        elif title and comments.is_capitalised(title):
            self.entries.append(self._unknown(part, title))
        else:
            self._prose(part)

    # ---- an answer in sentences ----

    def _read_sentences(self) -> None:
        """Read the sentences so far, unless they decline to answer."""
        sentences = self.entries
        self.entries = []
        for sentence in sentences:
            refuses = comments.is_refusal(sentence.text)
            named = [] if refuses else list(self.named_by(sentence.text))
            if not named:
                self.entries.append(sentence)
            for text, item in named:
                self._add(text, item)

    def _is_bare_list(self) -> bool:
        """Whether several lines without any mark are titles."""
        if self._listed:
            return False
        count = sum(entry.item is not None for entry in self.entries)
        for at in self._loose:
            title = comments.unknown_title(self.entries[at].text)
            if title and comments.is_capitalised(title):
                count += 1
        return count > 1

    # ---- entries ----

    def _find(self, title: str, year: int | None) -> Item | None:
        """The item of a title that may be misspelt or rated.

        A whole number after it counts as a rating only as a last resort: ``Rocky: 2``
        is Rocky II if the catalogue has it.
        """
        item = self.scope.find(title, year, self.named)
        if item is None and comments.unrated(title):
            self._open = ""  # with its rating, it is not cut off
            return self.find_rated(title, year)
        self._open = title
        return item


def _with_year_behind(text: str) -> str:
    """A title in quotes with the year behind it that
    stands before it: ``(1995) "Heat"``.
    """
    dated = _DATED_BEFORE.match(text) if text[:1] == "(" else None
    if dated is None:
        return text
    year, title = dated.groups()
    return f"{title} ({year}){text[dated.end() :]}"
