"""Reads the pieces of an answer, one after another, into entries."""

import re
from collections.abc import Callable, Sequence

from pytest_recsys_mt.llm.reading import comments, enumerations
from pytest_recsys_mt.llm.reading.layout import MAX_PIECES
from pytest_recsys_mt.llm.reading.line import Piece, chained, numbered_text
from pytest_recsys_mt.llm.reading.offer import Offer
from pytest_recsys_mt.llm.reading.spelling import normalise, split_year
from pytest_recsys_mt.llm.reading.titles import Scope
from pytest_recsys_mt.llm.reading.wording import phrase
from pytest_recsys_mt.requests import UNKNOWN_PREFIX, Entry, EntryKind, Item, Request

_LABELS = re.compile(r"[:：]|\s→")
_BECAUSE = phrase("because", re.IGNORECASE)
_LABEL = 42  # most characters of a label before a title
_COUNTED = re.compile(r"(?:[(\[]\d{1,4}[)\]]|\d{1,3}[.)]|\d{1,2}\s?x|buy)\s(.+)", re.IGNORECASE)
"""The candidate's number or a quantity before a title: ``(3) Heat``, ``1 x Milk``."""
_ID = re.compile(r"\d+(?=\s*$|\s*[-–—:,(|*])")
_ARROW = re.compile(r"\s(?:>|≻|→)\s")
_DATED_BEFORE = re.compile(r"\((\d{4})\)\s((?:[\"“„«]|\*{1,3}|_{1,2})[^\"”“»*_]+[\"”“»*_]+)")
"""A year before a title in quotes: ``(1995) "Heat"``."""
_JOINED = 7  # most comma-separated parts of one title


class Reader(Offer):
    """The entries of an answer, best first; arguments are those of `Offer`, and `exists` that of `parser.read`."""

    def __init__(
        self,
        request: Request,
        scope: Scope,
        exists: Callable[[str, int], bool],
        first: int,
        *,
        loose: bool,
    ) -> None:
        super().__init__(request, scope, first, loose=loose)
        self.entries: list[Entry] = []
        self._exists = exists
        self._known = request.known
        self._listed = False  # whether any piece stood in a list
        self._listed_by_mark = False  # the same, but for an enumeration in a sentence
        self._chained = False  # whether any piece was a ranking in one line
        self._heading = False  # whether the last numbered piece named no item
        self._loose: list[int] = []  # entries of separate lines that named no item
        self._open = ""  # the last title without an equal one, which may be cut off
        self._open_number = (
            False  # whether that is a candidate's number, which no title goes on from
        )

    def items(self) -> tuple[str, ...]:
        """What the entries name, each once."""
        return tuple(dict.fromkeys(e.item for e in self.entries if e.item is not None))

    @property
    def names_none(self) -> bool:
        """Whether it has several entries, and none of them is known."""
        return bool(self.titles) and self.names_only("unknown", "outside")

    @property
    def names_unknown(self) -> bool:
        """Whether any of its entries is of no known item."""
        return bool(self.titles) and any(
            entry.kind in ("unknown", "outside") for entry in self.entries
        )

    @property
    def all_go_on(self) -> bool:
        """Whether each of its entries says more than the title of an offered item."""
        return all(
            len(normalise(entry.text)) > len(self.titles.get(entry.item or "", entry.text))
            for entry in self.entries
            if entry.kind != "unparsed"
        )

    @property
    def in_sentences(self) -> bool:
        """Whether nothing that was read stood in a list, a table or a chain."""
        return not (self._listed_by_mark or self._chained)

    def names_only(self, *kinds: EntryKind) -> bool:
        """Whether it names several things, and all of them are of these kinds."""
        named = [entry.kind for entry in self.entries if entry.kind != "unparsed"]
        return len(named) > 1 and set(named) <= {*kinds}

    @property
    def beginning(self) -> tuple[str, ...]:
        """As many offered items as were named, in the order of the prompt."""
        return tuple(self.titles)[: len(self.items())]

    def read_numbers(self, piece: Piece, numbers: Sequence[int]) -> None:
        """Read a piece that consists of candidates' numbers."""
        self._open = ""
        self._listed = self._chained = True
        words = "" if numbers or piece.place == "tag" else piece.text
        if said := piece.name if piece.chain else words:
            self._prose(said)
        for number in numbers:
            item = self.candidate(number)
            text = piece.text if len(numbers) == 1 else str(number)
            if item is None:
                self.entries.append(self._unknown(text, str(number)))
            else:
                self._add(text, item)
            self._open, self._open_number = str(number), True

    def read(self, piece: Piece) -> None:
        """Read a piece that names items by their titles, or none."""
        if piece.place == "tag":
            return
        self._chained = self._chained or piece.chain
        if piece.chain and (chain := chained(piece.text)) is not None and _ARROW.search(chain[1]):
            first, *others = _ARROW.split(piece.text.strip(" \t*_`"))
            if self.equal(first) is None:
                first = first.removeprefix(chain[0]).strip()
                first = numbered_text(first)[0].strip() or first
            liked = self.equal(first)
            if len(others) == 1 and liked and liked.id in self.history:
                others, first = [], others[0]  # "Heat → Casino"
            for part in (first, *others):
                self.read(Piece(part.strip(), "data"))
            return
        self._open, self._open_number = "", False
        marked = piece.place in ("numbered", "bulleted", "data")
        self._listed = self._listed or marked
        self._listed_by_mark = self._listed_by_mark or marked
        text = comments.unwrapped(piece.text)
        if text[:1] == "(" and (dated := _DATED_BEFORE.match(text)):
            text = f"{dated[2]} ({dated[1]}){text[dated.end() :]}"
        if piece.place == "note" and not self._heading:
            self._prose(piece.text)
        elif not any(c.isalnum() for c in text):
            if (item := self.equal(text)) is not None or piece.place == "numbered":
                self._add(piece.whole or text, item)
        elif not self._read_whole(piece, text):
            text = comments.unlabelled(text)
            if not self._read_several(piece, text):
                self._read_one(piece, text)

    def read_mentions(self, text: str) -> bool:
        """Read an answer in sentences that name more of what is offered than was read; whether they do."""
        read = {*self.items()} & self.titles.keys()
        if self._listed_by_mark or len(read) >= self.wanted:
            return False
        if text.rstrip(" *_").endswith(("?", "？")):
            return False  # "Would you like Heat or Casino?"
        mentioned = self.mentions(text)
        if len(mentioned) <= max(1, len(read)):
            return False
        self.entries, self.named = [], set()
        for written, item in mentioned:
            self._add(written, item)
        self._loose, self._open = [], ""
        return True

    def finish(self, *, cut_off: bool) -> None:
        """Decide what depends on the whole answer."""
        last = self.entries[-1] if self.entries else None
        if last is not None and self._open:
            unfinished = last.kind in ("unknown", "unparsed") and not self._open_number
            unfinished = unfinished and self.scope.extends(self._open)
            if cut_off or unfinished:
                self.entries[-1] = Entry(last.text, "unparsed")
                self.named = {entry.item for entry in self.entries if entry.item is not None}
                self._loose = [at for at in self._loose if at != len(self.entries) - 1]
        if self._loose and self._is_bare_list():
            for at in self._loose:
                text = self.entries[at].text
                title = comments.unknown_title(text)
                if title and comments.is_capitalised(title):
                    self.entries[at] = self._unknown(text, title)
        if not self._listed and all(entry.item is None for entry in self.entries):
            self._read_sentences()

    # ---- one piece ----

    def _read_whole(self, piece: Piece, text: str) -> bool:
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
        number, _, rest = text.partition(" ")
        turn = len([entry for entry in self.entries if entry.item is not None]) + 1
        return rest if number == str(turn) else ""

    def _read_one(self, piece: Piece, text: str) -> None:
        self._open = ""
        item = self.beginning_with(text, piece.year) or self._labelled(text)
        title = "" if item else comments.unknown_title(piece.text) or self._bare_id(text)
        if piece.place in ("line", "note") and not comments.is_capitalised(title):
            title = ""
        if item is None and (number := self.number(text)) is not None:
            self._open = text
            item, title = number, ""
        elif item is None and title:
            item = self._find(title, piece.year or _year(text))
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
        elif (named := self._begun_by(text)) is not None:
            self._add(piece.text, named)
        else:
            self._prose(piece.text)

    def _begun_by(self, text: str) -> Item | None:
        """The offered item whose title a sentence in a list begins with: ``Heat: fits well.`` and more."""
        mentioned = self.mentions(comments.unwrapped(text))
        begins = mentioned and comments.unwrapped(text).startswith(mentioned[0][0])
        return mentioned[0][1] if begins else None

    def _bare_id(self, text: str) -> str:
        """A number at the beginning of an entry, if all offered titles are numbers."""
        bare = bool(self.titles) and all(title.isdigit() for title in self.titles.values())
        found = _ID.match(comments.unwrapped(text)) if bare else None
        return found[0] if found else ""

    def _labelled(self, text: str) -> Item | None:
        counted = _COUNTED.fullmatch(text)
        ends = [counted.start(1)] if counted else [each.end() for each in _LABELS.finditer(text)]
        if not _BECAUSE.match(text):
            ends = [end for end in ends[:1] if end <= _LABEL]
        found = (self.equal(comments.unwrapped(text[end:].strip())) for end in ends[:4])
        return next((item for item in found if item and item.id in self.titles), None)

    # ---- several titles in one piece ----

    def _read_several(self, piece: Piece, text: str) -> bool:
        best, most = ("", list[tuple[str, Item | None]]()), (0, 0, 0)
        for lead, rest in enumerations.leads(text):
            found = self._several(rest, strict=piece.place not in ("line", "note"))
            items = {item.id for _, item in found if item}
            hits = (
                1 + len(items - self.history or items),
                -len(items & self.history),
                -sum(item is None for _, item in found),
            )
            if found and hits > most:
                best, most = (lead, found), hits
        lead, found = best
        if not found:
            return False
        if lead:
            self._prose(lead)
        for part, item in found:
            self._part(part, item)
        self._listed = True
        return True

    def _several(self, text: str, *, strict: bool) -> list[tuple[str, Item | None]]:
        """The parts of an enumeration with their items; empty if it is not an enumeration. The catalogue decides which
        commas split titles: the longest title wins.
        """
        parts = enumerations.parts(text)[:MAX_PIECES]
        if len(parts) < 2:
            return []
        found: list[tuple[str, Item | None]] = []
        used = set(self.named)
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
        hits = sum(item is not None for _, item in found)
        distinct = len({item.id for _, item in found if item is not None})
        if len(found) < 2 or (strict and distinct < len(found)):
            return []
        dated = all(comments.year_in(part) for part, _ in found)
        likely = all(
            item is not None or part.isdigit() or comments.is_capitalised(comments.title_of(part))
            for part, item in found
        )
        return found if dated or (likely and hits and 2 * hits >= len(found)) else []

    def _longest(
        self, text: str, parts: Sequence[enumerations.Part], at: int, used: set[str]
    ) -> tuple[int, Item | None]:
        for end in range(min(len(parts), at + _JOINED), at, -1):
            for raw in enumerations.spellings(text, parts[at], parts[end - 1]):
                item = self.scope.equal(raw, None, used)
                if item is not None and not (end > at + 1 and self._is_other(raw, item)):
                    return end, item
        raw = comments.unwrapped(text[parts[at].start : parts[at].end])
        item = self.number(raw)
        if item is None and comments.unrated(raw):
            item = self._find(raw, None)
        return at + 1, item

    def _is_other(self, text: str, item: Item) -> bool:
        """Whether a number at the end of a title is no year of it, but another title: ``Creep, 1979``."""
        last = text.rpartition(",")[2].strip()
        other = self.equal(last) if last.isdecimal() and item.year is None else None
        return other is not None and other.id in self.titles and last not in item.title

    def _part(self, part: str, item: Item | None) -> None:
        self._open = ""
        title = comments.unknown_title(part) if item is None else ""
        if title:
            item = self._find(title, _year(part))
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
        entries, self.entries = self.entries, []
        for entry in entries:
            items = [] if comments.is_refusal(entry.text) else list(self.named_by(entry.text))
            self.entries += [] if items else [entry]
            for text, item in items:
                self._add(text, item)

    def _is_bare_list(self) -> bool:
        titles = (comments.unknown_title(self.entries[at].text) for at in self._loose)
        likely = sum(comments.is_capitalised(title) for title in titles if title)
        return not self._listed and likely + sum(e.item is not None for e in self.entries) > 1

    # ---- entries ----

    def _find(self, title: str, year: int | None) -> Item | None:
        """The item of a title that may be misspelt or rated. A whole number after it counts as a rating only as a last
        resort: ``Rocky: 2`` is Rocky II if the catalogue has it.
        """
        self._open = title
        item = self.scope.find(title, year, self.named)
        if item is None and (rated := comments.unrated(title)):
            self._open = ""
            item = self.scope.find(rated, year, self.named)
        return item

    def _add(self, text: str, item: Item | None) -> None:
        if item is None:
            self._prose(text)
            return
        kind: EntryKind
        if item.id in self.named:
            kind = "duplicate"
        elif item.id in self.titles:
            kind = "candidate"
        elif item.id in self._known:
            kind = "history"
        else:
            kind = "candidate" if self.candidates is None else "catalogue"
        self.named.add(item.id)
        self.entries.append(Entry(text.strip(), kind, item.id))

    def _unknown(self, text: str, title: str, year: int | None = None) -> Entry:
        title = comments.unrated(title) or title
        name = UNKNOWN_PREFIX + normalise(title)
        bare, found = split_year(title)
        year = year or found or _year(text) or split_year(text)[1]
        kind: EntryKind = "duplicate" if name in self.named else "unknown"
        if kind == "unknown" and year is not None and self._exists(bare, year):
            kind = "outside"
        self.named.add(name)
        return Entry(text.strip(), kind, name)

    def _prose(self, text: str) -> None:
        self.entries.append(Entry(text.strip(), "unparsed"))


def _year(text: str) -> int | None:
    return split_year(f"x {comments.year_in(text)}")[1]
