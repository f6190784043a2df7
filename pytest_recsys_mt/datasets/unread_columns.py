"""Which columns of a table are used, and which are not although they may be meant."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pytest_recsys_mt.datasets.description import Part
from pytest_recsys_mt.datasets.options import Report
from pytest_recsys_mt.datasets.rows import match, normal

COUNTS = (
    "count",
    "plays",
    "playtime",
    "listens",
    "quantity",
    "weight",
    "hours",
    "watchratio",
)
"""Parts of headers of how often or how long somebody used an
item: no rating, but perhaps meant as one.
"""
LIKE_RATINGS = ("rating", "rate", "score", "star", "mark", "value", "grade")
LIKE_TIMES = ("time", "day", "when", "stamp", "ts", "dat")
"""Parts of headers that may be meant as ratings and as times."""


def used_columns(header: Sequence[str], part: Part) -> str:
    """Which columns of a table are used, and as what, in a sentence."""
    uses = []
    column_by_place = match(header, part.layout, part.file)
    for place, column in column_by_place.items():
        name = repr(header[place])
        if column.name in part.named or column.name == "timestamp":
            uses.append(f"{name} is the {column.name}")
        else:
            uses.append(f"{name} says which rows count")
    unread = [
        repr(name) for place, name in enumerate(header) if place not in column_by_place
    ]
    rest = f"; not read: {', '.join(unread)}" if unread else ""
    return f"columns: {', '.join(uses)}{rest}"


def report_columns_not_read(
    header: Sequence[str],
    part: Part,
    usual: Mapping[str, Sequence[str]],
    report: Report,
) -> None:
    """Report a column that may be meant as the rating or
    the time where no column is one.
    """
    if part.columns:
        return
    _report_like(
        header, part, ("rating", usual["rating"]), (*COUNTS, *LIKE_RATINGS), report
    )
    _report_like(header, part, ("time", usual["time"]), LIKE_TIMES, report)


def _report_like(
    header: Sequence[str],
    part: Part,
    wanted: tuple[str, Sequence[str]],
    words: Sequence[str],
    report: Report,
) -> None:
    """Report the first column whose header has one of the
    words, if no column has the meaning.
    """
    meaning, usual = wanted
    is_given = part.named.get(meaning, usual) != usual
    names = set(map(normal, header))
    if is_given or not names.isdisjoint(usual):
        return
    similar = [
        name
        for name in header
        if name not in part.kinds.values()
        and any(word in normal(name) for word in words)
    ]
    taken = [name for name in part.named.values() if isinstance(name, str)]
    similar = [name for name in similar if name not in taken]
    if not similar:
        return
    report(
        f"no column is the {meaning}; {similar[0]!r} is not read, unless '?{meaning}={similar[0]}' stands behind "
        f"the path",
    )
