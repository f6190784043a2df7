"""Reading a text answer: which items it names, in its order, and what the rest of it is.

The answer is sanitized here, once, and cut into pieces by `layout.pieces`; `comments` knows where a
title may end, and `titles` which item it is. The held-out item is never looked at. Work grows
linearly with the answer up to `layout.MAX_CHARACTERS` and `layout.MAX_PIECES`, and stops there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from pytest_recsys_mt.llm import comments
from pytest_recsys_mt.llm.layout import Piece, pieces
from pytest_recsys_mt.llm.sanitize import sanitize
from pytest_recsys_mt.llm.titles import TitleIndex, normalise, split_year
from pytest_recsys_mt.requests import UNKNOWN_PREFIX, Entry, EntryKind, Item, Request

_CANDIDATE_NUMBER = re.compile(
    r"(?:(?:candidate|option|item|movie|film|choice|number|no|nr)\.?\s?)?[#(\[]{0,2}(\d{1,4})[.)\]]{0,2}",
    re.IGNORECASE,
)
_JOINED = 7
"""Parts between commas that one title may have."""

_MOST_WORDS = 14
"""Words that a title has at most when it is looked for inside a sentence."""


def parse(
    text: str, request: Request, index: TitleIndex, *, truncated: bool = False
) -> tuple[Entry, ...]:
    """The entries of a text answer, best first; it never raises.

    A list entry that names no item is an ``unknown`` title, prose is ``unparsed``. Plain numbers
    stand for the candidates, which every prompt numbers from 1. Of an answer in sentences, without
    any list, the titles in it count, but not those of the history, which it may only mention.

    Args:
        text: What the model wrote.
        request: What it was asked.
        index: The titles of the catalogue.
        truncated: Whether the model was cut off; then its last entry counts only as a full title.
            Without this, a last entry that a longer title begins with is taken as cut off.
    """
    reader = _Reader(request, index)
    for piece in pieces(sanitize(text)):
        reader.read(piece)
    reader.finish(cut_off=truncated and not text.endswith("\n"))
    return tuple(reader.entries)


class _Reader:
    """Reads one answer, piece by piece.

    Attributes:
        entries: Those read so far.
    """

    def __init__(self, request: Request, index: TitleIndex) -> None:
        self.entries: list[Entry] = []
        self._candidates = request.candidates
        self._history = {rating.item.id for rating in request.history}
        self._offered = {item.id for item in request.candidates or ()}
        history = [rating.item for rating in request.history]
        self._scope = index.scope(request.candidates or (), history)
        self._named: set[str] = set()
        self._listed = False  # whether any piece stood in a list
        self._heading = False  # whether the last numbered piece named nothing
        self._loose: list[int] = []  # entries of lines of their own that named nothing
        self._open = ""  # the last title that was not equal to one, which may be cut off

    def read(self, piece: Piece) -> None:
        """Add the entries of one piece."""
        self._open = ""
        self._listed = self._listed or piece.place in ("numbered", "bulleted", "data")
        text = comments.unwrapped(piece.text)
        if not any(c.isalnum() for c in text):
            if piece.place == "numbered" or (normalise(text) and self._scope.equal(text)):
                self._add(piece.whole or text, self._equal(text, piece.year))
            return
        if self._read_whole(piece, text):
            return
        if piece.place == "note" and not self._heading:
            self._prose(piece.text)
            return
        if self._read_several(piece, text):
            return
        title, item = self._titled(text, piece)
        self._heading = piece.place == "numbered" and item is None
        if item is not None:
            self._add(piece.text, item)
        elif (number := self._number(text)) is not None:
            self._add(piece.text, number)
            self._open = text
        elif piece.place in ("line", "note"):
            self._loose.append(len(self.entries))
            self._prose(piece.text)
            self._open = title
        elif comments.is_title(title):
            self._unknown(piece.text, title)
            self._open = title
        else:
            self._prose(piece.text)

    def finish(self, *, cut_off: bool) -> None:
        """Settle what only the whole answer can tell."""
        if self._open and self.entries and (cut_off or self._scope.extends(self._open)):
            self.entries[-1] = Entry(self.entries[-1].text, "unparsed")
        elif self._loose and self._is_bare_list():
            for at in self._loose:
                title = comments.title_of(comments.unwrapped(self.entries[at].text))
                if comments.is_title(title) and comments.is_capitalised(title):
                    self.entries[at] = self._unknown_entry(self.entries[at].text, title)
        if not self._listed and all(entry.item is None for entry in self.entries):
            self._read_sentences()

    # ---- one piece ----

    def _read_whole(self, piece: Piece, text: str) -> bool:
        """A piece that is one title and nothing else."""
        item = self._equal(text, piece.year)
        if item is None and piece.whole and piece.whole != piece.text:
            item = self._equal(comments.unwrapped(piece.whole), piece.year)
        if item is None and piece.place == "line":
            item = self._equal(self._unnumbered(text))
        if item is None:
            return False
        self._heading = False
        self._add(piece.text, item)
        return True

    def _unnumbered(self, text: str) -> str:
        """A line less the number before it, ``1 Heat``, where that is the next in turn."""
        number, _, rest = text.partition(" ")
        turn = len([entry for entry in self.entries if entry.item is not None]) + 1
        return rest if number == str(turn) else ""

    def _titled(self, text: str, piece: Piece) -> tuple[str, Item | None]:
        """The title that a piece begins with, and its item: the longest title that fits."""
        text = comments.unlabelled(text)
        for head, rest, closed in comments.cuts(text):
            item = self._equal(head, piece.year)
            if item is not None and (closed or comments.is_comment(rest, item)):
                return head, item
        title = comments.title_of(text)
        prose = piece.place in ("line", "note") and not comments.is_capitalised(title)
        if prose or not comments.is_title(title):
            return title, None
        year = piece.year if piece.year is not None else split_year(comments.dated(text))[1]
        return title, self._scope.find(title, year, self._named)

    def _number(self, text: str) -> Item | None:
        """The candidate that a plain number stands for."""
        match = _CANDIDATE_NUMBER.fullmatch(text.strip().rstrip(",;"))
        if match is None or not self._candidates:
            return None
        number = int(match[1])
        return self._candidates[number - 1] if 1 <= number <= len(self._candidates) else None

    # ---- several titles in one piece ----

    def _read_several(self, piece: Piece, text: str) -> bool:
        """``Heat, Casino and Alien``, also behind the sentence that leads to it."""
        for lead, rest in comments.leads(text):
            found = self._several(rest, strict=piece.place not in ("line", "note"))
            if found is None:
                continue
            if lead:
                self._prose(lead)
            for part, item in found:
                self._part(part, item)
            self._listed = True
            return True
        return False

    def _several(self, text: str, *, strict: bool) -> list[tuple[str, Item | None]] | None:
        """The parts of an enumeration with their items, or None where it is none.

        The catalogue decides which commas part titles: the longest title wins.
        """
        parts = comments.parts(text)
        if len(parts) < 2:
            return None
        found: list[tuple[str, Item | None]] = []
        used = set(self._named)
        at = 0
        while at < len(parts):
            end, item = self._longest(text, parts, at, used)
            if item is None and found and found[-1][1] is None and not parts[at].parts_surely:
                found[-1] = (text[parts[at - 1].start : parts[at].end], None)
            else:
                found.append((text[parts[at].start : parts[end - 1].end], item))
            if item is not None:
                used.add(item.id)
            at = end
        if len(found) < 2:
            return None
        hits = sum(item is not None for _, item in found)
        dated = all(split_year(part)[1] is not None for part, _ in found)
        if strict:
            return found if hits == len(found) else None
        return found if dated or (2 * hits >= len(found) and hits >= 1) else None

    def _longest(
        self, text: str, parts: Sequence[comments.Part], at: int, used: set[str]
    ) -> tuple[int, Item | None]:
        """The longest run of parts from `at` on that is one title."""
        for end in range(min(len(parts), at + _JOINED), at, -1):
            raw = text[parts[at].start : parts[end - 1].end]
            for head in comments.plain_heads(raw):
                item = self._scope.equal(head, None, used)
                if item is not None:
                    return end, item
        raw = text[parts[at].start : parts[at].end]
        return at + 1, self._number(comments.unwrapped(raw))

    def _part(self, part: str, item: Item | None) -> None:
        self._open = ""
        if item is None:
            title = comments.title_of(comments.unwrapped(part))
            if comments.is_title(title):
                item = self._scope.find(comments.dated(comments.unwrapped(part)), None, self._named)
            self._open = title
            if item is None and comments.is_title(title) and comments.is_capitalised(title):
                self._unknown(part, title)
                return
        if item is None:
            self._prose(part)
        else:
            self._add(part, item)

    # ---- an answer in sentences ----

    def _read_sentences(self) -> None:
        entries, self.entries = self.entries, []
        for entry in entries:
            items = [] if comments.is_refusal(entry.text) else list(self._mentions(entry.text))
            self.entries += [] if items else [entry]
            for text, item in items:
                self._add(text, item)

    def _mentions(self, text: str) -> Iterator[tuple[str, Item]]:
        """Titles in a sentence: quoted ones, those with a year, and candidates as written."""
        at = 0
        for start, end, quoted in comments.spans(text, _MOST_WORDS):
            if start < at:
                continue
            written = text[start:end]
            item = self._equal(written)
            if item is None or item.id in self._history - self._offered:
                continue
            if not (quoted or split_year(written)[1] or item.id in self._offered):
                continue
            yield written, item
            at = end

    def _is_bare_list(self) -> bool:
        """Whether lines of their own are titles: none stands in a list, and two at least could."""
        if self._listed:
            return False
        titles = sum(
            comments.is_title(title) and comments.is_capitalised(title)
            for title in (comments.title_of(self.entries[at].text) for at in self._loose)
        )
        return titles + sum(entry.item is not None for entry in self.entries) > 1

    # ---- entries ----

    def _equal(self, text: str, year: int | None = None) -> Item | None:
        return self._scope.equal(text, year, self._named) if text else None

    def _add(self, text: str, item: Item | None) -> None:
        if item is None:
            self._prose(text)
            return
        kind: EntryKind
        if item.id in self._named:
            kind = "duplicate"
        elif item.id in self._offered:
            kind = "candidate"
        elif item.id in self._history:
            kind = "history"
        else:
            kind = "candidate" if self._candidates is None else "catalogue"
        self._named.add(item.id)
        self.entries.append(Entry(text.strip(), kind, item.id))

    def _unknown(self, text: str, title: str) -> None:
        self.entries.append(self._unknown_entry(text, title))

    def _unknown_entry(self, text: str, title: str) -> Entry:
        name = UNKNOWN_PREFIX + normalise(title)
        kind: EntryKind = "duplicate" if name in self._named else "unknown"
        self._named.add(name)
        return Entry(text.strip(), kind, name)

    def _prose(self, text: str) -> None:
        self.entries.append(Entry(text.strip(), "unparsed"))
