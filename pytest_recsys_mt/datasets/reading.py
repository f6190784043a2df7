"""Reads files as a description says; an error names file and line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from pytest_recsys_mt.datasets.catalogue import (
    catalogue_of,
    item_of,
    named_by_ids,
    with_tags,
)
from pytest_recsys_mt.datasets.content import Content
from pytest_recsys_mt.datasets.description import Description, Part
from pytest_recsys_mt.datasets.joins import JOINS
from pytest_recsys_mt.datasets.odd_ids import MISSING, report_odd_ids
from pytest_recsys_mt.datasets.options import Report
from pytest_recsys_mt.datasets.row_kinds import kept_rows, only_taken, unseen
from pytest_recsys_mt.datasets.rows import Rows
from pytest_recsys_mt.datasets.sequences import one_item_a_row
from pytest_recsys_mt.datasets.times import unix_seconds
from pytest_recsys_mt.requests import Item, Scale
from pytest_recsys_mt.safety.errors import DataError

SCALES = (
    Scale(0, 1),
    Scale(1, 5),
    Scale(0.5, 5),
    Scale(0, 5),
    Scale(1, 7),
    Scale(1, 10),
    Scale(0, 10),
    Scale(0, 100),
)
"""The usual rating scales, in the order of trial."""

THUMBS = Scale(-1, 1)
"""That of ratings which are -1, 1 and perhaps 0."""


def read(form: Description, folder: Path, report: Report) -> Content:
    """Read a folder in a described format.

    Args:
        form: The format.
        folder: The folder that holds its files.
        report: Called with each note on changes to the rows.

    Returns:
        The interactions, the catalogue and the users.

    Raises:
        DataError: If a file is wrong; the text names the file and the line (for
            Parquet, the row).
    """
    part = form.interactions
    rows, facts = interactions(part.read(part.paths(folder), folder), part, report)
    scale = Scale(*part.scale) if part.scale else usual_scale(rows)
    items = _with_facts(_listed_items(form, folder, report, rows), facts)
    items = with_tags(items, form.tags, folder)
    for join in form.joins:
        if join not in JOINS:
            raise DataError(f"joins has {join!r}, and knows {', '.join(JOINS)}")
        items = JOINS[join](items, folder)
    users = {} if form.users is None else users_of(form.users, folder)
    return Content(rows, items, scale, form.family, users, thing=form.thing)


def _listed_items(
    form: Description,
    folder: Path,
    report: Report,
    rows: Rows,
) -> dict[str, Item]:
    """The items of the format's catalogue; without its
    files, those of the interactions.
    """
    paths = form.items.paths(folder) if form.items else []
    if form.items is None or not paths:
        return named_by_ids(rows, report)
    return catalogue_of(paths, form.items, folder, report, rows)


def _with_facts(
    items: Mapping[str, Item],
    facts: Mapping[str, Mapping[str, Any]],
) -> Mapping[str, Item]:
    """The items with the facts that rows of interactions
    hold; the catalogue's own value counts more.
    """
    joined = {}
    for key, item in items.items():
        attributes = {**facts.get(key, {}), **item.attributes}
        joined[key] = replace(item, attributes=attributes)
    return joined


def interactions(
    rows: Rows,
    part: Part,
    report: Report,
) -> tuple[Rows, dict[str, Mapping[str, Any]]]:
    """The interactions among some rows, and by item the facts that they hold.

    Args:
        rows: The rows.
        part: The meanings of their columns.
        report: Called with each note on changes to the rows.

    Returns:
        The rows, with a rating of 1 and the place in the file where ratings and times
        are missing; and the attributes by item id.

    Raises:
        DataError: If a row is wrong or none is left; the text names the file and the
            line.
    """
    if "rating" in part.keep and "rating" in rows.frame and part.may_lack_ratings:
        rows = _with_ratings(rows, report)  # those of others cannot be compared
    rows = _kept_rows(rows, part, report)
    rows, places = one_item_a_row(rows, report)
    rows = _rated_rows(rows, part, report)
    frame = rows.frame
    if frame.empty:
        raise DataError(f"{str(rows.path)!r} holds no interactions")
    for column in ("user", "item"):
        report_odd_ids(frame[column], report)
    times: Any = np.arange(len(frame))
    if "timestamp" in frame:
        times = unix_seconds(rows, "timestamp", part.time_format, report)
        if places is not None:
            report("the items of a list count as one second apart, in its order")
            times = times + places
    ratings = frame.get("rating", 1.0)
    completed = frame.assign(rating=ratings, timestamp=times)
    rows = replace(rows, frame=completed, timed="timestamp" in frame)
    return rows, _facts(frame, part)


def _kept_rows(rows: Rows, part: Part, report: Report) -> Rows:
    """The rows that fulfil the conditions of `Part.keep`, and in which an item was
    taken.
    """
    if part.kinds:
        rows = only_taken(rows, part.kinds, report)
    for column, values in part.keep.items():
        if part.says_what_is_kept and (absent := unseen(rows, column, values)):
            report(
                f"keep names {', '.join(map(repr, absent))}, which no row has as {column}",
            )
        fits = kept_rows(rows, column, values)
        dropped = int((~fits).sum())
        if dropped and part.says_what_is_kept:
            verb = "is" if dropped == 1 else "are"
            report(
                f"{dropped:,} of {len(fits):,} rows {verb} left out by keep, whose {column} is not {_in_words(values)}",
            )
        rows = rows.only(fits)
    return rows


def _in_words(values: Sequence[str]) -> str:
    """The conditions on a column: alternatives, or comparisons that all count."""
    is_comparison = all(value[:1] in "<>!" for value in values)
    return (" and " if is_comparison else " or ").join(values)


def _rated_rows(rows: Rows, part: Part, report: Report) -> Rows:
    """The rows without those whose rating stands for "not
    rated", such as Book-Crossing's 0.
    """
    if not part.unrated or "rating" not in rows.frame:
        return rows
    if part.may_lack_ratings:
        rows = _with_ratings(rows, report)
    is_unrated = rows.frame["rating"].isin(list(part.unrated)).to_numpy()
    dropped = int(is_unrated.sum())
    if dropped:
        values = " or ".join(f"{value:g}" for value in part.unrated)
        _report_unrated(dropped, values, report)
    return rows.only(~is_unrated)


def _with_ratings(rows: Rows, report: Report) -> Rows:
    """The rows that have a rating, as a number; others are left out."""
    written = rows.frame["rating"]
    texts = written.astype(str).str.strip()
    is_missing = written.isna() | texts.isin(["", *MISSING])
    dropped = int(is_missing.sum())
    if dropped:
        _report_unrated(dropped, "missing", report)
    rows = rows.only(~is_missing.to_numpy(dtype=bool))
    texts = rows.frame["rating"].astype(str).str.replace(",", ".", regex=False)
    numbers = pd.to_numeric(texts, errors="coerce").astype("float64")
    rows.refuse(
        ~np.isfinite(numbers.to_numpy()),
        lambda row: f"rating is {rows.cell('rating', row)!r}, not a number",
    )
    return replace(rows, frame=rows.frame.assign(rating=numbers))


def _report_unrated(dropped: int, values: str, report: Report) -> None:
    subject = "row without a rating" if dropped == 1 else "rows without a rating"
    verb = "is" if dropped == 1 else "are"
    report(f"{dropped:,} {subject} ({values}) {verb} left out")


def usual_scale(rows: Rows) -> Scale:
    """The first usual scale that holds all ratings.

    Raises:
        DataError: If there is none; the text names the first row with a rating outside
            all of them.
    """
    ratings = rows.frame["rating"].to_numpy()
    if set(np.unique(ratings)) in ({-1, 1}, {-1, 0, 1}):
        return THUMBS
    widest = SCALES[-1]
    known = ", ".join(f"{scale.low:g} to {scale.high:g}" for scale in SCALES)

    def why(row: int) -> str:
        return (
            f"rating {ratings[row]:g} is outside all usual scales ({known}); convert the column to "
            f"one of them, say the scale ('?scale=LOW,HIGH' behind the path), or what is no rating "
            f"('?unrated={ratings[row]:g}')"
        )

    rows.refuse((ratings < widest.low) | (ratings > widest.high), why)
    lowest = ratings.min()
    highest = ratings.max()
    fitting = [
        scale for scale in SCALES if scale.low <= lowest and highest <= scale.high
    ]
    return fitting[0]


def _facts(frame: pd.DataFrame, part: Part) -> dict[str, Mapping[str, Any]]:
    """Attributes by item, from the columns of `Part.facts`: of
    each column the item's most frequent value.
    """
    facts_by_item: dict[str, dict[str, Any]] = {}
    for name in part.facts.keys() & set(frame):
        is_known = frame[name].notna() & (frame[name].astype(str) != "")
        known = frame[["item", name]][is_known]
        counts = (
            known.groupby(["item", name], observed=True)
            .size()
            .reset_index(name="count")
        )
        descending = counts.sort_values("count", ascending=False, kind="stable")
        most_frequent = descending.drop_duplicates("item")
        for item, value in zip(most_frequent["item"], most_frequent[name], strict=True):
            facts = facts_by_item.setdefault(str(item), {"item": item})
            facts[name] = value
    # The values are cleaned as those of a catalogue are: markup, lists, missing ones.
    return {
        key: item_of(row, part, {}, Path()).attributes
        for key, row in facts_by_item.items()
    }


def users_of(part: Part, folder: Path) -> dict[str, dict[str, Any]]:
    """The attributes of users by id; whole numbers are numbers, and empty values are
    left out.

    Raises:
        DataError: If a user has two rows, or a code has no meaning; the text names the
            file and the line.
    """
    paths = part.paths(folder)
    return users_in(part.read(paths, folder), part) if paths else {}


def users_in(rows: Rows, part: Part) -> dict[str, dict[str, Any]]:
    """The same of rows that have been read."""
    rows.refuse_repeats("user")
    # `Part.layout` calls the columns without a meaning -0, -1 and so on.
    has_meaning = [not str(name).startswith("-") for name in rows.frame]
    frame = rows.frame.loc[:, has_meaning]
    for name, meanings in part.codes.items():
        frame = _decoded(rows, frame, name, meanings)
    users = {}
    for row in frame.to_dict("records"):
        user = str(row.pop("user"))
        users[user] = {
            str(name): _number(value) for name, value in row.items() if value
        }
    return users


def _decoded(
    rows: Rows,
    frame: pd.DataFrame,
    column: str,
    meanings: Mapping[str, str],
) -> pd.DataFrame:
    """The frame with the meanings of a column's codes in their place."""
    codes = frame[column]
    rows.refuse(
        ~codes.isin(list(meanings)).to_numpy(),
        lambda row: (
            f"{column} code {codes.iloc[row]} is not one of {', '.join(meanings)}"
        ),
    )
    return frame.assign(**{column: codes.map(meanings)})


def _number(value: Any) -> Any:
    if isinstance(value, str) and value.isdecimal():
        return int(value)
    return value
