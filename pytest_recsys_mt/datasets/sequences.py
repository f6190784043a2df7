"""Rows that list several items in one cell, oldest first: sessions and sequences, as
SASRec, LightGCN, OpenP5 and RecBole's benchmark files have them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from pytest_recsys_mt.datasets import json_lines
from pytest_recsys_mt.datasets.options import Report
from pytest_recsys_mt.datasets.rows import LISTS, Rows, are_lists, normal

SEQUENCE = "sequence"
"""The meaning of a column whose cells list items."""

RECBOLE = "itemidlist"
"""RecBole's header ``item_id_list:token_seq``, in the form of `rows.normal`: the items
before the one of the row.
"""

_DIVIDERS = ("|", ";", ",", "\t", " ")
"""Separators of the entries of a text, in the order of trial."""


def header_of_lists(header: Sequence[str]) -> str:
    """The header of RecBole's column of lists; empty if there is none."""
    found = [name for name in header if normal(name) == RECBOLE]
    return found[0] if found and found[0].endswith("_seq") else ""


def one_item_a_row(
    rows: Rows, report: Report
) -> tuple[Rows, npt.NDArray[np.int64] | None]:
    """The rows with one item each.

    Args:
        rows: The rows; a column `SEQUENCE`, or lists in the column ``item``, hold
            several items.
        report: Called with a note on what the lists gave.

    Returns:
        The rows, and the place of each item in its list, shape (rows,): None if the
        rows had one item each, or have a time for each entry.

    Raises:
        BadRowsError: For cells that are no lists of ids, or lists of times or ratings
            of another length.
    """
    if rows.frame.empty:
        return rows, None
    column = SEQUENCE if SEQUENCE in rows.frame else "item"
    if column == "item" and not are_lists(rows.frame["item"]):
        return rows, None
    rows = _with_lists(rows)
    frame = rows.frame
    cells = frame[column]
    divider = "" if are_lists(cells) else _divider(cells)
    lists = [_entries(cell, divider) for cell in cells]
    rows.refuse(
        np.array([entries is None for entries in lists]),
        lambda row: (
            f"{column} is {rows.cell(column, row)!r:.80}, which is no list of ids"
        ),
    )
    has_own_item = column == SEQUENCE and "item" in frame
    if has_own_item:
        # The list has the items before the row's own.
        for entries, item in zip(lists, frame["item"], strict=True):
            entries.append(str(item))  # type: ignore[union-attr]
    counts = np.array([len(entries or ()) for entries in lists])
    _note(counts, divider, has_own_item, report)
    others = {
        name: _of_each(rows, name, counts)
        for name in frame.columns
        if name not in (SEQUENCE, "item")
    }
    items = [entry for entries in lists for entry in entries or ()]
    exploded = pd.DataFrame({"item": items, **others})
    starts = np.cumsum(counts) - counts
    origin = np.repeat(np.arange(len(frame)), counts)
    places = np.arange(len(items)) - np.repeat(starts, counts)
    result = Rows(
        rows.path,
        exploded,
        lambda row: f"{rows.place(int(origin[row]))}, entry {int(places[row]) + 1}",
        lambda numbers: rows.origins(np.unique(origin[numbers])),
    )
    has_own_times = "timestamp" in frame and are_lists(frame["timestamp"])
    return result, None if has_own_times else places


def _with_lists(rows: Rows) -> Rows:
    """The rows with lists in place of texts that are lists in JSON: ``[1, 2]``."""
    lists = {}
    for name in rows.frame.columns:
        texts = rows.frame[name]
        is_text = texts.map(lambda cell: isinstance(cell, str))
        if is_text.all() and texts.str.startswith("[").mean() > 0.5:
            lists[name] = [_of_json(text) for text in texts]
    return replace(rows, frame=rows.frame.assign(**lists))


def _of_json(text: str) -> Any:
    """The list that a text is, in JSON or as Python writes it; else the text."""
    try:
        return json_lines.literal(text) if text.strip() else []
    except ValueError:
        return text


def _divider(cells: pd.Series[Any]) -> str:
    """What stands between the entries of most texts that have several."""
    texts = cells.astype(str)
    for divider in _DIVIDERS:
        if texts.str.strip().str.contains(divider, regex=False).mean() > 0.5:
            return divider
    return " "


def _entries(cell: object, divider: str) -> list[str] | None:
    """The ids that a cell lists; None if it is no list of ids."""
    if isinstance(cell, str) and divider:
        return [entry.strip() for entry in cell.split(divider) if entry.strip()]
    if not isinstance(cell, LISTS):
        return None
    ids = [_id(entry) for entry in cell]
    return None if None in ids else ids  # type: ignore[return-value]


def _id(entry: object) -> str | None:
    if isinstance(entry, float | np.floating) and float(entry).is_integer():
        return str(int(entry))
    is_id = isinstance(entry, str | int | np.integer) and not isinstance(entry, bool)
    return str(entry) if is_id and str(entry) else None


def _of_each(rows: Rows, name: str, counts: npt.NDArray[np.int64]) -> Any:
    """A column for the entries: that of the row, or, from a list, one of each entry."""
    cells = rows.frame[name]
    if not are_lists(cells):
        return np.repeat(cells.to_numpy(), counts)
    lengths = np.array([len(cell) if isinstance(cell, LISTS) else -1 for cell in cells])
    rows.refuse(
        lengths != counts,
        lambda row: (
            f"{name} lists {max(0, int(lengths[row])):,} values for {int(counts[row]):,} items"
        ),
    )
    return pd.Series([value for cell in cells for value in cell]).infer_objects()


def _note(
    counts: npt.NDArray[np.int64],
    divider: str,
    has_own_item: bool,
    report: Report,
) -> None:
    empty = int((counts == 0).sum())
    verb = "lists" if empty == 1 else "list"
    nothing = f"; {empty:,} of them {verb} no item" if empty else ""
    how = f", divided at {divider!r}" if divider else ""
    how += ", each row's own item being the last" if has_own_item else ""
    rows = "1 row lists" if len(counts) == 1 else f"{len(counts):,} rows list"
    report(
        f"{rows} {int(counts.sum()):,} items in their order{how}{nothing}",
    )
