"""Where a promise breaks: what a row says of each group of users."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pytest_recsys_mt.gate.document import Row, SliceRow, measured
from pytest_recsys_mt.report.short_names import named
from pytest_recsys_mt.report.table import COLOURS, Column, bounds_of, write_cells
from pytest_recsys_mt.wording import beyond, group_in_words

WORDS = {"holds": "holds", "violated": "VIOLATED", "inconclusive": "not settled"}
COLUMNS = (
    Column("group", words=True),
    Column("verdict", marked=True),
    Column("measured"),
    Column("bounds"),
    Column("users"),
)


def groups_of(row: Row) -> Sequence[SliceRow]:
    """All users, then the groups: the violated ones first, then the others, the worst first."""
    groups = row.get("slices") or []

    def order(group: SliceRow) -> tuple[bool, bool, float]:
        return bool(group["slicing"]), group["status"] != "violated", -_beyond(row, group)

    return sorted(groups, key=order)


def looks_broken(row: Row) -> bool:
    """Whether a group of users is beyond the limit, be it proven or not."""
    return any(group["slicing"] and _beyond(row, group) > 0 for group in row.get("slices") or [])


def write_groups(reporter: Any, rows: Sequence[Row], *, every: bool) -> None:
    """Write a table of the groups of each row, of rows without a group beyond the limit only with `every`."""
    for row, name in named(rows):
        if row.get("slices") and (every or looks_broken(row)):
            reporter.write_line(f"{name}, by group of users:")
            groups = groups_of(row)
            cells = [
                [
                    group_in_words(group),
                    WORDS[group["status"]],
                    "" if group["estimate"] is None else f"{group['estimate']:.3f}",
                    bounds_of(group),
                    str(group["users"]),
                ]
                for group in groups
            ]
            colours = [COLOURS[group["status"]] for group in groups]
            write_cells(reporter, COLUMNS, cells, colours)


def _beyond(row: Row, group: SliceRow) -> float:
    """By how much the mean of a group is beyond the limit; that of no user is as far below it as can be."""
    limit = measured(row).limit
    if group["estimate"] is None or limit is None:
        return float("-inf")
    return beyond(group["estimate"], row.get("allowed"), limit)
