"""Reads files as a description says: interactions, users, and what stands beside them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import starmap
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from pytest_recsys_mt.datasets.catalogue import catalogue_of, item_of, named_by_ids, with_tags
from pytest_recsys_mt.datasets.description import Description, Part
from pytest_recsys_mt.datasets.joins import JOINS
from pytest_recsys_mt.datasets.loading import Told
from pytest_recsys_mt.datasets.rows import Rows
from pytest_recsys_mt.datasets.times import unix_seconds
from pytest_recsys_mt.errors import DataError
from pytest_recsys_mt.requests import Item, Scale

SCALES = tuple(
    starmap(Scale, [(0, 1), (1, 5), (0.5, 5), (0, 5), (1, 7), (1, 10), (0, 10), (0, 100)])
)
"""The usual rating scales, in the order of trial."""
ODD = 0.05
"""The share of ids that are unlike the others up to which they are told of."""
MISSING = frozenset({"NULL", "null", "\\N", "nan", "NaN", "NA", "N/A", "#N/A", "None"})
"""What tools write where there is no value; it may be an id, too."""


@dataclass(frozen=True)
class Content:
    """What the files of a format hold."""

    rows: Rows  # user, item, rating, timestamp
    items: Mapping[str, Item]  # by id
    scale: Scale
    family: str = ""
    users: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    offered: Mapping[str, tuple[Item, ...]] = field(default_factory=dict)


def read(form: Description, folder: Path, told: Told) -> Content:
    """What a folder in a described format holds.

    Raises:
        DataError: If a file is wrong; the text names the file and the line (for Parquet, the row).
    """
    rows, facts = interactions(form.interactions.paths(folder), form.interactions, folder, told)
    scale = Scale(*form.interactions.scale) if form.interactions.scale else usual_scale(rows)
    if form.items and (paths := form.items.paths(folder)):
        listed = catalogue_of(paths, form.items, folder, told, rows)
    else:
        listed = named_by_ids(rows, told)
    items: Mapping[str, Item] = {
        key: replace(item, attributes={**facts.get(key, {}), **item.attributes})
        for key, item in listed.items()
    }
    items = with_tags(items, form.tags, folder)
    for join in form.joins:
        if join not in JOINS:
            raise DataError(f"joins has {join!r}, and knows {', '.join(JOINS)}")
        items = JOINS[join](items, folder)
    users = users_of(form.users, folder) if form.users is not None else {}
    return Content(rows, items, scale, form.family, users)


def interactions(
    paths: Sequence[Path], part: Part, folder: Path, told: Told
) -> tuple[Rows, dict[str, Mapping[str, Any]]]:
    """The interactions of some files, and by item the facts that stand beside them."""
    rows = part.read(paths, folder)
    for column, values in part.keep.items():
        rows = rows.only(rows.frame[column].astype(str).isin(list(values)).to_numpy())
    if part.unrated and "rating" in rows.frame:
        before = len(rows.frame)
        rows = rows.only(~rows.frame["rating"].isin(list(part.unrated)).to_numpy())
        if dropped := before - len(rows.frame):
            none = " or ".join(f"{value:g}" for value in part.unrated)
            rows_are = (
                "row without a rating ({}) is" if dropped == 1 else "rows without a rating ({}) are"
            )
            told(f"{dropped:,} {rows_are.format(none)} left out")
    frame = rows.frame
    if frame.empty:
        raise DataError(f"{str(rows.path)!r} holds no interactions")
    for column in ("user", "item"):
        _tell_of_odd_ids(frame[column], told)
    times: Any = np.arange(len(frame))
    if "timestamp" in frame:
        times = unix_seconds(rows, "timestamp", part.time_format, told)
    ratings = frame.get("rating", 1.0)
    rows = replace(rows, frame=frame.assign(rating=ratings, timestamp=times))
    return rows, _facts(frame, part)


def _tell_of_odd_ids(column: pd.Series[Any], told: Told) -> None:
    """Tell of ids that are few of their kind, as of a row of totals, and of two that may mean the same."""
    if pd.api.types.is_numeric_dtype(column):
        return
    ids = pd.Series(column.unique()).astype(str)
    numbers = ids.str.fullmatch(r"\d+(\.0+)?")
    odd = ids[~numbers if numbers.mean() > 0.5 else numbers]
    if 0 < len(odd) <= ODD * len(ids):
        kind = "are no numbers" if numbers.mean() > 0.5 else "are numbers"
        told(
            f"of {len(ids):,} {column.name} ids {len(odd):,} {kind}, unlike the others: {odd.iloc[0]!r}"
        )
    plain = ids.str.strip().str.removesuffix(".0")
    twins = ids[(plain != ids) & plain.isin(ids)]
    if len(twins):
        told(
            f"{column.name} ids such as {plain[twins.index[0]]!r} and {twins.iloc[0]!r} stand side by side, and "
            f"count as two"
        )
    if len(missing := ids[ids.isin(list(MISSING))]):
        told(
            f"{missing.iloc[0]!r} is taken for the id of a {column.name}; leave such rows out if it means none"
        )


def usual_scale(rows: Rows) -> Scale:
    """The first usual scale that holds all ratings; DataError if there is none."""
    ratings, widest = rows.frame["rating"].to_numpy(), SCALES[-1]
    known = ", ".join(f"{scale.low:g} to {scale.high:g}" for scale in SCALES)
    rows.refuse(
        (ratings < widest.low) | (ratings > widest.high),
        lambda row: (
            f"rating {ratings[row]:g} is outside all usual scales ({known}); convert the column to "
            f"one of them, say the scale ('?scale=LOW,HIGH' behind the path), or what is no rating "
            f"('?unrated={ratings[row]:g}')"
        ),
    )
    low, high = ratings.min(), ratings.max()
    return next(scale for scale in SCALES if scale.low <= low and high <= scale.high)


def _facts(frame: pd.DataFrame, part: Part) -> dict[str, Mapping[str, Any]]:
    """The most frequent value of each fact about an item, by item."""
    rows: dict[str, dict[str, Any]] = {}
    for name in part.facts.keys() & set(frame):
        known = frame[["item", name]][frame[name].notna() & (frame[name].astype(str) != "")]
        counts = known.groupby(["item", name], observed=True).size().reset_index(name="count")
        most = counts.sort_values("count", ascending=False, kind="stable").drop_duplicates("item")
        for item, value in zip(most["item"], most[name], strict=True):
            rows.setdefault(str(item), {"item": item})[name] = value
    return {key: item_of(row, part, {}, Path()).attributes for key, row in rows.items()}


def users_of(part: Part, folder: Path) -> dict[str, dict[str, Any]]:
    """The attributes of users; whole numbers are numbers."""
    paths = part.paths(folder)
    if not paths:
        return {}
    rows = part.read(paths, folder)
    rows.refuse_repeats("user")
    frame = rows.frame.loc[:, [not str(name).startswith("-") for name in rows.frame]]
    for name, meanings in part.codes.items():
        rows.refuse(
            ~frame[name].isin(list(meanings)).to_numpy(),
            lambda row: (
                f"{name} code {frame[name].iloc[row]} is not one of {', '.join(meanings)}"  # noqa: B023
            ),
        )
        frame = frame.assign(**{name: frame[name].map(meanings)})
    return {
        str(row.pop("user")): {str(name): _number(value) for name, value in row.items() if value}
        for row in frame.to_dict("records")
    }


def _number(value: Any) -> Any:
    return int(value) if isinstance(value, str) and value.isdecimal() else value
