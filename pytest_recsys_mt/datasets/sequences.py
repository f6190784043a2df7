"""Rows that list several items in one cell, oldest first: sessions and sequences, as
SASRec, LightGCN, OpenP5 and RecBole's benchmark files have them.
"""

from __future__ import annotations

import re
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

HELD_OUT = "-held out"
"""A column that says which rows are held out, whatever becomes of the others."""

RECBOLE = "itemidlist"
"""RecBole's header ``item_id_list:token_seq``, in the form of `rows.normal`: the items
before the one of the row.
"""

_DIVIDERS = ("|", ";", ",", "\t", " ")
"""Separators of the entries of a text, in the order of trial."""

_ARRAY = re.compile(r"\[[^\[\],]*\]")
"""An array as NumPy writes it: ``[1 5 7]``, ``['a' 'b']``."""

Places = npt.NDArray[np.int64]


def header_of_lists(header: Sequence[str]) -> str:
    """The header of RecBole's column of lists; empty if there is none."""
    found = [name for name in header if normal(name) == RECBOLE]
    return found[0] if found and found[0].endswith("_seq") else ""


def one_item_a_row(rows: Rows, report: Report) -> tuple[Rows, Places | None]:
    """The rows with one item each.

    Args:
        rows: The rows; a column `SEQUENCE`, or lists in the column ``item``, hold
            several items. With both columns, the list has the items before the row's
            own, as in RecBole's benchmark files: what a later row lists again is one
            interaction, and of a row that is held out the own item is.
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
    cells = rows.frame[column]
    divider = "" if are_lists(cells) else _divider(cells)
    found = [_entries(cell, divider) for cell in cells]
    rows.refuse(
        np.array([entries is None for entries in found]),
        lambda row: _why_none(column, rows.cell(column, row), divider),
    )
    lists = [entries or [] for entries in found]
    has_own_item = column == SEQUENCE and "item" in rows.frame
    if has_own_item:
        for entries, item in zip(lists, rows.frame["item"], strict=True):
            entries.append(str(item))
    _note(lists, divider, has_own_item, report)
    exploded, places = _exploded(rows, lists, has_own_item)
    if has_own_item:
        exploded, places = _once(exploded, places, report)
    has_own_times = "timestamp" in rows.frame and are_lists(rows.frame["timestamp"])
    return exploded, None if has_own_times else places


def _exploded(
    rows: Rows,
    lists: Sequence[Sequence[str]],
    has_own_item: bool,
) -> tuple[Rows, Places]:
    """A row for each entry, and its place in its list; longer lists come last."""
    counts = np.array([len(entries) for entries in lists])
    others = {
        name: _of_each(rows, name, counts)
        for name in rows.frame.columns
        if name not in (SEQUENCE, "item")
    }
    items = [entry for entries in lists for entry in entries]
    origin = np.repeat(np.arange(len(counts)), counts)
    starts = np.cumsum(counts) - counts
    places = np.arange(len(items)) - np.repeat(starts, counts)
    frame = pd.DataFrame({"item": items, **others})
    if has_own_item:
        is_own = places == counts[origin] - 1
        if HELD_OUT in frame:
            frame[HELD_OUT] = frame[HELD_OUT].to_numpy(dtype=bool) & is_own
        order = np.argsort(counts[origin], kind="stable")
        frame = frame.iloc[order].reset_index(drop=True)
        origin, places = origin[order], places[order]
    made = Rows(
        rows.path,
        frame,
        lambda row: f"{rows.place(int(origin[row]))}, entry {int(places[row]) + 1}",
        lambda numbers: rows.origins(np.unique(origin[numbers])),
    )
    return made, places


def _once(rows: Rows, places: Places, report: Report) -> tuple[Rows, Places]:
    """Each item of a user once, as the longest list has it."""
    is_repeated = rows.frame.duplicated(["user", "item"], keep="last").to_numpy()
    if is_repeated.any():
        report(
            f"{int(is_repeated.sum()):,} of these items stand in longer lists of the same user again, and count once",
        )
    return rows.only(~is_repeated), places[~is_repeated]


def _with_lists(rows: Rows) -> Rows:
    """The rows with lists in place of texts that are lists in JSON: ``[1, 2]``."""
    lists = {}
    for name in rows.frame.columns:
        texts = rows.frame[name]
        is_text = texts.map(lambda cell: isinstance(cell, str))
        if is_text.all() and texts.str.startswith("[").mean() > 0.5:
            lists[name] = [_of_text(text) for text in texts]
    return replace(rows, frame=rows.frame.assign(**lists))


def _of_text(text: str) -> Any:
    """The list that a text is, in JSON or as Python or NumPy write it; else the text."""
    if _ARRAY.fullmatch(text.strip()):
        return re.findall(r"[^\s\[\]'\"]+", text)
    try:
        return json_lines.literal(text) if text.strip() else []
    except ValueError:
        return text


def _divider(cells: pd.Series[Any]) -> str:
    """What stands between the entries: the first of the usual ones that any text has."""
    texts = cells.astype(str).str.strip()
    for divider in _DIVIDERS:
        if texts.str.contains(divider, regex=False).any():
            return divider
    return " "


def _entries(cell: object, divider: str) -> list[str] | None:
    """The ids that a cell lists; None if it is no list of ids, or one divided
    otherwise.
    """
    if isinstance(cell, str) and divider:
        if divider not in cell and any(other in cell for other in _DIVIDERS[:-1]):
            return None
        if cell.startswith("["):
            return None
        return [entry.strip() for entry in cell.split(divider) if entry.strip()]
    if not isinstance(cell, LISTS):
        return None
    ids = [_id(entry) for entry in cell]
    return None if None in ids else ids  # type: ignore[return-value]


def _why_none(column: str, cell: object, divider: str) -> str:
    others = f" divided at {divider!r}, as in other rows" if divider else ""
    return f"{column} is {cell!r:.80}, which is no list of ids{others}"


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
    lengths = np.array(
        [len(cell) if isinstance(cell, LISTS) else -1 for cell in cells],
    )
    rows.refuse(
        lengths != counts,
        lambda row: (
            f"{name} lists {max(0, int(lengths[row])):,} values for {int(counts[row]):,} items"
        ),
    )
    return pd.Series([value for cell in cells for value in cell]).infer_objects()


def _note(
    lists: Sequence[Sequence[str]],
    divider: str,
    has_own_item: bool,
    report: Report,
) -> None:
    number = sum(map(len, lists))
    empty = sum(not entries for entries in lists)
    verb = "lists" if empty == 1 else "list"
    nothing = f"; {empty:,} of them {verb} no item" if empty else ""
    how = f", divided at {divider!r}" if divider else ""
    how += ", each row's own item being the last" if has_own_item else ""
    rows = "1 row lists" if len(lists) == 1 else f"{len(lists):,} rows list"
    report(f"{rows} {number:,} items in their order{how}{nothing}")
