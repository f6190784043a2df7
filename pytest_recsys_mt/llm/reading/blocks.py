"""The blocks of an answer: its lists, tables, values of JSON and chains; `choose` says which of them is the answer."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from pytest_recsys_mt.llm.reading.line import Piece
from pytest_recsys_mt.llm.reading.names import Role, is_name, role_of
from pytest_recsys_mt.llm.reading.wording import phrase

_HEADING = re.compile(r"[:：][*_ ]*$")

_BOLD = re.compile(r"\s*(?:\*\*|__)[^*_]+(?:\*\*|__):?\s*")

_LED = re.compile(r"[*_# ]*([^:：,;，、()（）\d]{1,60})[:：][*_ ]*\S")

_FIRST = re.compile(r"[,;、]\s|\s(?:and|und|et|y|e|en)\s")

_WORDS = 6  # most words of a name before its list in one line

BECAUSE = phrase("because", re.IGNORECASE)

GRADED = re.compile(r"\b(?:tier|class|level|grade|priority|relevance)\b", re.IGNORECASE)
"""In the names of groups, which nothing orders."""

_ENTRIES = ("numbered", "bulleted", "data")


@dataclass(frozen=True)
class Block:
    """A part of an answer that may be its list: its pieces, and what introduces it, if anything does."""

    pieces: tuple[Piece, ...]
    name: str = ""

    @property
    def role(self) -> Role:
        """What its name says."""
        return role_of(self.name) if self.name else ""

    @property
    def text(self) -> str:
        """Its beginning."""
        return " / ".join(piece.whole or piece.text for piece in self.pieces)[:200].strip()

    @property
    def kind(self) -> str:
        """What it is, in words."""
        places = [piece.place for piece in self.pieces]
        for place, kind in (("data", "data"), ("numbered", "numbered list"), ("bulleted", "list")):
            if place in places:
                return kind
        return "lines"


def blocks(pieces: Sequence[Piece], is_title: Callable[[str], bool]) -> list[Block]:
    """The blocks of an answer, in its order; together they hold all its pieces.

    A line that is the title of an item is no heading.
    """
    if all(piece.place in _ENTRIES for piece in pieces) and _is_one_list(pieces):
        return [Block(tuple(pieces), pieces[0].name if pieces else "")]
    runs = _runs(pieces, is_title)
    in_bold = [p for p in pieces if p.place == "line" and _BOLD.fullmatch(p.text.strip())]
    groups = len(in_bold) > 1 and not any(is_title(p.text.strip("*_ ")) for p in in_bold)
    headings = [_heading(p, is_title, bold=groups and p in in_bold) for p in pieces]
    leads = [
        _lead(piece, is_title) if runs[at] is None and headings[at] is None else ""
        for at, piece in enumerate(pieces)
    ]
    starts = {0}
    for at, piece in enumerate(pieces):
        inside = runs[at] is not None and piece.place != "numbered"
        if piece.place == "tag" or piece.chain or leads[at] or (at and _ends(leads[at - 1], piece)):
            starts.add(at)
        elif headings[at] is not None:
            role = role_of(headings[at] or "")
            minor = role in ("", "reasons", "more", "scores") or role_of(piece.text) == "more"
            if not (inside and minor):
                starts.add(at)
        elif at and _begins(pieces, runs, at):
            begun = at
            while begun and headings[begun - 1] is not None and begun - 1 in starts:
                begun -= 1
            starts.add(begun)
    found = []
    bounds = [*sorted(starts), len(pieces)]
    name = ""
    for start, end in pairwise(bounds):
        part = pieces[start:end]
        before = next((at for at in range(start, end) if headings[at] is None), end)
        said = next(filter(None, headings[start:before]), leads[start])
        if part and part[0].place == "tag":
            name, part = part[0].text, part[1:]
        own = next((piece.name for piece in part if piece.name), "")
        own = " ".join(dict.fromkeys(filter(None, (own, said)))) or name
        if part:
            found.append(Block(tuple(part), own))
    return _joined(found, {id(p) for p, h in zip(pieces, headings, strict=True) if h is not None})


def _joined(found: list[Block], headings: set[int]) -> list[Block]:
    kept, held = list[Block](), Block(())
    for block in found:
        name = block.name if block.role else held.name or block.name
        held = Block((*held.pieces, *block.pieces), name)
        if not all(id(piece) in headings for piece in held.pieces):
            kept.append(held)
            held = Block(())
    return [*kept, held] if held.pieces else kept


def _is_one_list(pieces: Sequence[Piece]) -> bool:
    first = pieces[0].number if pieces else 1
    return all(
        a.place == b.place
        and a.group == b.group
        and (a.place == "bulleted" or (a.number is not None and b.number == a.number + 1))
        for a, b in pairwise(pieces)
    ) and first in (None, 1)


def _runs(pieces: Sequence[Piece], is_title: Callable[[str], bool]) -> list[int | None]:
    runs: list[int | None] = [None] * len(pieces)
    begun, last, step = None, -1, 0
    for at, piece in enumerate(pieces):
        if piece.place == "tag":
            begun = None
        if piece.place != "numbered":
            continue
        number, before = piece.number, pieces[last].number if last >= 0 else None
        gap = 0 if number is None or before is None else number - before
        goes_on = begun is not None and (
            number is None
            or before is None
            or gap == (step or 1)
            or (number == before == 1)
            or (not step and gap == -1 and number >= 1)
            or (
                number > 1
                and number not in {p.number for p in pieces[begun:at] if p.place == "numbered"}
                and step != -1
            )
        )
        marker = piece.whole[: len(piece.whole) - len(piece.text)]
        if goes_on and begun is not None:
            runs[last + 1 : at + 1] = [begun] * (at - last)
            if not step and gap in (1, -1):
                step = gap
        elif (
            at
            and any(map(str.isalnum, marker))
            and is_title(piece.whole)
            and not is_title(piece.text)
        ):
            continue  # "(500) Days of Summer"
        else:
            begun, step = at, 0
            runs[at] = at
        last = at
    return runs


def _begins(pieces: Sequence[Piece], runs: Sequence[int | None], at: int) -> bool:
    piece, before = pieces[at], pieces[at - 1]
    if piece.place == "numbered":
        return runs[at] == at and not (piece.number == 2 and before.place == "line")
    if piece.place == "data":
        return before.place != "data" or before.group != piece.group
    return before.place == "data" or (before.chain and piece.place != "note")


def _heading(piece: Piece, is_title: Callable[[str], bool], *, bold: bool) -> str | None:
    if piece.place not in ("line", "note", "bulleted") or piece.chain:
        return None
    text = piece.text.strip()
    if piece.place == "note" and text[:1].islower() and not _HEADING.search(text):
        return None  # a reason that goes on in the next line
    marked = bool(_HEADING.search(text)) or piece.whole.lstrip().startswith("#")
    name = text.strip("*_#: ：")
    bold = bold or bool(_BOLD.fullmatch(text) and role_of(name))
    introduces = (marked or bold or is_name(name)) and 0 < len(name) <= 300
    return name if introduces and not is_title(name) else None


def _lead(piece: Piece, is_title: Callable[[str], bool]) -> str:
    found = _LED.match(piece.text) if piece.place == "line" and not piece.chain else None
    if found is None or len(found[1].split()) > _WORDS or is_title(piece.text):
        return ""
    first, words = _FIRST.split(piece.text[found.end(1) :], maxsplit=1)[0], found[1].split(" ")
    if any(is_title(" ".join(words[at:]) + first) for at in range(len(words))):
        return ""  # "I recommend Star Wars: Episode I, Heat"
    role = role_of(found[1])
    return found[1] if role and role not in ("reasons", "scores", "more") else ""


def _ends(name: str | None, piece: Piece) -> bool:
    """Whether a list in one line is not the answer, so that the piece below it may be."""
    role = role_of(name) if name else ""
    return role in ("candidates", "history") or (role == "avoid" and bool(_LED.match(piece.text)))


def in_order(block: Block, place_of: Callable[[Piece], int | None]) -> Block | None:
    """The block with its entries in the order of the ranks or scores that it states; None if these
    contradict each other.

    `place_of` gives the candidate's number of the item that a piece names, if it names one. It is called only where
    the order depends on it.
    """
    entries = [
        at
        for at, piece in enumerate(block.pieces)
        if piece.place in ("numbered", "data")
        or (piece.place == "bulleted" and not _HEADING.search(piece.text))
    ]
    pieces = [block.pieces[at] for at in entries]
    if len(pieces) < 2:
        return block
    ranks = [piece.number for piece in pieces]
    scores = [piece.score for piece in pieces]
    ranked = None not in ranks and sorted(ranks) == list(range(1, len(ranks) + 1))  # type: ignore[type-var]
    scored = None not in scores and len(set(scores)) > 1
    if ranked and not scored and ranks == sorted(ranks):  # type: ignore[type-var]
        return block  # it stands in its order already
    if ranked and _are_own(pieces, place_of):
        ranked = False  # the candidates' own numbers, in the order of the answer
    places_too = sorted(score or 0 for score in scores) == list(range(1, len(scores) + 1))
    falling = scored and scores == sorted(scores, reverse=True)  # type: ignore[type-var]
    if scored and not ranked and places_too and block.role != "scores" and not falling:
        return None  # scores or ranks
    if scored and (ranked or "rank" in block.name.casefold()):
        order = range(len(pieces))
        by_rank = sorted(order, key=lambda i: ranks[i] or 0) if ranked else order
        values = [scores[i] for i in by_rank]
        if values != sorted(values, reverse=True):  # type: ignore[type-var]
            return None
    if ranked:
        keys = [float(rank or 0) for rank in ranks]
    elif scored:
        keys = [-(score or 0.0) for score in scores]
    else:
        return block
    bounds = [*entries, len(block.pieces)]
    groups = [block.pieces[start:end] for start, end in pairwise(bounds)]
    best_first = sorted(range(len(groups)), key=keys.__getitem__)
    sorted_ = [piece for at in best_first for piece in groups[at]]
    return Block((*block.pieces[: entries[0]], *sorted_), block.name)


def _are_own(pieces: Sequence[Piece], place_of: Callable[[Piece], int | None]) -> bool:
    """Whether the numbers of entries are those that the prompt gave to what they name."""
    named = [(piece.number, place_of(piece)) for piece in pieces]
    own = [number == place for number, place in named if place is not None]
    return len(own) > 1 and all(own)
