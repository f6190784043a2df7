"""Lines that say something of an entry, such as ``Score:
5.6/10``, become parts of its piece.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from pytest_recsys_mt.llm.reading.fields import field_name, rank_of, score_of, year_of
from pytest_recsys_mt.llm.reading.line import Piece, Place
from pytest_recsys_mt.llm.reading.wording import phrase, word_set

_DETAIL = phrase("detail_layout")

_TITLES_OF_LINES = word_set(
    "title movie film name item book song product game titel titulo título titre",
)


class _Detail(NamedTuple):
    """The details of an entry in a line."""

    kind: str  # "title", "rank", "score", "year", or empty for any other line
    parts: dict[str, Any]  # the parts of a piece that it gives


_NO_DETAIL = _Detail("", {})


def detailed(found: list[Piece]) -> Sequence[Piece]:
    """The pieces of an answer, those that are details merged into the entries that they
    are of.

    Args:
        found: The pieces of all lines.

    Returns:
        Fewer pieces if at least two of them are details; otherwise the same ones.
    """
    details = [_detail(piece) for piece in found]
    has_titles = any(detail.kind == "title" for detail in details)
    if not has_titles:  # a year alone is no detail
        details = [
            _NO_DETAIL if detail.kind == "year" else detail for detail in details
        ]
    kinds = [detail.kind for detail in details]
    if sum(kind not in ("", "title") for kind in kinds) < 2:
        return found

    entry_place = _place_of_entries(found, kinds)
    kinds_before = _kinds_before_titles(found, kinds, entry_place)
    kept = list[Piece]()
    waiting = dict[str, Any]()  # the parts of the entry below
    last_entry: int | None = None
    for piece, (kind, parts) in zip(found, details, strict=True):
        untitled_entry = not kind and not has_titles and piece.place == entry_place
        if kind == "title" or untitled_entry:
            place: Place = "data" if kind or entry_place == "line" else piece.place
            last_entry = len(kept)
            kept.append(replace(piece, **parts | waiting | {"place": place}))
            waiting = {}
        elif not kind:
            kept.append(piece)
        elif kind in kinds_before:
            waiting |= parts
        elif last_entry is not None:
            kept[last_entry] = replace(kept[last_entry], **parts)
        if kind == "year":  # the line may be a title, too
            kept.append(piece)
    return kept


def _place_of_entries(found: Sequence[Piece], kinds: Sequence[str]) -> Place:
    """The place of the pieces that are entries, among those that are no details."""
    places = {piece.place for piece, kind in zip(found, kinds, strict=True) if not kind}
    marks: tuple[Place, ...] = ("numbered", "bulleted", "data")
    for mark in marks:
        if mark in places:
            return mark
    return "line"


def _kinds_before_titles(
    found: Sequence[Piece],
    kinds: Sequence[str],
    entry_place: Place,
) -> set[str]:
    """The kinds of details that stand above their entry:
    ``rank: 1``, ``title: Heat``, ``year: 1995``.
    """
    first_detail = next(filter(None, kinds))
    first_piece = next(at for at, piece in enumerate(found) if piece.place != "tag")
    has_titles = "title" in kinds
    above_title = has_titles and first_detail != "title"
    above_line = entry_place == "line" and kinds[first_piece] not in ("", "title")
    if not (above_title or above_line):
        return set()
    return set(kinds[: kinds.index("title")] if has_titles else kinds)


def _detail(piece: Piece) -> _Detail:
    """The detail in a line of the form ``Score: 5.6/10``."""
    if piece.place not in ("line", "note", "bulleted") or piece.chain:
        return _NO_DETAIL
    match = _DETAIL.fullmatch(piece.text)
    if match is None:
        return _NO_DETAIL
    key = field_name(match["key"])
    value = match["value"].strip("\"'“”") or match["value"]
    fields = {key: value.strip("#")}
    rank = rank_of(fields)
    if rank is not None:
        return _Detail("rank", {"number": rank})
    score = score_of(fields)
    if score is not None:
        return _Detail("score", {"score": score})
    year = year_of(fields)
    if year is not None:
        return _Detail("year", {"year": year})
    return _Detail("title", {"text": value}) if key in _TITLES_OF_LINES else _NO_DETAIL
