"""Reads a text answer: the items it names, in its order, and the kind of the rest.

Work grows linearly with the answer up to `layout.MAX_CHARACTERS` and `layout.MAX_PIECES`, and stops
there.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from pytest_recsys_mt.llm.reading import comments, doubts, enumerations
from pytest_recsys_mt.llm.reading.blocks import Block, Choice, Contents, blocks, choose, in_order
from pytest_recsys_mt.llm.reading.layout import (
    LABEL,
    MAX_PIECES,
    Piece,
    chained,
    numbered_text,
    pieces,
    without_chain,
)
from pytest_recsys_mt.llm.reading.names import ASIDE
from pytest_recsys_mt.llm.reading.spelling import normalise, split_year
from pytest_recsys_mt.llm.reading.titles import Scope, TitleIndex
from pytest_recsys_mt.llm.reading.wording import phrase
from pytest_recsys_mt.requests import (
    UNKNOWN_PREFIX,
    Entry,
    EntryKind,
    Item,
    Recommendation,
    Request,
    Usage,
)
from pytest_recsys_mt.sanitize import without_controls

_CANDIDATE_NUMBER = re.compile(rf"{LABEL}[#(\[{{]{{0,2}}(\d{{1,4}})[.)\]}}]{{0,2}}", re.IGNORECASE)
_LETTER = re.compile(r"[\[(]?([A-Z])[\])]?")
_LABELS = re.compile(r"[:：]|\s→")
_BECAUSE = phrase("because", re.IGNORECASE)
_LABEL = 42  # most characters of a label before a title
_COUNTED = re.compile(r"(?:[(\[]\d{1,4}[)\]]|\d{1,3}[.)]|\d{1,2}\s?x|buy)\s(.+)", re.IGNORECASE)
"""The candidate's number or a quantity before a title: ``(3) Heat``, ``1 x Milk``."""
_BRACKETED = re.compile(r"[\[(]\d{1,4}[\])]")
_SMALL = re.compile(r"\b[\da-z]*[a-z]\b")
_ARROW = re.compile(r"\s(?:>|≻|→)\s")
_SPLIT = re.compile(
    r"\s*(?:>{1,2}|≻|→|->|=>|[,;|，、])\s*(?:and\s)?|\s+and\s+|(?<=[\])\d])\s+(?=[\[(\d])"
)
_JOINED = 7  # most comma-separated parts of one title

_PUNCTUATION = " .,;:!?…\"'“”‘’()[]{}<>≺≻→←=|*_-–—。，、；：！？"  # what may stand behind a title without being of it
_RESTATED = 3  # fewest entries of the history, before others, that restate it
_SENTENCE = 2  # most words in lower case beside a title, of what is no sentence
_BRACKETS = re.compile(r"[(\[](?!(?:18|19|20)\d\d[)\]])[^()\[\]]{1,40}[)\]]")
_LETTERED = re.compile(r"[A-J][.)]\s")

_ASK = 'ask for one list, or for "Final ranking:" before it'  # what makes an answer with several lists clear
_MOST_WORDS = 14  # most words of a title inside a sentence


@dataclass(frozen=True)
class Reading:
    """What was read in an answer."""

    entries: tuple[Entry, ...]  # best first; those of an ambiguous answer name nothing
    rule: str = ""  # which part of it was taken, and why; empty if nothing was
    left_out: tuple[str, ...] = ()  # its other lists, in words
    ambiguous: bool = False  # whether several lists have equal claims

    @property
    def how(self) -> str:
        """How the list was found, in words; of an answer without one, why not and what to ask for."""
        left = f"left out: {', '.join(self.left_out)}" if self.left_out else ""
        return "; ".join(filter(None, (self.rule, left)))

    def recommendation(self, k: int, text: str, usage: Usage | None = None) -> Recommendation:
        """The answer of a recommender: the first k entries that name something."""
        items = tuple(entry.item for entry in self.entries if entry.item is not None)
        return Recommendation(
            items[:k], self.entries, text, usage, how=self.how, ambiguous=self.ambiguous
        )


def parse(text: str, request: Request, index: TitleIndex, **options: Any) -> tuple[Entry, ...]:
    """The entries of a text answer, best first; the arguments are those of `read`."""
    return read(text, request, index, **options).entries


def read(
    text: str,
    request: Request,
    index: TitleIndex,
    *,
    truncated: bool = False,
    shown: Sequence[Sequence[str]] = (),
    exists: Callable[[str, int], bool] = lambda title, year: False,
    scope: Scope | None = None,
    first: int = 1,
) -> Reading:
    """What a text answer says, and how that was read; it never raises.

    A list entry that names no item is a title ``outside`` the catalogue if `exists` knows one of
    its year, otherwise an ``unknown`` one; prose is ``unparsed``. Plain numbers stand for the
    candidates, which the prompt numbers from `first`. In an answer in sentences, without a list,
    the titles count, except those of the history, which the answer may only mention.

    Args:
        text: The text of the model.
        request: The request.
        index: The titles of the catalogue.
        truncated: Whether the model was cut off; then its last entry counts only as a full title.
            Without this, a last entry that a longer title begins with is taken as cut off.
        shown: How the prompt named each candidate, if edits changed it; see `Template.written`.
        exists: See `KnownFilms.hold`; called only for titles that name no item.
        scope: What `scope_of` gave for the items of `request` and `shown`, for who keeps it.
        first: The number of the first candidate in the prompt.
    """
    scope = scope or scope_of(request, index, shown)
    cut_off = truncated and not text.endswith("\n")

    def is_title(line: str) -> bool:
        return scope.equal(line) is not None

    read = pieces(without_controls(text))
    found = [part for piece in read for part in without_chain(piece, is_title)]
    parts = blocks(found, is_title)

    reader = partial(_Reader, request, scope, exists, first)
    readers = [_read_block(reader(loose=False), part) for part in parts]
    loosely = False
    for at, each in enumerate(readers):
        again = _read_block(reader(loose=True), parts[at]) if each and each.names_none else None
        if again is not None and again.names_only("candidate"):
            readers[at], loosely = again, True
    unclear = tuple(at for at, each in enumerate(readers) if each is None)
    contents = [_contents(part, each, request) for part, each in zip(parts, readers, strict=True)]
    choice = choose(contents, request.k, truncated=truncated)
    listed = [at for at, each in enumerate(contents) if each.items or at in unclear]
    if unclear and not (choice.chosen and contents[choice.chosen[0]].block.role == "final"):
        choice = Choice((), "its numbers or its order can be read in two ways", unclear)
    if not choice.chosen and (choice.ambiguous or choice.rule):
        unread = choice.ambiguous or listed
        entries = tuple(Entry(parts[at].text, "unparsed") for at in unread)
        named = tuple(_in_words(contents[at]) for at in unread if contents[at].items)
        rule = choice.rule
        if choice.ambiguous and named:
            rule, named = f"{rule}: {' and '.join(named)}", ()
        return Reading(entries, f"{rule}; {_ASK}", named, bool(choice.ambiguous))
    aside = [at for at in listed if at not in choice.chosen]
    kept = choice.chosen if aside else range(len(parts))
    if len(parts) == 1 and readers[0] is not None:
        whole = readers[0]
    else:
        whole = reader(loose=loosely)
        for at in kept:
            _read_block(whole, parts[at])
    whole.finish(cut_off=cut_off and kept[-1] == len(parts) - 1)
    rule = choice.rule
    if choice.chosen:
        rule = f"{_in_words(contents[choice.chosen[0]])}: {rule}"
    where = choice.chosen or range(len(parts))
    taken = [piece for at in where for piece in parts[at].pieces]
    heard = [
        part
        for at, part in enumerate(parts)
        if at in where
        or (part.role not in ASIDE and (part.pieces[0].chain or not (part.name and at in listed)))
    ]
    said = [piece for part in heard for piece in part.pieces]
    names = [parts[at].name for at in choice.chosen]
    why = doubts.of_text(text) or _doubt(whole, said, taken, names)
    if why:
        kept_text = tuple(Entry(parts[at].text, "unparsed") for at in where)
        return Reading(kept_text, f"{why}; {_ASK}", (rule,), True)
    entries = tuple(whole.entries)
    if not any(entry.item for entry in entries):
        rule = _why_nothing(entries)
    return Reading(entries, rule, tuple(_in_words(contents[at]) for at in aside))


def _doubt(
    reader: _Reader, found: Sequence[Piece], taken: Sequence[Piece], names: Sequence[str]
) -> str:
    if not reader.items():
        return ""
    chosen = {id(piece) for piece in taken}
    places = {item: at for at, item in enumerate(reader.items())}
    listed = [piece for piece in taken if piece.place in ("numbered", "bulleted", "data")]
    lines = {
        id(piece): reader.named_in(piece.text)
        for piece in found
        if piece.place == "line" or (piece.place != "tag" and id(piece) in chosen)
        if not piece.chain or id(piece) not in chosen
    }

    def said(piece: Piece) -> tuple[str, list[int | None]]:
        rest, named = lines[id(piece)]
        return rest, [places.get(item) for item in named]

    heard = [piece for piece in taken if id(piece) in lines]
    own = [piece for piece in heard if piece in listed or lines[id(piece)][1]]
    place = next((piece.place for piece in listed if lines[id(piece)][1]), "")
    inside = {item for piece in listed if piece.place == place for item in lines[id(piece)][1]}
    others = {item for piece in listed for item in lines[id(piece)][1]} - inside
    if len(reader.items()) > reader.wanted and {*reader.items()[:_RESTATED]} <= reader.history:
        return "it begins with the history"
    if 2 * len(listed) < len(own):
        listed = []  # "(500) Days of Summer" among lines without marks
    told = [piece.text for piece in found if piece.place in ("line", "note")]
    if any(line.strip(" *_#:：").casefold() in doubts.OF_GRADES for line in told):
        return "its parts have names that say no order"
    if any(piece.chain for piece in taken) and any(map(_LETTERED.match, told)):
        return "its letters are its own"
    if any(piece.chain and " = " in piece.text for piece in taken):
        return "it ranks some items alike"
    chains = [piece for piece in taken if piece.chain]
    if not own and not chains:
        return ""
    own_said = [said(piece) for piece in own]
    wordy = [rest for rest, named in own_said if named and len(_SMALL.findall(rest)) > _SENTENCE]
    if reader.names_none and 2 * len(wordy) > len(own):
        return "its entries name offered items among other words"
    rests_listed = [
        f"{_mark(piece)} {rest}"
        for piece, (rest, named) in zip(own, own_said, strict=True)
        if named and (piece in listed or not any(map(str.isalnum, rest)))
    ]
    begins = reader.items() == reader.beginning
    if begins and any(comments.is_refusal(line) for line in told):
        return "it declines to answer"
    first = next(at for at, piece in enumerate(found) if piece is (own or chains)[0])
    if own and not listed and (why := doubts.of_sentences(own_said)):
        return why
    apart = False  # whether a line says what stands below it
    for piece in found[first + 1 :]:
        rest, these = lines.get(id(piece), ("", []))
        apart = apart or (piece.place == "line" and not these)
        if piece.place == "line" and (len(_SMALL.findall(rest)) > 1 or (apart and _mark(piece))):
            others.update({*these} - inside)
    if others and inside and len(inside) < reader.wanted:
        return "other items stand behind the list"
    sentences = [said(piece) for piece in found[:first] if id(piece) in lines]
    if listed and any(None in named and doubts.chooses(line) for line, named in sentences):
        return "a sentence before the list names another item"
    entries = {id(piece) for piece in listed or own[:1]}
    named = set[str]()
    for piece in () if listed else own:
        if not named.issuperset(lines[id(piece)][1]):
            entries.add(id(piece))
            named.update(lines[id(piece)][1])
    behind = [
        said(piece)
        for piece in found[first + 1 :]
        if piece.place == "line" and id(piece) in lines and id(piece) not in entries
    ]
    before = [
        piece.text for piece in found[max(0, first - 2) : first] if piece.place in ("line", "note")
    ]
    return doubts.of_list(
        [piece.whole or piece.text for piece in own],
        [rest for rest, _ in own_said],
        [len(named) for _, named in own_said],
        [piece.beside for piece in own],
        [*before, *names, *(piece.name for piece in chains)],
        behind,
        reader.offered,
        rests_listed if len(rests_listed) > reader.wanted else [],
        numbered=not begins and any(piece.number is not None for piece in listed),
    )


def _mark(piece: Piece) -> str:
    """What stands before an entry, without its number: ``⭐``."""
    before = piece.whole[: -len(piece.text)] if piece.whole.endswith(piece.text) else ""
    return re.sub(r"[\w.()]", "", before)


def _why_nothing(entries: Sequence[Entry]) -> str:
    if not entries:
        return ""
    if any(comments.is_refusal(entry.text) for entry in entries):
        return "it declines to answer"
    first = next((entry.text for entry in entries if len(entry.text) > 1), entries[0].text)
    return f"no part of it names an item, the nearest is {first[:60]!r}; ask for one numbered title a line"


def _read_block(reader: _Reader, block: Block) -> _Reader | None:
    """The reader, after a block; None if the numbers in it or its order can be read in two ways."""
    numbers = reader.numbers(block)
    if numbers is None:
        return None
    block_ = in_order(block, [reader.place_of(piece) for piece in block.pieces])
    if block_ is None:
        return None
    if numbers:
        told = dict(zip(map(id, block.pieces), numbers, strict=True))
        for piece in block_.pieces:
            reader.read_numbers(piece, told[id(piece)])
        return reader
    for piece in block_.pieces:
        reader.read(piece)
        if len(reader.entries) >= MAX_PIECES:
            break
    return reader


def _contents(block: Block, reader: _Reader | None, request: Request) -> Contents:
    named = () if reader is None else reader.items()
    offered = [item.id for item in request.candidates or ()]
    count = (
        len(set(offered).intersection(named))
        if request.candidates is not None
        else sum(not item.startswith(UNKNOWN_PREFIX) for item in named)
    )
    begins = bool(offered) and len(named) > 1 and list(named) == offered[: len(named)]
    restated = begins and len(named) == len(offered) > request.k
    return Contents(block, named, count, restated, begins)


def _in_words(contents: Contents) -> str:
    name = f" {contents.block.name!r}" if contents.block.name else ""
    return f"{contents.block.kind}{name} of {len(contents.items)}"


def scope_of(request: Request, index: TitleIndex, shown: Sequence[Sequence[str]] = ()) -> Scope:
    """The items that an answer to `request` may name, in the order in which they are looked up."""
    history = [rating.item for rating in request.history]
    return index.scope(request.candidates or (), history, shown)


class _Reader:
    def __init__(
        self,
        request: Request,
        scope: Scope,
        exists: Callable[[str, int], bool],
        first: int,
        *,
        loose: bool,
    ) -> None:
        self.entries: list[Entry] = []
        self._exists = exists
        self._candidates = request.candidates
        self._shown = {rating.item.id for rating in request.history}
        self._known = request.known
        self._offered = {item.id: normalise(item.title) for item in request.candidates or ()}
        self.history = self._shown - self._offered.keys()
        self._first = first
        self.wanted = request.k
        self._freely = loose  # whether anything may stand beside a title
        self._places = {item.id: at for at, item in enumerate(request.candidates or (), first)}
        self._scope = scope
        self._named: set[str] = set()
        self._listed = False  # whether any piece stood in a list
        self._heading = False  # whether the last numbered piece named no item
        self._loose: list[int] = []  # entries of separate lines that named no item
        self._open = ""  # the last title without an equal one, which may be cut off

    def items(self) -> tuple[str, ...]:
        """What the entries name, each once."""
        return tuple(dict.fromkeys(e.item for e in self.entries if e.item is not None))

    @property
    def names_none(self) -> bool:
        """Whether it has several entries, and none of them is known."""
        return bool(self._offered) and self.names_only("unknown", "outside")

    def names_only(self, *kinds: EntryKind) -> bool:
        """Whether it names several things, and all of them are of these kinds."""
        named = [entry.kind for entry in self.entries if entry.kind != "unparsed"]
        return len(named) > 1 and set(named) <= {*kinds}

    @property
    def beginning(self) -> tuple[str, ...]:
        """As many offered items as were named, in the order of the prompt."""
        return tuple(self._offered)[: len(self.items())]

    @property
    def offered(self) -> int:
        """How many candidates have a number."""
        return len(self._candidates or ())

    def named_in(self, text: str) -> tuple[str, list[str]]:
        """A line without the titles of offered items, and those items, each once, in its order."""
        if (whole := self._equal(comments.unwrapped(text))) is not None:
            aside = _BRACKETS.findall(text)
            return " ".join([re.sub(r"[\w\s()]", "", text), *aside]), [whole.id]
        words = [found.span() for found in re.finditer(r"\S+", text)]
        rest, named, at = [], list[str](), 0
        while at < len(words):
            found = self._named_at(text, words, at)
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
        """The offered item whose title begins with a word, its last word, and where the title ends."""
        start = words[at][0]
        first = next((char for char in text[start : words[at][1]] if char.isalnum()), "")
        if not first or first.islower():
            return None
        found = None
        for last in range(min(len(words), at + _MOST_WORDS) - 1, at - 1, -1):
            written = text[start : words[last][1]].rstrip(_PUNCTUATION)
            item = self._equal(written)
            if item is not None and item.id in self._offered:
                if found is not None and found[0].id != item.id:
                    break  # "Portal 2" begins with another title
                found = item, last, start + len(written)
        return found

    def place_of(self, piece: Piece) -> int | None:
        """The number of the candidate whose title a piece is."""
        if piece.number is None or not self._candidates:
            return None
        text = comments.unwrapped(piece.text)
        item = self._equal(text, piece.year) or self._beginning(text, piece.year)
        return self._places.get(item.id) if item is not None else None

    def idents(self, piece: Piece) -> tuple[int, ...] | None:
        """The candidates' numbers that a piece consists of; None if it is something else."""
        if piece.place == "tag":
            return ()
        text = piece.text
        if not text.strip() and _BRACKETED.fullmatch(piece.whole.strip()):
            text = piece.whole
        if any(char.isalpha() for char in text) and self._equal(text) is not None:
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
        return tuple(ord(letter[1]) - 65 + self._first for letter in letters if letter)

    def numbers(self, block: Block) -> list[tuple[int, ...]] | None:
        """The candidates' numbers in each piece of a block of nothing else, none if it says titles.

        None if it can be read in two ways: a number that is a title of another item too, or a zero
        beside others.
        """
        if not self._candidates:
            return []
        found: list[tuple[int, ...]] = []
        for piece in block.pieces:
            idents = self.idents(piece)
            if idents is None and piece.place in ("line", "note") and not self._equal(piece.text):
                idents = ()  # words around
            if idents is None:
                return []
            found.append(idents)
        named = [number for idents in found for number in idents]
        if not named:
            return []
        inside = [number for number in named if self._candidate(number) is not None]
        distinct = list(dict.fromkeys(named))
        titles = [self._equal(str(number)) for number in distinct]
        as_titles = all(item is not None and item.id in self._offered for item in titles)
        if len(inside) == len(named):
            places = [self._places[item.id] for item in titles if item] if as_titles else distinct
            return found if places == distinct else None
        if as_titles or not inside:
            return []
        other = 0 if self._first else len(self._candidates)  # it may count from another number
        return None if other in named else found

    def read_numbers(self, piece: Piece, numbers: Sequence[int]) -> None:
        self._open = ""
        self._listed = True
        words = "" if numbers or piece.place == "tag" else piece.text
        if said := piece.name if piece.chain else words:
            self._prose(said)
        for number in numbers:
            item = self._candidate(number)
            self._add(piece.text if len(numbers) == 1 else str(number), item)
            self._open = str(number)

    def read(self, piece: Piece) -> None:
        if piece.place == "tag":
            return
        if piece.chain and (chain := chained(piece.text)) is not None and _ARROW.search(chain[1]):
            first, *others = _ARROW.split(piece.text.strip(" \t*_`"))
            if self._equal(first) is None:
                first = first.removeprefix(chain[0]).strip()
                first = numbered_text(first)[0].strip() or first
            liked = self._equal(first)
            if len(others) == 1 and liked and liked.id in self.history:
                others, first = [], others[0]  # "Heat → Casino"
            for part in (first, *others):
                self.read(Piece(part.strip(), "data"))
            return
        self._open = ""
        self._listed = self._listed or piece.place in ("numbered", "bulleted", "data")
        text = comments.unwrapped(piece.text)
        if piece.place == "note" and not self._heading:
            self._prose(piece.text)
        elif not any(c.isalnum() for c in text):
            if (item := self._equal(text)) is not None or piece.place == "numbered":
                self._add(piece.whole or text, item)
        elif not self._read_whole(piece, text):
            text = comments.unlabelled(text)
            if not self._read_several(piece, text):
                self._read_one(piece, text)

    def finish(self, *, cut_off: bool) -> None:
        """Decide what depends on the whole answer."""
        last = self.entries[-1] if self.entries else None
        if last is not None and self._open:
            unfinished = last.kind in ("unknown", "unparsed") and self._scope.extends(self._open)
            if cut_off or unfinished:
                self.entries[-1] = Entry(last.text, "unparsed")
                self._named = {entry.item for entry in self.entries if entry.item is not None}
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
        item = self._equal(text, piece.year)
        if item is None and piece.whole and piece.whole != piece.text:
            item = self._equal(comments.unwrapped(piece.whole), piece.year)
        if item is None and piece.place == "line":
            item = self._equal(self._unnumbered(text))
        if item is None:
            return False
        self._heading = self._heading and piece.place == "note"
        self._add(piece.text, item)
        return True

    def _unnumbered(self, text: str) -> str:
        """A line without the number before it, ``1 Heat``, if that is the next number."""
        number, _, rest = text.partition(" ")
        turn = len([entry for entry in self.entries if entry.item is not None]) + 1
        return rest if number == str(turn) else ""

    def _read_one(self, piece: Piece, text: str) -> None:
        self._open = ""
        item = self._beginning(text, piece.year) or self._labelled(text)
        title = "" if item else comments.unknown_title(piece.text)
        if piece.place in ("line", "note") and not comments.is_capitalised(title):
            title = ""
        if item is None and (number := self._number(text)) is not None:
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
        else:
            self._prose(piece.text)

    def _beginning(self, text: str, year: int | None) -> Item | None:
        """The item of the longest title at the start of a piece, before a comment."""
        for head, rest, closed in comments.cuts(text):
            item = self._equal(head, year)
            if self._freely:
                behind = "" if rest.rstrip().endswith((")", "]")) else rest.strip(" \t-–—:：|,.;~")
                other = self._equal(behind, year)
                if (item is None) != (other is None):
                    return item or other
            if item is None:
                continue
            if closed or comments.is_comment(rest, item) or self._equal(rest) == item:
                return item
            if self._offered.get(item.id, "").startswith(normalise(text)):
                return item  # the rest begins as in the offered title
            by_its_maker = rest[:1].isupper() and text.endswith(f" by {rest}")
            if by_its_maker and item.year is None and item.id in self._offered:
                return item
        return self._equal(comments.retranslated(text), year)

    def _labelled(self, text: str) -> Item | None:
        """The offered item behind a label: ``Monday: Heat``, ``#1 pick → Heat``."""
        counted = _COUNTED.fullmatch(text)
        ends = [counted.start(1)] if counted else [each.end() for each in _LABELS.finditer(text)]
        if not _BECAUSE.match(text):
            ends = [end for end in ends[:1] if end <= _LABEL]
        found = (self._equal(comments.unwrapped(text[end:].strip())) for end in ends[:4])
        return next((item for item in found if item and item.id in self._offered), None)

    def _number(self, text: str) -> Item | None:
        match = _CANDIDATE_NUMBER.fullmatch(text.strip().rstrip(",;"))
        return None if match is None else self._candidate(int(match[1]))

    def _candidate(self, number: int) -> Item | None:
        offered, at = self._candidates or (), number - self._first
        return offered[at] if 0 <= at < len(offered) else None

    # ---- several titles in one piece ----

    def _read_several(self, piece: Piece, text: str) -> bool:
        """Read ``Heat, Casino and Alien``, also after an introductory sentence."""
        best, most = ("", list[tuple[str, Item | None]]()), (0, 0)
        for lead, rest in enumerations.leads(text):
            found = self._several(rest, strict=piece.place not in ("line", "note"))
            items = {item.id for _, item in found if item}
            hits = 1 + len(items - self.history or items), -len(items & self.history)
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
        """The parts of an enumeration with their items; empty if it is not an enumeration.

        The catalogue decides which commas split titles: the longest title wins.
        """
        parts = enumerations.parts(text)[:MAX_PIECES]
        if len(parts) < 2:
            return []
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
        """The longest run of parts from `at` on that is one title."""
        for end in range(min(len(parts), at + _JOINED), at, -1):
            raw = text[parts[at].start : parts[end - 1].end]
            for head in enumerations.plain_heads(raw):
                item = self._scope.equal(head, None, used)
                if item is not None:
                    return end, item
        raw = comments.unwrapped(text[parts[at].start : parts[at].end])
        item = self._number(raw)
        if item is None and comments.unrated(raw):
            item = self._find(raw, None)
        return at + 1, item

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
            items = [] if comments.is_refusal(entry.text) else list(self._mentions(entry.text))
            self.entries += [] if items else [entry]
            for text, item in items:
                self._add(text, item)

    def _mentions(self, text: str) -> Iterator[tuple[str, Item]]:
        """Titles in a sentence: quoted ones, those with a year, and candidates as written."""
        at = 0
        for start, end, quoted in enumerations.spans(text, _MOST_WORDS):
            if start < at:
                continue
            written = text[start:end]
            item = self._equal(written)
            if item is None or item.id in self.history:
                continue
            if not (quoted or split_year(written)[1] or item.id in self._offered):
                continue
            yield written, item
            at = end

    def _is_bare_list(self) -> bool:
        """Whether separate lines are titles: none stands in a list, and at least two could be."""
        titles = (comments.unknown_title(self.entries[at].text) for at in self._loose)
        likely = sum(comments.is_capitalised(title) for title in titles if title)
        return not self._listed and likely + sum(e.item is not None for e in self.entries) > 1

    # ---- entries ----

    def _equal(self, text: str, year: int | None = None) -> Item | None:
        return self._scope.equal(text, year, self._named) if text else None

    def _find(self, title: str, year: int | None) -> Item | None:
        """The item of a title that may be misspelt or rated.

        A whole number after it counts as a rating only as a last resort: ``Rocky: 2`` is Rocky II
        if the catalogue has it.
        """
        self._open = title
        item = self._scope.find(title, year, self._named)
        if item is None and (rated := comments.unrated(title)):
            self._open = ""
            item = self._scope.find(rated, year, self._named)
        return item

    def _add(self, text: str, item: Item | None) -> None:
        if item is None:
            self._prose(text)
            return
        kind: EntryKind
        if item.id in self._named:
            kind = "duplicate"
        elif item.id in self._offered:
            kind = "candidate"
        elif item.id in self._known:
            kind = "history"
        else:
            kind = "candidate" if self._candidates is None else "catalogue"
        self._named.add(item.id)
        self.entries.append(Entry(text.strip(), kind, item.id))

    def _unknown(self, text: str, title: str, year: int | None = None) -> Entry:
        title = comments.unrated(title) or title
        name = UNKNOWN_PREFIX + normalise(title)
        bare, found = split_year(title)
        year = year or found or _year(text) or split_year(text)[1]
        kind: EntryKind = "duplicate" if name in self._named else "unknown"
        if kind == "unknown" and year is not None and self._exists(bare, year):
            kind = "outside"
        self._named.add(name)
        return Entry(text.strip(), kind, name)

    def _prose(self, text: str) -> None:
        self.entries.append(Entry(text.strip(), "unparsed"))


def _year(text: str) -> int | None:
    return split_year(f"x {comments.year_in(text)}")[1]
