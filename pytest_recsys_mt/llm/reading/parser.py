"""Reads a text answer: the items it names, in its order, and the kind of the rest.

Work grows linearly with the answer up to `layout.MAX_CHARACTERS` and
`line.MAX_PIECES`, and stops there.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from pytest_recsys_mt.llm.reading import comments, doubts
from pytest_recsys_mt.llm.reading.blocks import Block, blocks
from pytest_recsys_mt.llm.reading.choice import Choice, Contents, choose
from pytest_recsys_mt.llm.reading.layout import pieces
from pytest_recsys_mt.llm.reading.line import MAX_PIECES, without_chain
from pytest_recsys_mt.llm.reading.names import ASIDE
from pytest_recsys_mt.llm.reading.order import in_order
from pytest_recsys_mt.llm.reading.reader import Reader
from pytest_recsys_mt.llm.reading.result import Reading
from pytest_recsys_mt.llm.reading.titles import Scope, TitleIndex
from pytest_recsys_mt.requests import (
    UNKNOWN_PREFIX,
    Entry,
    Request,
)
from pytest_recsys_mt.safety.sanitize import without_controls

_ASK = 'ask for one list, or for "Final ranking:" before it'  # what makes an answer with several lists clear


def parse(
    text: str,
    request: Request,
    index: TitleIndex,
    **options: Any,
) -> tuple[Entry, ...]:
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
    """The contents of a text answer, and how they were read; it never raises.

    A list entry that names no item is a title ``outside`` the catalogue if `exists`
    knows one of its year, otherwise an ``unknown`` one; prose is ``unparsed``. Plain
    numbers stand for the candidates, which the prompt numbers from `first`. In an
    answer in sentences, without a list, the titles count, except those of the history,
    which the answer may only mention.

    Args:
        text: The text of the model.
        request: The request.
        index: The titles of the catalogue.
        truncated: Whether the model was cut off; then its last entry counts only as a
            full title. Without this, a last entry that a longer title begins with is
            taken as cut off.
        shown: How the prompt named each candidate, if edits changed it; see
            `Template.written`.
        exists: See `KnownFilms.hold`; called only for titles that name no item.
        scope: The result of `scope_of` for the items of `request` and `shown`, for
            callers that keep it.
        first: The number of the first candidate in the prompt.
    """
    scope = scope or scope_of(request, index, shown)
    reader = partial(Reader, request, scope, exists, first)
    parts = _blocks_of(text, scope)
    readers = [_read_alone(reader, part) for part in parts]
    found = _chosen_among(parts, readers, request, truncated)
    choice = found.choice
    if not choice.chosen and (choice.ambiguous or choice.rule):
        return _undecided(
            choice,
            [found.contents[at] for at in choice.ambiguous or found.listed],
        )
    whole = _read_together(reader, readers, found)
    sentences = "\n".join(
        piece.text for part in found.kept_parts for piece in part.pieces
    )
    mentions = whole.read_mentions(sentences)
    if whole.in_sentences and whole.lost_numbers(sentences):
        why = "a title that is a number stands among its words"
        return _unread(why, found.kept_parts, ambiguous=True)
    if not mentions:
        ends_the_answer = len(parts) - 1 in found.kept[-1:]
        cut_off = truncated and not text.endswith("\n")
        whole.finish(cut_off=cut_off and ends_the_answer)
    return _unless_doubted(text, request, whole, found)


def _blocks_of(text: str, scope: Scope) -> Sequence[Block]:
    """The blocks of an answer."""

    def is_title(line: str) -> bool:
        return scope.equal(line) is not None

    # Titles are sheltered from the cutting, and stand as they are in each piece.
    shelter = scope.shelter
    cut = map(shelter.open, pieces(shelter.close(without_controls(text))))
    found = [part for piece in cut for part in without_chain(piece, is_title)]
    return blocks(found, is_title)


@dataclass(frozen=True)
class _Found:
    """The blocks of an answer, and which of them are read;
    blocks are named by their places.
    """

    parts: Sequence[Block]
    contents: Sequence[Contents]
    listed: Sequence[int]  # the blocks that list something
    choice: Choice

    @property
    def aside(self) -> Sequence[int]:
        """The lists that were not chosen."""
        return [at for at in self.listed if at not in self.choice.chosen]

    @property
    def kept(self) -> Sequence[int]:
        """The blocks that are read: all, unless a list is left out."""
        return self.choice.chosen if self.aside else range(len(self.parts))

    @property
    def kept_parts(self) -> list[Block]:
        """The blocks that are read."""
        return [self.parts[at] for at in self.kept]

    @property
    def taken(self) -> Sequence[int]:
        """The blocks that are the answer: the chosen ones, or all if none was."""
        return self.choice.chosen or range(len(self.parts))

    @property
    def taken_parts(self) -> list[Block]:
        """The blocks that are the answer."""
        return [self.parts[at] for at in self.taken]

    @property
    def rule(self) -> str:
        """Which block was chosen, and why; empty if none was."""
        chosen = self.choice.chosen
        return (
            f"{_in_words(self.contents[chosen[0]])}: {self.choice.rule}"
            if chosen
            else ""
        )

    def counts(self, at: int) -> bool:
        """Whether a block counts in addition to the answer: other
        lists that have a name do not.
        """
        if at in self.taken:
            return True
        part = self.parts[at]
        if part.role in ASIDE:
            return False
        is_named_list = part.name and at in self.listed
        return bool(part.pieces[0].chain) or not is_named_list


def _chosen_among(
    parts: Sequence[Block],
    readers: Sequence[Reader | None],
    request: Request,
    truncated: bool,
) -> _Found:
    """Which blocks are the answer, from the reading of each alone; None is a block
    that can be read in two ways.
    """
    contents = [
        _contents(part, each, request)
        for part, each in zip(parts, readers, strict=True)
    ]
    unclear = tuple(at for at, each in enumerate(readers) if each is None)
    listed = [at for at, each in enumerate(contents) if each.items or at in unclear]
    choice = choose(contents, request.k, truncated=truncated)
    is_final = bool(choice.chosen) and contents[choice.chosen[0]].block.role == "final"
    if unclear and not is_final:
        choice = Choice((), "its numbers or its order can be read in two ways", unclear)
    return _Found(parts, contents, listed, choice)


def _unless_doubted(
    text: str,
    request: Request,
    whole: Reader,
    found: _Found,
) -> Reading:
    """The result of the reader of the whole answer, unless something contradicts it."""
    said = [
        piece
        for at, part in enumerate(found.parts)
        if found.counts(at)
        for piece in part.pieces
    ]
    taken = [piece for part in found.taken_parts for piece in part.pieces]
    names = [found.parts[at].name for at in found.choice.chosen]
    why = doubts.of_text(text) or doubts.of_answer(whole, said, taken, names)
    if why:
        return _unread(why, found.taken_parts, (found.rule,), ambiguous=True)
    entries = tuple(whole.entries)
    if why := _why_none_is_meant(entries, request, found.taken_parts):
        return _unread(why, found.taken_parts)
    names_an_item = any(entry.item for entry in entries)
    rule = found.rule if names_an_item else _why_nothing(entries)
    return Reading(
        entries,
        rule,
        tuple(_in_words(found.contents[at]) for at in found.aside),
    )


def _unread(
    why: str,
    parts: Sequence[Block],
    left_out: tuple[str, ...] = (),
    *,
    ambiguous: bool = False,
) -> Reading:
    texts = tuple(Entry(part.text, "unparsed") for part in parts)
    return Reading(texts, f"{why}; {_ASK}", left_out, ambiguous)


def _undecided(choice: Choice, unread: Sequence[Contents]) -> Reading:
    entries = tuple(Entry(each.block.text, "unparsed") for each in unread)
    named = tuple(_in_words(each) for each in unread if each.items)
    rule = choice.rule
    if choice.ambiguous and named:
        rule, named = f"{rule}: {' and '.join(named)}", ()
    return Reading(entries, f"{rule}; {_ASK}", named, bool(choice.ambiguous))


def _why_nothing(entries: Sequence[Entry]) -> str:
    if not entries:
        return ""
    if any(comments.is_refusal(entry.text) for entry in entries):
        return "it declines to answer"
    first = next(
        (entry.text for entry in entries if len(entry.text) > 1),
        entries[0].text,
    )
    return f"no part of it names an item, the nearest is {first[:60]!r}; ask for one numbered title a line"


_INVENTED = 5
"""Fewest titles of a list that is not named as a ranking and names no offered
item, and is an answer all the same.
"""


def _why_none_is_meant(
    entries: Sequence[Entry],
    request: Request,
    of: Sequence[Block],
) -> str:
    """Why entries of which none is known are no answer: an error
    page, a template, an example of the form.
    """
    named = [entry for entry in entries if entry.item is not None]
    if request.candidates is None or not named:
        return ""
    if any(entry.kind not in ("unknown", "duplicate") for entry in named):
        return ""
    distinct = {entry.item for entry in named}
    if not all(
        each is not None and each.startswith(UNKNOWN_PREFIX) for each in distinct
    ):
        return ""
    placeholders = [entry for entry in named if comments.is_placeholder(entry.text)]
    if 2 * len(placeholders) > len(named):
        return "its entries are placeholders"
    other = any(block.name and not block.role for block in of)
    if other and len(distinct) < min(_INVENTED, request.k):
        return f"its {len(distinct)} entries name nothing that is offered"
    return ""


def _read_alone(reader: Callable[..., Reader], block: Block) -> Reader | None:
    strictly = _read_block(reader(loose=False), block)
    if strictly is None or not strictly.names_unknown:
        return strictly
    loosely = _read_block(reader(loose=True), block)
    if loosely is None or not loosely.names_only("candidate"):
        return strictly
    # If each entry goes on behind an offered title, what follows is a comment; a single
    # one may be another title.
    return loosely if strictly.names_none or loosely.all_go_on else strictly


def _read_together(
    reader: Callable[..., Reader],
    readers: Sequence[Reader | None],
    found: _Found,
) -> Reader:
    """One reader after all blocks that are read; where the answer is a single block,
    the one that has read it alone.
    """
    if len(found.parts) == 1 and readers[0] is not None:
        return readers[0]
    loosely = any(each is not None and each.freely for each in readers)
    whole = reader(loose=loosely)
    for part in found.kept_parts:
        _read_block(whole, part)
    return whole


def _read_block(reader: Reader, block: Block) -> Reader | None:
    """The reader, after a block; None if the numbers in it
    or its order can be read in two ways.
    """
    numbers = reader.numbers(block)
    if numbers is None:
        return None
    block_ = in_order(block, reader.place_of)
    if block_ is None:
        return None
    if numbers:
        numbers_by_piece = dict(zip(map(id, block.pieces), numbers, strict=True))
        for piece in block_.pieces:
            reader.read_numbers(piece, numbers_by_piece[id(piece)])
        return reader
    for piece in block_.pieces:
        reader.read(piece)
        if len(reader.entries) >= MAX_PIECES:
            break
    return reader


def _contents(block: Block, reader: Reader | None, request: Request) -> Contents:
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


def scope_of(
    request: Request,
    index: TitleIndex,
    shown: Sequence[Sequence[str]] = (),
) -> Scope:
    """The items that an answer to `request` may name, in
    the order in which they are looked up.
    """
    history = [rating.item for rating in request.history]
    return index.scope(request.candidates or (), history, shown)
