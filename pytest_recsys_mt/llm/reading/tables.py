"""The entries of a table: which of its columns has the
titles, and the meaning of the others.
"""

import re
from collections.abc import Iterator, Mapping, Sequence

from pytest_recsys_mt.llm.reading.fields import (
    TITLE_KEYS,
    field_name,
    field_of,
    is_of_others,
    rank_of,
    score_of,
    with_maker,
    year_of,
)
from pytest_recsys_mt.llm.reading.line import Piece
from pytest_recsys_mt.llm.reading.rows import REFERENCES

_NAMING = re.compile(r"recommend|suggest|pick|try\b|choice|empf|sugere|推荐|おすすめ")

_OF_HISTORY = re.compile(r"because|liked|loved|similar|why|reason")

_NO_RANK = frozenset(("", "-", "–", "—", "none", "n/a"))


def pieces_of_table(
    rows: Sequence[list[str]],
    group: str,
    *,
    headed: bool,
) -> Iterator[Piece]:
    """The entries of a table, one a row.

    Args:
        rows: The cells of each row, that of the header first if there is one.
        group: The name that its pieces get.
        headed: Whether a rule stands below the first row.
    """
    header = [field_name(cell.strip("*_ ")) for cell in rows[0]]
    half = len(header) // 2
    if half > 1 and header == header[:half] * 2:  # ranks 1 to 5 next to 6 to 10
        left = [row[:half] for row in rows[1:]]
        right = [row[half : 2 * half] for row in rows[1:]]
        yield from pieces_of_table([rows[0][:half], *left, *right], group, headed=True)
        return
    title_column = _title_column(header)
    if title_column is not None:
        headed = True
    elif len(header) > 1 and _count_up(rows):
        title_column = 1
        headed = False  # a column of ranks, without names
    has_header = headed or field_of(header[0]) == "rank"
    body = rows[1:] if has_header else rows
    for row in _ranked(header, body):
        at = _first_of_words(row) if title_column is None else title_column
        if at < len(row) and row[at].strip():
            fields = dict(zip(header, row, strict=False)) if has_header else {}
            yield _entry(row, at, header, fields, group)
        elif row and row[0]:
            yield Piece(row[0], "data", group=group)


def _title_column(header: Sequence[str]) -> int | None:
    """The column whose name says that it holds the titles, or stand-ins for them."""
    names = [key for key in TITLE_KEYS if key in header]
    names += [
        key for key in header if _NAMING.search(key) and not _OF_HISTORY.search(key)
    ]
    if not names:
        # Several references, such as numbers of candidates: the first.
        names = [key for key in header if key.strip(".") in REFERENCES][:1]
    if not names or (len(header) < 2 and field_of(names[0]) == "rank"):
        return None
    return header.index(names[0])


def _count_up(rows: Sequence[list[str]]) -> bool:
    """Whether the first cells are 1, 2, 3 and so on."""
    first_cells = [row[0].strip("*#. ") for row in rows]
    return first_cells == [str(rank) for rank in range(1, len(rows) + 1)]


def _first_of_words(row: Sequence[str]) -> int:
    """The column of the first cell that is no number; the
    length of the row if there is none.
    """
    for at, cell in enumerate(row):
        if not cell.strip("*#.) ").isdigit():
            return at
    return len(row)


def _ranked(header: Sequence[str], body: Sequence[list[str]]) -> Sequence[list[str]]:
    """The rows that have a rank, if a column of ranks leaves others without one."""
    for at, name in enumerate(header):
        if field_of(name) != "rank":
            continue
        with_rank = [row for row in body if _has_rank(row, at)]
        if len(with_rank) < len(body):
            return with_rank or body
    return body


def _has_rank(row: Sequence[str], column: int) -> bool:
    return column < len(row) and row[column].strip().casefold() not in _NO_RANK


def _entry(
    row: Sequence[str],
    at: int,
    header: Sequence[str],
    fields: Mapping[str, str],
    group: str,
) -> Piece:
    """The piece of a row whose title stands in column `at`."""
    other_fields = []
    for column, cell in enumerate(row):
        if column == at:
            continue
        of_others = column < len(header) and is_of_others(header[column])
        # An old rank or the like does not belong to this list.
        other_fields.append("" if of_others and cell.isdecimal() else cell)
    return Piece(
        row[at],
        "data",
        whole=with_maker(row[at], fields),
        year=year_of(fields),
        number=rank_of(fields),
        score=score_of(fields),
        group=group,
        other_fields=" | ".join(other_fields),
    )
