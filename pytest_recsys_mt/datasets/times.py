"""Times of interactions in Unix seconds, as files write them."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from pytest_recsys_mt.datasets.options import Report
from pytest_recsys_mt.datasets.rows import Rows
from pytest_recsys_mt.safety.errors import DataError

ISO = "ISO8601"
FORMS = (
    "%Y/%m/%d %H:%M:%S", "%Y/%m/%d", "%m/%d/%Y", "%d/%m/%Y", "%m/%d/%Y %H:%M:%S", "%d/%m/%Y %H:%M:%S",
    "%m/%d/%Y %H:%M", "%d/%m/%Y %H:%M", "%m/%d/%Y %I:%M:%S %p", "%d.%m.%Y", "%d.%m.%Y %H:%M:%S", "%d.%m.%Y %H:%M", "%b %d, %Y",
    "%B %d, %Y", "%a %b %d %H:%M:%S %z %Y",
)  # fmt: skip
"""Forms that are tried after ISO 8601, in the notation of ``strptime``."""

MOST_TRIED = 20_000
"""Texts by which the form is told."""

MOSTLY = 0.9
"""The share of numbers that must be days if they are read as days."""
UNITS = (
    (1e17, "nanoseconds", 10**9),
    (1e14, "microseconds", 10**6),
    (1e11, "milliseconds", 10**3),
)
"""Times as numbers from which on they are no seconds: in seconds 1e11 is the year 5138."""
SMALL = 10**8
"""Times below it, of before March 1973, are taken for an order."""
FIRST_DAY = 19000101
LAST_DAY = 21001231
_ZONE = r"[T ]\d.*(?:Z|[+-]\d\d(?::?\d\d)?)$"
"""The end of an ISO 8601 time that says its zone: ``T12:00Z``, ``T12:00+02:00``."""
_NAMED_ZONE = r"(?<=\d) ?(?:UTC|GMT)$"
"""The same as BigQuery writes it: ``2017-07-14 02:40:00 UTC``."""

_DAY_FORMS = (("%Y%m%d", 8), ("%Y%m%d%H%M", 12), ("%Y%m%d%H%M%S", 14))
"""Forms of days and times written as one number, and their digits."""


def unix_seconds(
    rows: Rows,
    column: str,
    form: str,
    report: Report,
) -> npt.NDArray[np.int64]:
    """A column of times in Unix seconds, shape (rows,).

    Numbers are seconds, or, if they are too large for that, a smaller unit, which
    is reported; or days such as 20170714. A text is ISO 8601, in one of `FORMS`, or in
    the given `form` (UTC without a zone).

    Raises:
        DataError: For the first row that is no time, or if two forms fit and differ.
    """
    cells = rows.frame[column]
    if pd.api.types.infer_dtype(cells, skipna=True) == "integer":
        # As objects, beside missing ones.
        cells = pd.to_numeric(cells)
        rows = replace(rows, frame=rows.frame.assign(**{column: cells}))
    if pd.api.types.is_datetime64_any_dtype(cells):
        return _dated(rows, column, pd.to_datetime(cells, utc=True), "a time")
    if pd.api.types.is_numeric_dtype(cells):
        return _seconds_of_numbers(rows, column, form, report)
    return _seconds_of_texts(rows, column, form)


def _seconds_of_numbers(
    rows: Rows,
    column: str,
    form: str,
    report: Report,
) -> npt.NDArray[np.int64]:
    cells = rows.frame[column]
    numbers = cells.to_numpy(dtype=np.float64)
    rows.refuse(
        ~(np.abs(numbers) < 2.0**63),
        lambda row: f"{column} is {str(rows.cell(column, row))!r}, not a time",
    )
    form = form or _form_of_numbers(numbers)
    if form:
        times = _parsed(cells.astype("int64").astype(str), form)
        return _dated(rows, column, times, f"a time in the form {form}")
    # Of the cells: an integer of 64 bits loses digits as a float.
    whole = np.floor_divide(cells.to_numpy(), 1).astype(np.int64)
    return _in_seconds(whole, report)


def _seconds_of_texts(rows: Rows, column: str, form: str) -> npt.NDArray[np.int64]:
    # Times often repeat, so only the distinct ones are parsed.
    cells = rows.frame[column]
    written = cells.where(cells.notna(), "").astype(str)
    codes, texts = pd.factorize(written)
    distinct = pd.Series(texts)
    counts = pd.Series(np.bincount(codes, minlength=len(distinct)))
    form = form or _form(distinct, counts, f"{str(rows.path)!r}: {column}")
    distinct_times = _parsed(distinct, form)
    if form != ISO:
        wanted = f"a time in the form {form}"
    elif pd.isna(distinct_times.iloc[0]):
        wanted = (
            "an ISO 8601 date (2001-01-31T12:00:00) or another form that is known; name the form, as in "
            "?time_format=%d-%m-%y"
        )
    else:
        wanted = "an ISO 8601 date (2001-01-31T12:00:00), as the first row has"
    times = distinct_times.iloc[codes].reset_index(drop=True)
    return _dated(rows, column, times, wanted)


def _parsed(texts: pd.Series[Any], form: str) -> pd.Series[Any]:
    """The times of some texts in UTC; NaT for those that have another form."""
    if form == ISO:
        texts = texts.str.replace(_NAMED_ZONE, "Z", regex=True)
        has_zone = texts.str.contains(_ZONE)
        if has_zone.any() and not has_zone.all():
            # Apart: pandas 2 gives a time without a zone that of the row before it.
            parts = [_in_form(texts[has_zone], form), _in_form(texts[~has_zone], form)]
            whole: pd.Series[Any] = pd.concat(parts).sort_index()
            return whole
    return _in_form(texts, form)


def _in_form(texts: pd.Series[Any], form: str) -> pd.Series[Any]:
    try:
        return pd.to_datetime(texts, format=form, utc=True, errors="coerce")
    except (ValueError, re.error) as problem:  # such as a directive twice
        raise DataError(
            f"time_format={form!r} is no form of times: {problem}",
        ) from problem


def _form_of_numbers(numbers: npt.NDArray[np.float64]) -> str:
    """The form that nearly all numbers have, such as 20170714; empty if
    they are numbers of seconds, or of less.
    """
    distinct, rows = np.unique(numbers, return_counts=True)
    for form, digits in _DAY_FORMS:
        numbers_a_day = 10.0 ** (digits - 8)
        is_before = distinct < FIRST_DAY * numbers_a_day
        is_after = distinct >= (LAST_DAY + 1) * numbers_a_day
        is_possible = ~is_before & ~is_after
        if rows[is_possible].sum() < MOSTLY * len(numbers):
            continue
        texts = pd.Series(distinct[is_possible].astype(np.int64)).astype(str)
        is_day = pd.to_datetime(texts, format=form, errors="coerce").notna()
        if rows[is_possible][is_day].sum() >= MOSTLY * len(numbers):
            return form
    return ""


def _in_seconds(
    numbers: npt.NDArray[np.int64], report: Report
) -> npt.NDArray[np.int64]:
    sizes = np.abs(numbers[numbers != 0])
    if not len(sizes):
        return numbers
    if sizes.max() < SMALL:
        report(
            f"the times, {numbers.min():,} to {numbers.max():,}, are too small for dates: they only order the rows",
        )
    least_of_milliseconds = UNITS[-1][0]
    if sizes.min() < least_of_milliseconds <= sizes.max():
        raise DataError(
            f"some times are seconds ({sizes.min():,}) and others milliseconds or less ({sizes.max():,}); write "
            f"all in one unit",
        )
    for least, unit, per_second in UNITS:
        if np.median(sizes) >= least:
            report(f"the column of times is in {unit}")
            return numbers // per_second
    return numbers


def _form(distinct: pd.Series[Any], rows: pd.Series[Any], where: str) -> str:
    """The form that the texts of most rows have.

    Args:
        distinct: The texts, each once.
        rows: How many rows have each.
        where: Begins the text of an error.

    Raises:
        DataError: If two forms fit the same number of rows and give different times.
    """
    texts = distinct[:MOST_TRIED]
    times_by_form = {form: _parsed(texts, form) for form in (ISO, *FORMS)}
    fitting = {
        form: int(rows[:MOST_TRIED][times.notna()].sum())
        for form, times in times_by_form.items()
    }
    most = max(fitting.values())
    if fitting[ISO] == most:
        return ISO
    form, *others = [form for form, count in fitting.items() if count == most]
    for other in others:
        if not times_by_form[form].equals(times_by_form[other]):
            raise DataError(
                f"{where} is {distinct.iloc[0]!r} in the first row, which may be {form} or {other}, and no "
                f"row decides it; add '?time_format={form}' or '?time_format={other}' to the path",
            )
    return form


def _dated(
    rows: Rows,
    column: str,
    times: pd.Series[Any],
    wanted: str,
) -> npt.NDArray[np.int64]:
    """The times in Unix seconds; DataError for the first that is
    missing; `wanted` names the expected form.
    """
    rows.refuse(
        times.isna().to_numpy(),
        lambda row: f"{column} is {str(rows.cell(column, row))!r}, not {wanted}",
    )
    utc = times.dt.tz_localize(None).to_numpy(dtype="datetime64[s]")
    seconds: npt.NDArray[np.int64] = utc.astype(np.int64)
    return seconds
