"""The candidates that each line of an answer names."""

import re
from collections.abc import Sequence

from pytest_recsys_mt.llm.reading.line import Piece
from pytest_recsys_mt.llm.reading.reader import Reader

Line = tuple[str, Sequence[int | None]]
"""A line without the titles of offered items, and the places in the list of those that
it names, if they have one.
"""

_MARKER = re.compile(r"\d{0,3}[.)]?\s*[-*•]?\s*")
"""A list marker that says nothing but the place."""

_MARKED = ("numbered", "bulleted", "data")


class CandidatesInLines:
    """The offered items that the lines of an answer name.

    Args:
        reader: Has read the pieces in `taken`.
        found: The pieces that count, in their order.
        taken: Those of its list.

    Attributes:
        reader: The reader.
        found: The pieces that count, in their order.
        entries: The pieces of the list that may name an item.
        listed: Those with the mark of an entry; none if hardly any has one.
        chains: The pieces of the list that are a ranking in one line.
        first: The place in `found` where the list begins.
        inside: The offered items that the list names.
        others: The offered items that entries with another mark name.
        texts: The lines and notes of the answer.
        keeps_order: Whether the list is in the order of the prompt.
    """

    def __init__(
        self,
        reader: Reader,
        found: Sequence[Piece],
        taken: Sequence[Piece],
    ) -> None:
        self.reader = reader
        self.found = found
        self._places = {item: at for at, item in enumerate(reader.items())}
        self._lines = dict[Piece, tuple[str, Sequence[str]]]()
        of_list = set(taken)
        for piece in found:
            if _may_name(piece, of_list=piece in of_list):
                self._lines[piece] = reader.named_in(piece.text)

        marked = [piece for piece in taken if piece.place in _MARKED]
        self.entries = [piece for piece in taken if self._is_entry(piece)]
        mark = next((piece.place for piece in marked if self.line(piece)[1]), "")
        self.inside = self._named_by([piece for piece in marked if piece.place == mark])
        self.others = self._named_by(marked) - self.inside
        # "(500) Days of Summer" among lines without marks is no list.
        self.listed = [] if 2 * len(marked) < len(self.entries) else marked
        self.texts = [piece.text for piece in found if piece.place in ("line", "note")]
        self.chains = [piece for piece in taken if piece.chain]
        self.keeps_order = reader.items() == reader.beginning
        beginnings = [*self.entries, *self.chains]
        self.first = _place_of(beginnings[0], found) if beginnings else 0

    def _is_entry(self, piece: Piece) -> bool:
        return piece in self and (piece.place in _MARKED or bool(self.line(piece)[1]))

    def _named_by(self, pieces: Sequence[Piece]) -> set[str]:
        named = set[str]()
        for piece in pieces:
            named.update(self.line(piece)[1])
        return named

    def __contains__(self, piece: Piece) -> bool:
        return piece in self._lines

    def line(self, piece: Piece) -> tuple[str, Sequence[str]]:
        """A line without the titles of offered items, and those items."""
        return self._lines.get(piece, ("", ()))

    def placed(self, piece: Piece) -> Line:
        """The same with the places of those items in the list."""
        rest, named = self.line(piece)
        return rest, [self._places.get(item) for item in named]


def _may_name(piece: Piece, *, of_list: bool) -> bool:
    """Whether the words of a piece are compared with its
    list; those of a chain are its order.
    """
    if of_list:
        return piece.place != "tag" and not piece.chain
    return piece.place == "line"


def _place_of(piece: Piece, found: Sequence[Piece]) -> int:
    return found.index(piece) if piece in found else 0


def is_bare_list(
    reader: Reader,
    found: Sequence[Piece],
    names: Sequence[str],
) -> bool:
    """Whether an answer is one list of offered titles as they were offered, without
    other words that can contradict it.
    """
    if any(names) or len({piece.place for piece in found}) != 1:
        return False
    return all(_is_bare_title(reader, piece) for piece in found)


def _is_bare_title(reader: Reader, piece: Piece) -> bool:
    if (
        piece.place not in ("numbered", "bulleted")
        or piece.text not in reader.spellings
    ):
        return False
    return _MARKER.fullmatch(piece.whole.removesuffix(piece.text)) is not None
