"""Reads files as a description says, and makes a `Dataset` of what those of any format hold; each error names file
and line.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from itertools import starmap
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from pytest_recsys_mt.datasets.catalogue import catalogue_of, item_of, named_by_ids, with_tags
from pytest_recsys_mt.datasets.dataset import Dataset
from pytest_recsys_mt.datasets.description import Description, Part
from pytest_recsys_mt.datasets.joins import JOINS
from pytest_recsys_mt.datasets.loading import Repeats, Told
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
    thing: str = ""  # see `Dataset.thing`


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
    return Content(rows, items, scale, form.family, users, thing=form.thing)


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
            row, verb = ("row", "is") if dropped == 1 else ("rows", "are")
            told(f"{dropped:,} {row} without a rating ({none}) {verb} left out")
    frame = rows.frame
    if frame.empty:
        raise DataError(f"{str(rows.path)!r} holds no interactions")
    for column in ("user", "item"):
        _tell_of_odd_ids(frame[column], told)
    times: Any = np.arange(len(frame))
    if "timestamp" in frame:
        times = unix_seconds(rows, "timestamp", part.time_format, told)
    whole = frame.assign(rating=frame.get("rating", 1.0), timestamp=times)
    return replace(rows, frame=whole), _facts(frame, part)


def _tell_of_odd_ids(column: pd.Series[Any], told: Told) -> None:
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


def made(name: str, content: Content, repeats: Repeats, told: Told) -> Dataset:
    """The dataset; `told` hears of rows that repeat a user and an item.

    Raises:
        DataError: For the first row that names an item outside the catalogue, has a rating off the scale, or repeats a
            user and an item that is refused; the text names the file and the line.
    """
    rows, scale = content.rows, content.scale
    if content.thing and not re.fullmatch(r"[\w'’ -]{1,40}", content.thing):
        raise DataError(f"thing={content.thing!r} is no word for an item, such as 'book'")
    rated = rows.frame["rating"].nunique() > 1
    remedy = f"; -o recsys_repeats=latest{'' if rated else ' or count'} allows this"
    if repeats == "count" and rated:
        repeats = "refuse"  # a count would replace what users said
        remedy = "; -o recsys_repeats=count cannot stand beside a column of ratings: choose latest, or take it out"
    kept = _checked(rows, content.items, scale, repeats, remedy)
    if dropped := len(rows.frame) - len(kept):
        verb = "repeat" if dropped > 1 else "repeats"
        how = "the latest of each is kept" if repeats == "latest" else "their number is the rating"
        told(
            f"of {len(rows.frame):,} interactions {dropped:,} {verb} a user and an item; {how} (recsys_repeats)"
        )
        if repeats == "count":
            scale = Scale(0, float(kept["rating"].max()))
    return Dataset(
        name,
        content.items,
        kept,
        scale,
        content.users,
        content.offered,
        content.family,
        thing=content.thing,
    )


def summary(path: Path, dataset: Dataset) -> str:
    """What was read, in a sentence."""
    frame, scale = dataset.interactions, dataset.scale
    ratings = f"ratings from {frame['rating'].min():g} to {frame['rating'].max():g}"
    if frame["rating"].nunique() == 1:
        only = frame["rating"].iloc[0]
        ratings = "no ratings" if only == 1 else f"every rating is {only:g}"
    first, last = (_day(int(at)) for at in (frame["timestamp"].min(), frame["timestamp"].max()))
    times = f"until {last}" if last else "in the order of the file"
    if first:
        times = f"from {first} to {last}"
    titles = Counter(item.label for item in dataset.items.values())
    alike = sum(items for items in titles.values() if items > 1)
    told = (
        f"; {alike:,} items have the title of another, and a language model cannot tell them apart"
    )
    return (
        f"{path.name} has {frame['user'].nunique():,} users, {len(dataset.items):,} items and {len(frame):,} "
        f"interactions, {times}; {ratings}, on the scale {scale.low:g} to {scale.high:g}{told * bool(alike)}"
    )


def _day(seconds: int) -> str:
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%d}" if 10**8 < seconds < 2.5e11 else ""


def _checked(
    rows: Rows, items: Container[str], scale: Scale, repeats: Repeats, remedy: str
) -> pd.DataFrame:
    frame = rows.frame.copy(deep=False)
    for column in ("user", "item"):
        if not isinstance(frame[column].dtype, pd.CategoricalDtype):
            codes, ids = pd.factorize(frame[column])
            frame[column] = pd.Categorical.from_codes(codes, pd.Index(ids).astype(str))
    users, things = frame["user"].cat, frame["item"].cat

    unknown = np.array([name not in items for name in things.categories], dtype=np.bool_)
    rows.refuse(
        unknown[things.codes],
        lambda row: f"item {frame['item'].iloc[row]!r} is not in the catalogue",
    )
    ratings = frame["rating"].to_numpy()
    rows.refuse(
        (ratings < scale.low) | (ratings > scale.high),
        lambda row: f"rating {ratings[row]:g} is outside the scale {scale.low:g} to {scale.high:g}",
    )
    pairs = users.codes.to_numpy().astype(np.int64) * len(things.categories) + things.codes
    ordered = np.sort(pairs)
    if (ordered[1:] == ordered[:-1]).any():
        if repeats != "refuse":
            return _once(frame.assign(pair=pairs), repeats)
        rows.refuse(
            pd.Index(pairs).duplicated(),
            lambda row: (
                f"user {frame['user'].iloc[row]!r} has item {frame['item'].iloc[row]!r} again "
                f"(first at {rows.place(int((pairs == pairs[row]).argmax()))})"
                f"{remedy}"
            ),
        )
    return frame


def _once(frame: pd.DataFrame, repeats: Repeats) -> pd.DataFrame:
    latest = frame.sort_values("timestamp", kind="stable").drop_duplicates("pair", keep="last")
    if repeats == "count":
        latest["rating"] = latest["pair"].map(frame["pair"].value_counts()).astype("float64")
    return latest
