"""The candidates that each line of an answer names."""

import re
from collections.abc import Sequence

from pytest_recsys_mt.llm.reading.line import Piece
from pytest_recsys_mt.llm.reading.reader import Reader

Line = tuple[str, Sequence[int | None]]
"""A line without the titles of offered items, and the places in the list of those that it names, if they have one."""

_MARKER = re.compile(r"\d{0,3}[.)]?\s*[-*•]?\s*")
"""A list marker that says nothing but the place."""


class Heard:
    """What the lines of an answer name of what is offered.

    Args:
        reader: Has read the pieces in `taken`.
        found: The pieces that count, in their order.
        taken: Those of its list.
    """

    def __init__(self, reader: Reader, found: Sequence[Piece], taken: Sequence[Piece]) -> None:
        self.reader = reader
        self.found = found
        self._places = {item: at for at, item in enumerate(reader.items())}
        chosen = {id(piece) for piece in taken}
        self._lines = {
            id(piece): reader.named_in(piece.text)
            for piece in found
            if piece.place == "line" or (piece.place != "tag" and id(piece) in chosen)
            if not piece.chain or id(piece) not in chosen
        }
        listed = [piece for piece in taken if piece.place in ("numbered", "bulleted", "data")]
        marked = {*listed}
        self.own = [
            piece for piece in taken if piece in self and (piece in marked or self.line(piece)[1])
        ]
        place = next((piece.place for piece in listed if self.line(piece)[1]), "")
        self.inside = {
            item for piece in listed if piece.place == place for item in self.line(piece)[1]
        }
        self.others = {item for piece in listed for item in self.line(piece)[1]} - self.inside
        # "(500) Days of Summer" among lines without marks is no list.
        self.listed = [] if 2 * len(listed) < len(self.own) else listed
        self.told = [piece.text for piece in found if piece.place in ("line", "note")]
        self.chains = [piece for piece in taken if piece.chain]
        self.begins = reader.items() == reader.beginning
        self.first = next(
            (at for at, piece in enumerate(found) if piece is [*self.own, *self.chains, None][0]), 0
        )

    def __contains__(self, piece: Piece) -> bool:
        return id(piece) in self._lines

    def line(self, piece: Piece) -> tuple[str, Sequence[str]]:
        """A line without the titles of offered items, and those items."""
        return self._lines.get(id(piece), ("", ()))

    def said(self, piece: Piece) -> Line:
        """The same with the places of those items in the list."""
        rest, named = self.line(piece)
        return rest, [self._places.get(item) for item in named]


def nothing_beside(reader: Reader, found: Sequence[Piece], names: Sequence[str]) -> bool:
    """Whether an answer is one list of offered titles as they were offered: no word beside them can contradict it."""
    if any(names) or len({piece.place for piece in found}) != 1:
        return False
    return all(
        piece.place in ("numbered", "bulleted")
        and piece.text in reader.spellings
        and _MARKER.fullmatch(piece.whole.removesuffix(piece.text))
        for piece in found
    )
