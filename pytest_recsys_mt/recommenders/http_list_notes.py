"""Counts the lists of an endpoint that are not as they were asked for, in notes."""

from __future__ import annotations

from enum import Enum

from pytest_recsys_mt.requests import Recommendation, Request


class Flaw(Enum):
    """What a list can be like: the text of the note on one list, and on several."""

    CAPPED = (
        "ends at {pages} pages, with fewer items than wanted; raise pages in {file}",
        "end at {pages} pages, with fewer items than wanted; raise pages in {file}",
    )
    EMPTY_PAGE = (
        "ends at a page without items, which names a further page that was not read",
        "end at a page without items, which names a further page that was not read",
    )
    SHORT = (
        "has fewer items than asked for; if the server has more, compare {file} with what it takes and answers",
        "have fewer items than asked for; if the server has more, compare {file} with what it takes and answers",
    )
    REPEATED = (
        "has an item more than once",
        "have items more than once",
    )


class ListNotes:
    """Notes, one for each kind of flaw, that say how many lists have it.

    Args:
        notes: Where they are kept, with others.
        url: The address of the endpoint.
        file: The name of its map.
        pages: Most pages that are read for one list.
    """

    def __init__(self, notes: list[str], url: str, file: str, pages: int) -> None:
        self._notes = notes
        self._url = url
        self._words = {"file": file, "pages": pages}
        self._counts = dict.fromkeys(Flaw, 0)

    def read(
        self, answer: Recommendation, request: Request, ending: Flaw | None = None
    ) -> None:
        """Count a list.

        Args:
            answer: The list.
            request: What was asked.
            ending: Why it ended before it was long enough, if that is known.
        """
        if ending is None and len(answer.items) < wanted(request):
            ending = Flaw.SHORT
        if ending is not None:
            self._count(ending)
        if len({*answer.items}) < len(answer.items):
            self._count(Flaw.REPEATED)

    def _count(self, flaw: Flaw) -> None:
        before = self._text(flaw)
        self._counts[flaw] += 1
        self._notes[:] = [note for note in self._notes if note != before]
        self._notes.append(self._text(flaw))

    def _text(self, flaw: Flaw) -> str:
        count = self._counts[flaw]
        of_one, of_several = (text.format(**self._words) for text in flaw.value)
        lists = f"1 list {of_one}" if count == 1 else f"{count:,} lists {of_several}"
        return f"{self._url}: {lists}"


def wanted(request: Request) -> int:
    """How many items a list should have: `k`, or all candidates if they are fewer."""
    offered = request.candidates
    return request.k if offered is None else min(request.k, len(offered))
