"""The titles of an enumeration in one line: the
catalogue decides which commas split titles.
"""

from collections.abc import Collection, Sequence
from typing import NamedTuple

from pytest_recsys_mt.llm.reading import comments, enumerations
from pytest_recsys_mt.llm.reading.line import MAX_PIECES
from pytest_recsys_mt.llm.reading.offer import Offer
from pytest_recsys_mt.requests import Item

_JOINED = 7  # most comma-separated parts of one title


class Named(NamedTuple):
    """A part of an enumeration as it is written, and the item that it names, if any."""

    text: str
    item: Item | None


def titles_in(offer: Offer, text: str, *, strict: bool) -> list[Named]:
    """The titles of an enumeration; of several readings, the longest title wins.

    Args:
        offer: The items that the text may name.
        text: A line, or its part after the first words.
        strict: Whether the same item twice makes it another text than an enumeration.

    Returns:
        The parts in their order; empty if it is not an enumeration.
    """
    parts = enumerations.parts(text)[:MAX_PIECES]
    if len(parts) < 2:
        return []
    found = list[Named]()
    used = set(offer.named)
    at = 0
    while at < len(parts):
        end, item = _longest_title(offer, text, parts, at, used)
        written = text[parts[at].start : parts[end - 1].end]
        if item is not None:
            used.add(item.id)
            found.append(Named(written, item))
        elif found and found[-1].item is None and not parts[at].parts_surely:
            # Two unknown parts with "and" between them are one.
            found[-1] = Named(text[parts[at - 1].start : parts[at].end], None)
        else:
            found.append(Named(written, None))
        at = end
    return found if _is_enumeration(found, strict=strict) else []


def _is_enumeration(found: Sequence[Named], *, strict: bool) -> bool:
    """Whether parts are titles: all with a year, or all
    like titles and half of them known.
    """
    items = [item.id for _, item in found if item is not None]
    if len(found) < 2 or (strict and len(set(items)) < len(found)):
        return False
    if all(comments.year_in(text) for text, _ in found):
        return True
    mostly_known = len(items) > 0 and 2 * len(items) >= len(found)
    return mostly_known and all(_may_be_title(part) for part in found)


def _may_be_title(part: Named) -> bool:
    if part.item is not None or part.text.isdigit():
        return True
    return comments.is_capitalised(comments.title_of(part.text))


def _longest_title(
    offer: Offer,
    text: str,
    parts: Sequence[enumerations.Part],
    at: int,
    used: Collection[str],
) -> tuple[int, Item | None]:
    """The longest title that begins with a part: the place behind its last part, and
    its item, if it has one.
    """
    for end in range(min(len(parts), at + _JOINED), at, -1):
        for written in enumerations.spellings(text, parts[at], parts[end - 1]):
            item = offer.scope.equal(written, None, used)
            if item is None:
                continue
            joined = end > at + 1
            if not (joined and _ends_in_another(offer, written, item)):
                return end, item
    written = comments.unwrapped(text[parts[at].start : parts[at].end])
    item = offer.number(written)
    if item is None and comments.unrated(written):
        item = offer.scope.find(written, None, offer.named) or offer.find_rated(written)
    return at + 1, item


def _ends_in_another(offer: Offer, text: str, item: Item) -> bool:
    """Whether a number at the end of a title is no year of
    it, but another title: ``Creep, 1979``.
    """
    last = text.rpartition(",")[2].strip()
    if item.year is not None or not last.isdecimal() or last in item.title:
        return False
    other = offer.equal(last)
    return other is not None and other.id in offer.titles
