"""The blocks of an answer: its lists, tables, values of JSON and chains; `choose` says which of them is the answer."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from pytest_recsys_mt.llm.reading.layout import Piece
from pytest_recsys_mt.llm.reading.names import ASIDE, Role, is_name, is_plain, role_of
from pytest_recsys_mt.llm.reading.wording import phrase
from pytest_recsys_mt.requests import UNKNOWN_PREFIX

_HEADING = re.compile(r"[:：][*_ ]*$")
_BOLD = re.compile(r"\s*(?:\*\*|__)[^*_]+(?:\*\*|__):?\s*")

_LED = re.compile(r"[*_# ]*([^:：,;，、()（）\d]{1,60})[:：][*_ ]*\S")
_FIRST = re.compile(r"[,;、]\s|\s(?:and|und|et|y|e|en)\s")
_WORDS = 6  # most words of a name before its list in one line

_BECAUSE = phrase("because", re.IGNORECASE)

_GRADED = re.compile(r"\b(?:tier|class|level|grade|priority|relevance)\b", re.IGNORECASE)
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
    """The blocks, where one that is only a heading introduces the next that has no name of its own."""
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
    """For each piece between the first and the last entry of a numbered list, where that list begins."""
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
        elif at and any(map(str.isalnum, marker)) and is_title(piece.whole):
            continue  # "(500) Days of Summer"
        else:
            begun, step = at, 0
            runs[at] = at
        last = at
    return runs


def _begins(pieces: Sequence[Piece], runs: Sequence[int | None], at: int) -> bool:
    """Whether a list begins with a piece that no heading introduces."""
    piece, before = pieces[at], pieces[at - 1]
    if piece.place == "numbered":
        return runs[at] == at and not (piece.number == 2 and before.place == "line")
    if piece.place == "data":
        return before.place != "data" or before.group != piece.group
    return before.place == "data" or (before.chain and piece.place != "note")


def _heading(piece: Piece, is_title: Callable[[str], bool], *, bold: bool) -> str | None:
    """The name in a line that introduces a list; None for any other piece."""
    if piece.place not in ("line", "note", "bulleted") or piece.chain:
        return None
    text = piece.text.strip()
    marked = bool(_HEADING.search(text)) or piece.whole.lstrip().startswith("#")
    name = text.strip("*_#: ：")
    bold = bold or bool(_BOLD.fullmatch(text) and role_of(name))
    introduces = (marked or bold or is_name(name)) and 0 < len(name) <= 300
    return name if introduces and not is_title(name) else None


def _lead(piece: Piece, is_title: Callable[[str], bool]) -> str:
    """The name in a line that is itself a list, ``Draft: Heat, Alien``; empty for any other piece."""
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


def in_order(block: Block, numbers: Sequence[int | None]) -> Block | None:
    """The block with its entries in the order of the ranks or scores that it states; None if these
    contradict each other.

    `numbers` are for each of its pieces the candidate's number of the item that it names, if it names one.
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
    own = [block.pieces[at].number == numbers[at] for at in entries if numbers[at] is not None]
    if ranked and len(own) > 1 and all(own):
        ranked = False  # the candidates' own numbers, in the order of the answer
    scored = None not in scores and len(set(scores)) > 1
    places_too = sorted(score or 0 for score in scores) == list(range(1, len(scores) + 1))
    if scored and not ranked and places_too and block.role != "scores":
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


@dataclass(frozen=True)
class Contents:
    """What was read in one block."""

    block: Block
    items: tuple[str, ...]  # what its entries name, each once, in their order
    offered: int  # how many of them were offered
    restated: bool  # whether it is the offered items once more, in their order
    begins: bool  # whether it begins as the offered items do


@dataclass(frozen=True)
class Choice:
    """Which blocks are the answer, by their places, and why; or which have equal claims."""

    chosen: tuple[int, ...]
    rule: str
    ambiguous: tuple[int, ...] = ()


_CLAIMS: dict[Role, int] = {
    "final": 4, "ranking": 3, "more": 2, "": 2, "scores": 1, "candidates": 1,
}  # fmt: skip


def choose(read: Sequence[Contents], k: int, *, truncated: bool) -> Choice:
    """The blocks that are the answer; the one rule for all answers.

    What is `ASIDE` is never the answer. A block named as final comes before one named as a ranking,
    that before one without such a name, that before scores. Of several the only one with `k` items
    is the answer; blocks that share nothing and have `k` items together are parts of one list.
    """
    roles: list[Role] = [each.block.role for each in read]
    listed = [at for at, each in enumerate(read) if each.items]
    kept = [at for at in listed if roles[at] not in ASIDE]
    if truncated:  # "Let me consider each film in turn. 1. ..." is no ranking yet
        kept = [
            at
            for at in kept
            if (not read[at].begins or len(read[at].items) == k)
            and not any(piece.score is not None for piece in read[at].block.pieces)
        ]
    if any(read[at].offered for at in kept):  # the history once more is none
        kept = [
            at
            for at in kept
            if read[at].offered
            or any(each.startswith(UNKNOWN_PREFIX) for each in read[at].items)
            or roles[at] in ("final", "ranking")
        ]
    if len(kept) > 1 or truncated:
        kept = [
            at
            for at in kept
            if not (
                (read[at].restated and roles[at] in ("", "candidates", "scores"))
                or (read[at].begins and roles[at] == "candidates")
            )
            or (len(kept) == 1 and roles[at] != "candidates")
            or (read[at].restated and not _has_other(read, kept, at))
        ]
    elif len(kept) == 1 and read[kept[0]].begins and roles[kept[0]] == "candidates":
        kept = []  # Without a name, it may be the ranking of a model that keeps the offered order.
    if not kept and len(listed) == 1 and not truncated:
        only = read[listed[0]]
        reasons = roles[listed[0]] == "reasons" or _BECAUSE.match(only.block.name)
        if reasons and 2 * only.offered >= len(only.items) and not only.begins:
            return Choice((listed[0],), "the only list")  # "Because of your history:"
    if not kept:
        return Choice((), "no part of it is a final list" if listed else "")
    most = max(_CLAIMS[roles[at]] for at in kept)
    best = [at for at in kept if _CLAIMS[roles[at]] == most]
    whole = [at for at in kept if len(read[at].items) == k > 1]
    if most >= _CLAIMS["ranking"] and whole and not {*whole} & {*best}:
        # A list of k entries, and "You might also like: ..." or "Top pick: ..." beside it.
        inside = all({*read[at].items} < {*read[whole[0]].items} for at in best)
        if len(whole) > 1 or (most == _CLAIMS["final"] and not inside):
            return Choice((), "several lists with equal claims", (*whole, *best))
        best, most = whole, _CLAIMS[roles[whole[0]]]
    rivals = [at for at in listed if _is_rival(read, best, at, k)]
    if rivals and most < _CLAIMS["final"]:
        return Choice((), "several lists with equal claims", (*best, *rivals))
    for places in (kept, best):
        if len(places) == 1:
            rule = "the only list that is no draft, reason or repetition"
            if len(listed) == 1:
                rule = "the only list"
            elif roles[places[0]]:
                rule = f"named {read[places[0]].block.name!r}"
            return Choice((places[0],), rule)
        if _are_parts(read, places, k):
            return Choice(tuple(places), "the parts of one list")
    longest = max(best, key=lambda at: (min(len(read[at].items), k), -at))
    counted = [read[at].items[:k] for at in best]
    if all(each == read[longest].items[: len(each)] for each in counted):
        return Choice((longest,), "all lists say the same")
    if most == _CLAIMS["final"]:
        return Choice((best[-1],), f"the last one named {read[best[-1]].block.name!r}")
    grades = [at for at in best if _GRADED.search(read[at].block.name)]
    full = [at for at in best if len(grades) < 2 and len(read[at].items) == k]
    if len(full) == 1 and k > 1:
        return Choice((full[0],), f"the only list with {k} entries")
    return Choice((), "several lists with equal claims", tuple(best))


def _is_rival(read: Sequence[Contents], best: Sequence[int], at: int, k: int) -> bool:
    """Whether a list that is not among the best has as many entries as was asked for, and says something else."""
    role, items = read[at].block.role, read[at].items
    if at in best or role in ("avoid", "draft", "history", "candidates") or read[at].begins:
        return False
    if len(items) < k or 2 * read[at].offered < len(items) or k < 2:
        return False
    plain = all(is_plain(read[each].block.name) for each in best)
    if plain and read[best[0]].block.role == "ranking":
        return False
    return all(read[each].items[:k] != items[:k] for each in best)


def _has_other(read: Sequence[Contents], kept: Sequence[int], at: int) -> bool:
    return any(other != at and read[other].offered and not read[other].restated for other in kept)


def _are_parts(read: Sequence[Contents], places: Sequence[int], k: int) -> bool:
    """Whether blocks are the parts of one list: they share nothing, and continue or fill it."""
    roles = [read[at].block.role for at in places]
    later = [read[at].block.name for at in places[1:] if not read[at].block.role]
    if any(any(map(str.isalpha, name)) and not any(map(str.isdigit, name)) for name in later):
        return False  # "Too violent:"
    if all(role == "more" for role in roles[1:]) and len(roles) > 1:
        return True
    items = [item for at in places for item in read[at].items]
    if len(set(items)) < len(items) or "scores" in roles or "candidates" in roles:
        return False
    if any(2 * read[at].offered < len(read[at].items) for at in places):
        return False
    if roles[0] == "more":
        return False  # "Also worth a look:" before "Top picks:"
    labels = {read[at].block.name for at in places if not read[at].block.role} - {""}
    if len(labels) > 1:
        return False  # "Crime:" and "Science fiction:", which nothing orders
    return len(items) <= k or all(len(read[at].items) < k for at in places)
