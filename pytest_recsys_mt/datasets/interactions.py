"""Makes a `Dataset` of what the files of any format hold; each error names file and line."""

from __future__ import annotations

from collections.abc import Container
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from pytest_recsys_mt.datasets.dataset import Dataset
from pytest_recsys_mt.datasets.loading import Repeats, Told
from pytest_recsys_mt.datasets.reading import Content
from pytest_recsys_mt.datasets.rows import Rows
from pytest_recsys_mt.requests import Scale


def made(name: str, content: Content, repeats: Repeats, told: Told) -> Dataset:
    """The dataset; `told` hears of rows that repeat a user and an item.

    Raises:
        DataError: As `checked`.
    """
    rows, scale = content.rows, content.scale
    rated = rows.frame["rating"].nunique() > 1
    remedy = f"; --recsys-repeats=latest{'' if rated else ' or count'} allows this"
    if repeats == "count" and rated:
        repeats = "refuse"  # a count would replace what users said
        remedy = "; --recsys-repeats=count cannot stand beside a column of ratings: choose latest, or take it out"
    kept = checked(rows, content.items, scale, repeats, remedy)
    if dropped := len(rows.frame) - len(kept):
        verb = "repeat" if dropped > 1 else "repeats"
        how = "the latest of each is kept" if repeats == "latest" else "their number is the rating"
        told(
            f"of {len(rows.frame):,} interactions {dropped:,} {verb} a user and an item; {how} (--recsys-repeats)"
        )
        if repeats == "count":
            scale = Scale(0, float(kept["rating"].max()))
    return Dataset(name, content.items, kept, scale, content.users, content.offered, content.family)


def summary(path: Path, dataset: Dataset) -> str:
    """What was read, in a sentence."""
    frame, scale = dataset.interactions, dataset.scale
    ratings = f"ratings from {frame['rating'].min():g} to {frame['rating'].max():g}"
    if frame["rating"].nunique() == 1:
        only = frame["rating"].iloc[0]
        ratings = "no ratings" if only == 1 else f"every rating is {only:g}"
    first, last = (_day(int(at)) for at in (frame["timestamp"].min(), frame["timestamp"].max()))
    times = (
        f"from {first} to {last}"
        if first
        else f"until {last}"
        if last
        else "in the order of the file"
    )
    return (
        f"{path.name} has {frame['user'].nunique():,} users, {len(dataset.items):,} items and {len(frame):,} "
        f"interactions, {times}; {ratings}, on the scale {scale.low:g} to {scale.high:g}"
    )


def _day(seconds: int) -> str:
    """The day of a time; empty for what are numbers of rows, and what is after the year 9999."""
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%d}" if 10**8 < seconds < 2.5e11 else ""


def checked(
    rows: Rows, items: Container[str], scale: Scale, repeats: Repeats, remedy: str
) -> pd.DataFrame:
    """The interactions of a file without repeats, ready for a `Dataset`: users and items are
    categoricals of their ids as text.

    `remedy` is the end of the error about the first repeat.

    Raises:
        DataError: For the first row that names an item outside the catalogue, has a rating off the
            scale, or repeats a user and an item that is refused; the text names the file and the
            line.
    """
    frame = rows.frame.copy(deep=False)
    for column in ("user", "item"):
        frame[column] = _categories(frame[column])
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
    """The latest row of each pair; of equal times, the last one of the file."""
    latest = frame.sort_values("timestamp", kind="stable").drop_duplicates("pair", keep="last")
    if repeats == "count":
        latest["rating"] = latest["pair"].map(frame["pair"].value_counts()).astype("float64")
    return latest


def _categories(series: pd.Series[Any]) -> pd.Series[Any]:
    if isinstance(series.dtype, pd.CategoricalDtype):
        return series
    codes, uniques = pd.factorize(series)
    return pd.Series(pd.Categorical.from_codes(codes, pd.Index(uniques).astype(str)))
