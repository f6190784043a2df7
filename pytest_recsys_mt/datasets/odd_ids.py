"""Notes on ids that look like mistakes in a file."""

from __future__ import annotations

from typing import Any

import pandas as pd

from pytest_recsys_mt.datasets.options import Report

ODD = 0.05
"""The share of ids that are unlike the others up to which they are reported."""
MISSING = frozenset({"NULL", "null", "\\N", "nan", "NaN", "NA", "N/A", "#N/A", "None"})
"""Texts that tools write for a missing value; each may be an id, too."""


def report_odd_ids(column: pd.Series[Any], report: Report) -> None:
    """Report the ids of a column that look like mistakes, if it holds texts.

    Args:
        column: The ids by row; its name, ``user`` or ``item``, stands in the notes.
        report: Called with each note.
    """
    if pd.api.types.is_numeric_dtype(column):
        return
    ids = pd.Series(column.unique()).astype(str)
    _report_unlike(ids, column.name, report)
    _report_twins(ids, column.name, report)
    _report_missing(ids, column.name, report)


def _report_unlike(ids: pd.Series[Any], kind: object, report: Report) -> None:
    """Report a few texts among numbers, or a few numbers among texts."""
    are_numbers = ids.str.fullmatch(r"\d+(\.0+)?")
    if are_numbers.mean() > 0.5:
        odd = ids[~are_numbers]
        what = "are no numbers"
    else:
        odd = ids[are_numbers]
        what = "are numbers"
    if 0 < len(odd) <= ODD * len(ids):
        report(
            f"of {len(ids):,} {kind} ids {len(odd):,} {what}, unlike the others: {odd.iloc[0]!r}",
        )


def _report_twins(ids: pd.Series[Any], kind: object, report: Report) -> None:
    """Report ids such as ``7`` and ``7.0``, which a spreadsheet may have made of one."""
    plain = ids.str.strip().str.removesuffix(".0")
    twins = ids[(plain != ids) & plain.isin(ids)]
    if twins.empty:
        return
    first = twins.iloc[0]
    its_plain_form = plain[twins.index[0]]
    report(
        f"{kind} ids such as {its_plain_form!r} and {first!r} stand side by side, and count as two",
    )


def _report_missing(ids: pd.Series[Any], kind: object, report: Report) -> None:
    missing = ids[ids.isin(list(MISSING))]
    if missing.empty:
        return
    report(
        f"{missing.iloc[0]!r} is taken for the id of a {kind}; leave such rows out if it means none",
    )
