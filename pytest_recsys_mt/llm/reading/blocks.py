"""The blocks of an answer: its lists, tables, values of JSON and chains; `choose` says
which of them is the answer.
"""

import re
from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass
from itertools import compress, pairwise

from pytest_recsys_mt.llm.reading.line import Piece
from pytest_recsys_mt.llm.reading.names import Role, is_name, role_of
from pytest_recsys_mt.llm.reading.wording import phrase

HEADING = re.compile(r"[:：][*_ ]*$")

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
    """A part of an answer that may be its list: its pieces,
    and what introduces it, if anything does.
    """

    pieces: tuple[Piece, ...]
    name: str = ""

    @property
    def role(self) -> Role:
        """The role that its name gives."""
        return role_of(self.name) if self.name else ""

    @property
    def text(self) -> str:
        """Its beginning."""
        return " / ".join(piece.whole or piece.text for piece in self.pieces)[
            :200
        ].strip()

    @property
    def kind(self) -> str:
        """Its kind, in words."""
        places = [piece.place for piece in self.pieces]
        for place, kind in (
            ("data", "data"),
            ("numbered", "numbered list"),
            ("bulleted", "list"),
        ):
            if place in places:
                return kind
        return "lines"


def blocks(pieces: Sequence[Piece], is_title: Callable[[str], bool]) -> list[Block]:
    """The blocks of an answer, in its order; together they hold all its pieces.

    Args:
        pieces: The pieces of the answer, in its order.
        is_title: Whether a line is the title of an item, and thus no heading.
    """
    if all(piece.place in _ENTRIES for piece in pieces) and _is_one_list(pieces):
        name = pieces[0].name if pieces else ""
        return [Block(tuple(pieces), name)]
    runs = _runs(pieces, is_title)
    headings = _headings(pieces, is_title)
    leads = []
    for at, piece in enumerate(pieces):
        may_lead = runs[at] is None and headings[at] is None
        leads.append(_lead(piece, is_title) if may_lead else "")

    cut = _cut(pieces, _starts(pieces, runs, headings, leads), headings, leads)
    is_heading = [heading is not None for heading in headings]
    return _joined(cut, set(compress(pieces, is_heading)))


def _starts(
    pieces: Sequence[Piece],
    runs: Sequence[int | None],
    headings: Sequence[str | None],
    leads: Sequence[str],
) -> list[int]:
    """The places where blocks begin, in order; the first is 0."""
    starts = {0}
    for at, piece in enumerate(pieces):
        after_other_list = at > 0 and _ends(leads[at - 1], piece)
        heading = headings[at]
        if piece.place == "tag" or piece.chain or leads[at] or after_other_list:
            starts.add(at)
        elif heading is not None:
            inside_run = runs[at] is not None and piece.place != "numbered"
            if not (inside_run and _is_minor(heading, piece)):
                starts.add(at)
        elif at and _begins(pieces, runs, at):
            # Headings right above a list are its own.
            first = at
            while first and headings[first - 1] is not None and first - 1 in starts:
                first -= 1
            starts.add(first)
    return sorted(starts)


def _is_minor(heading: str, piece: Piece) -> bool:
    """Whether a heading between the entries of a list does not begin another list."""
    if role_of(piece.text) == "more":
        return True
    return role_of(heading) in ("", "reasons", "more", "scores")


def _cut(
    pieces: Sequence[Piece],
    starts: Sequence[int],
    headings: Sequence[str | None],
    leads: Sequence[str],
) -> list[Block]:
    """The blocks that begin at `starts`, each with the name
    that its pieces and headings give it.
    """
    found = []
    tag = ""
    for start, end in pairwise([*starts, len(pieces)]):
        part = pieces[start:end]
        above = list[str]()
        for heading in headings[start:end]:
            if heading is None:
                break
            above.append(heading)
        title = next(filter(None, above), leads[start])
        if part and part[0].place == "tag":
            tag = part[0].text
            part = part[1:]
        if part:
            key = next((piece.name for piece in part if piece.name), "")
            # The key and the heading may be the same words.
            names = dict.fromkeys(filter(None, (key, title)))
            found.append(Block(tuple(part), " ".join(names) or tag))
    return found


def _joined(found: Sequence[Block], headings: Container[Piece]) -> list[Block]:
    """The blocks, those of headings alone joined to the next one."""
    kept = list[Block]()
    held = Block(())
    for block in found:
        name = block.name if block.role else held.name or block.name
        held = Block((*held.pieces, *block.pieces), name)
        if any(piece not in headings for piece in held.pieces):
            kept.append(held)
            held = Block(())
    if held.pieces:
        kept.append(held)
    return kept


def _is_one_list(pieces: Sequence[Piece]) -> bool:
    """Whether entries are of one kind and, if they have numbers, count up from 1."""
    if pieces and pieces[0].number not in (None, 1):
        return False
    return all(_is_next(first, second) for first, second in pairwise(pieces))


def _is_next(first: Piece, second: Piece) -> bool:
    if first.place != second.place or first.group != second.group:
        return False
    if first.place == "bulleted":
        return True
    return first.number is not None and second.number == first.number + 1


# ---- numbered lists ----


@dataclass
class _Run:
    """A numbered list: the places of its first and last entry, and by how much its
    numbers change, 0 if unknown.
    """

    first: int
    last: int
    step: int = 0


def _runs(pieces: Sequence[Piece], is_title: Callable[[str], bool]) -> list[int | None]:
    """For each piece the place where the numbered list around it begins, or None."""
    runs: list[int | None] = [None] * len(pieces)
    run: _Run | None = None
    for at, piece in enumerate(pieces):
        if piece.place == "tag":
            run = None
        if piece.place != "numbered":
            continue
        if run is not None and _continues(run, pieces, at):
            runs[run.last + 1 : at + 1] = [run.first] * (at - run.last)
            if not run.step:
                run.step = _step(pieces[run.last].number, piece.number)
            run.last = at
        elif at == 0 or not _is_title_with_number(piece, is_title):
            run = _Run(at, at)
            runs[at] = at
    return runs


def _continues(run: _Run, pieces: Sequence[Piece], at: int) -> bool:
    """Whether a numbered entry goes on with a list."""
    before, number = pieces[run.last].number, pieces[at].number
    if number is None or before is None:
        return True
    step = number - before
    if step == (run.step or 1) or number == before == 1:
        return True
    if step == -1 and not run.step and number >= 1:
        return True
    if number <= 1 or run.step == -1:
        return False
    # Numbers of candidates may stand in any order, but each once.
    earlier = [
        piece.number for piece in pieces[run.first : at] if piece.place == "numbered"
    ]
    return number not in earlier


def _step(before: int | None, number: int | None) -> int:
    if before is None or number is None:
        return 0
    step = number - before
    return step if step in (1, -1) else 0


def _is_title_with_number(piece: Piece, is_title: Callable[[str], bool]) -> bool:
    """Whether the number before an entry is a part of its
    title: ``(500) Days of Summer``.
    """
    marker = piece.whole[: len(piece.whole) - len(piece.text)]
    if not any(map(str.isalnum, marker)):
        return False
    return is_title(piece.whole) and not is_title(piece.text)


def _begins(pieces: Sequence[Piece], runs: Sequence[int | None], at: int) -> bool:
    """Whether a list, or the text behind one, begins at a piece that is not the first."""
    piece, before = pieces[at], pieces[at - 1]
    if piece.place == "numbered":
        goes_on_from_line = piece.number == 2 and before.place == "line"
        return runs[at] == at and not goes_on_from_line
    if piece.place == "data":
        return before.place != "data" or before.group != piece.group
    return before.place == "data" or (before.chain and piece.place != "note")


# ---- headings ----


def _headings(
    pieces: Sequence[Piece],
    is_title: Callable[[str], bool],
) -> list[str | None]:
    """For each piece its name if it is a heading, otherwise None."""
    bold_lines = [piece.text.strip("*_ ") for piece in pieces if _is_bold_line(piece)]
    # A single line in bold may be emphasis; several that are no titles are the names of
    # groups.
    groups = len(bold_lines) > 1 and not any(map(is_title, bold_lines))
    headings = []
    for piece in pieces:
        bold = groups and _is_bold_line(piece)
        headings.append(_heading(piece, is_title, bold=bold))
    return headings


def _is_bold_line(piece: Piece) -> bool:
    return piece.place == "line" and _BOLD.fullmatch(piece.text.strip()) is not None


def _heading(
    piece: Piece,
    is_title: Callable[[str], bool],
    *,
    bold: bool,
) -> str | None:
    """The name in a heading; None for any other piece."""
    if piece.place not in ("line", "note", "bulleted") or piece.chain:
        return None
    text = piece.text.strip()
    ends_in_colon = HEADING.search(text) is not None
    if piece.place == "note" and text[:1].islower() and not ends_in_colon:
        return None  # a reason that goes on in the next line
    name = text.strip("*_#: ：")
    if not 0 < len(name) <= 300:
        return None
    marked = bold or ends_in_colon or piece.whole.lstrip().startswith("#")
    introduces = (
        marked or is_name(name) or bool(_BOLD.fullmatch(text) and role_of(name))
    )
    return name if introduces and not is_title(name) else None


def _lead(piece: Piece, is_title: Callable[[str], bool]) -> str:
    """The name before a list in the same line, ``I recommend:
    Heat, Alien``; empty if there is none.
    """
    if piece.place != "line" or piece.chain:
        return ""
    match = _LED.match(piece.text)
    if match is None:
        return ""
    name = match[1]
    if len(name.split()) > _WORDS or is_title(piece.text):
        return ""
    first_entry = _FIRST.split(piece.text[match.end(1) :], maxsplit=1)[0]
    words = name.split(" ")
    for at in range(len(words)):
        if is_title(" ".join(words[at:]) + first_entry):
            return ""  # "I recommend Star Wars: Episode I, Heat"
    role = role_of(name)
    return name if role and role not in ("reasons", "scores", "more") else ""


def _ends(name: str, piece: Piece) -> bool:
    """Whether a list in one line is not the answer, so that the piece below it may be."""
    role = role_of(name) if name else ""
    if role == "avoid":
        return _LED.match(piece.text) is not None
    return role in ("candidates", "history")
