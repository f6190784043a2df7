"""Columns that say what a row is, such as a view, a purchase or a return: not every row
of such a table is one in which somebody took an item.

Of numbers the rule is known: a quantity that is not above 0 is a return, and a click of
0 was shown and not taken. Of names it is not, so the user says which rows count.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from pytest_recsys_mt.datasets.options import Report
from pytest_recsys_mt.datasets.rows import Rows, normal
from pytest_recsys_mt.safety.errors import DataError

QUANTITIES = ("quantity", "qty")
CLICKS = ("click", "isclick", "clicked", "isclicked", "purchased", "ispurchased")
_SUBJECTS = ("event", "action", "behaviour", "behavior", "interaction")
NAMES = (
    *_SUBJECTS,
    *(f"{subject}type" for subject in _SUBJECTS),
    "eventname",
    "status",
    "orderstatus",
)
"""The usual headers of such columns, in the form of `rows.normal`."""

ALL = "all"
"""The value of ``keep`` that takes all rows."""

MOSTLY = 0.5
"""The share of numbers from which on a column of quantities or clicks is one of numbers,
so that the rows without one are wrong.
"""

MOST_NAMED = 8
"""Kinds of rows that an error names."""

_SYNTAX = f"write COLUMN:VALUE|VALUE, COLUMN>NUMBER (or >=, <, <=) or COLUMN!=VALUE, separated by commas, or keep={ALL}"
_CONDITION = re.compile(r"(?s)\s*([^:<>=!|]+?)\s*(:|>=|<=|!=|>|<)\s*(.*)")
_COMPARISON = re.compile(r"(>=|<=|>|<)\s*(.+)")


def keep_of(text: str) -> dict[str, list[str]]:
    """The rows that count, from the option ``keep``: ``event:purchase|view,quantity>0``.

    Returns:
        By column the allowed values, or comparisons such as ``>0`` and ``!=view``.

    Raises:
        DataError: If it is no list of conditions.
    """
    conditions: dict[str, list[str]] = {}
    for part in filter(None, text.split(",")):
        match = _CONDITION.fullmatch(part)
        if match is None or not match[3]:
            raise DataError(
                f"keep={text!r}: {part!r} is no condition; {_SYNTAX}",
            )
        column, operator, value = match.groups()
        values = value.split("|")
        if operator == "!=":
            values = [f"!={each}" for each in values]
        elif operator != ":":
            values = [f"{operator}{value}"]
        conditions.setdefault(column, []).extend(values)
    if text and not conditions:
        raise DataError(f"keep={text!r}: it names no condition; {_SYNTAX}")
    return conditions


def kept_rows(rows: Rows, column: str, allowed: Sequence[str]) -> npt.NDArray[np.bool_]:
    """Which rows the conditions on a column keep, shape (rows,): those with one of the
    values, if there are any, that fulfil all comparisons.

    Raises:
        DataError: If a number is compared with a column of texts.
    """
    kept = np.ones(len(rows.frame), bool)
    values = []
    for value in allowed:
        comparison = _COMPARISON.fullmatch(value)
        if value.startswith("!="):
            kept &= ~_has_one_of(rows.frame[column], [value[2:].strip()])
        elif comparison is not None:
            kept &= _compared(rows, column, comparison[1], comparison[2])
        else:
            values.append(value)
    if values:
        kept &= _has_one_of(rows.frame[column], values)
    return kept


def _has_one_of(cells: pd.Series[Any], values: Sequence[str]) -> npt.NDArray[np.bool_]:
    """Which cells are one of some values; as numbers where the cells are: 4 is 4.0."""
    if pd.api.types.is_numeric_dtype(cells):
        numbers = pd.to_numeric(pd.Series(values), errors="coerce")
        return cells.isin(numbers.dropna().tolist()).to_numpy()
    return cells.astype(str).isin(values).to_numpy()


def unseen(rows: Rows, column: str, allowed: Sequence[str]) -> list[str]:
    """The values of a condition that no row has: perhaps misspelt."""
    cells = rows.frame[column]
    values = [value.removeprefix("!=").strip() for value in allowed]
    return [
        value
        for value in values
        if not _COMPARISON.fullmatch(value) and not _has_one_of(cells, [value]).any()
    ]


def _compared(
    rows: Rows,
    column: str,
    operator: str,
    limit: str,
) -> npt.NDArray[np.bool_]:
    numbers = _numbers(rows.frame[column]).to_numpy(dtype=float)
    try:
        bound = float(limit)
    except ValueError as problem:
        raise DataError(
            f"keep: {column}{operator}{limit} compares with {limit!r}, which is no number",
        ) from problem
    rows.refuse(
        np.isnan(numbers),
        lambda row: (
            f"{column} is {rows.cell(column, row)!r}, not a number, and keep compares it with {bound:g}"
        ),
    )
    compare = {
        ">": np.greater,
        ">=": np.greater_equal,
        "<": np.less,
        "<=": np.less_equal,
    }
    found: npt.NDArray[np.bool_] = compare[operator](numbers, bound)
    return found


def kinds_in(header: Sequence[str], taken: Sequence[str]) -> dict[str, str]:
    """The columns of a header that say what a row is, by the name that they get.

    Args:
        header: The names in the file.
        taken: Headers that have another meaning already.
    """
    known = (*QUANTITIES, *CLICKS, *NAMES)
    used = set(map(normal, taken))
    return {
        normal(name): name
        for name in header
        if normal(name) in known and normal(name) not in used
    }


def only_taken(rows: Rows, kinds: Mapping[str, str], report: Report) -> Rows:
    """The rows in which an item was taken, by the columns that say what a row is.

    Args:
        rows: All rows, with these columns.
        kinds: The headers of the columns, by their names in `rows`.
        report: Receives a note on the rows that are left out.

    Raises:
        DataError: If a column has several names or codes, of which it is not known which
            ones count.
    """
    for name, header in kinds.items():
        cells = rows.frame[name]
        numbers = _numbers(cells)
        is_number = numbers.notna()
        is_flag = name in CLICKS and set(numbers[is_number].unique()) <= {0, 1}
        if is_number.mean() >= MOSTLY and (is_flag or name in QUANTITIES):
            _refuse_others(rows, ~is_number, name)
            rows = _without_zeros(rows, numbers, header, report)
        elif name not in QUANTITIES:
            _require_one(cells, header, str(rows.path))
    return rows


def _numbers(cells: pd.Series[Any]) -> pd.Series[Any]:
    """Cells as numbers, which may have a decimal comma; NaN for others."""
    if pd.api.types.is_numeric_dtype(cells):
        return cells.astype("float64")
    texts = cells.astype(str).str.replace(",", ".", regex=False)
    return pd.to_numeric(texts, errors="coerce")


def _refuse_others(rows: Rows, wrong: pd.Series[Any], name: str) -> None:
    """Refuse the rows of a column of numbers that have none: whether an item was taken
    there is not known.
    """
    rows.refuse(
        wrong.to_numpy(dtype=bool),
        lambda row: f"{name} is {rows.cell(name, row)!r}, not a number",
    )


def _without_zeros(
    rows: Rows,
    numbers: pd.Series[Any],
    header: str,
    report: Report,
) -> Rows:
    is_taken = (numbers > 0).to_numpy()
    dropped = int((~is_taken).sum())
    if dropped:
        verb = "is" if dropped == 1 else "are"
        report(
            f"{dropped:,} of {len(numbers):,} rows, whose {header} is 0 or below, {verb} left out: nothing was taken "
            f"there; ?keep={ALL} behind the path takes them",
        )
    return rows.only(is_taken)


def _require_one(cells: pd.Series[Any], header: str, path: str) -> None:
    counts = cells.astype(str).value_counts()
    if len(counts) < 2:
        return
    named = [f"{value!r} ({count:,})" for value, count in counts[:MOST_NAMED].items()]
    more = f", and {len(counts) - MOST_NAMED} more" if len(counts) > MOST_NAMED else ""
    example = counts.index[0]
    raise DataError(
        f"{path!r}: the column {header!r} says what a row is: {', '.join(named)}{more}; say behind the path which rows count, as "
        f"in ?keep={header}:{example}, or ?keep={ALL} for all",
    )
