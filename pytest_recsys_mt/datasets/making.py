"""Makes a `Dataset` of the content of files; an error names file and line."""

from __future__ import annotations

import re
from collections.abc import Container

import numpy as np
import pandas as pd

from pytest_recsys_mt.datasets.content import Content
from pytest_recsys_mt.datasets.dataset import Dataset
from pytest_recsys_mt.datasets.options import Repeats, Report
from pytest_recsys_mt.datasets.rows import Rows
from pytest_recsys_mt.requests import Scale
from pytest_recsys_mt.safety.errors import DataError


def made(name: str, content: Content, repeats: Repeats, report: Report) -> Dataset:
    """Make a dataset of the content of files.

    Args:
        name: The dataset's name.
        content: The content of the files.
        repeats: The treatment of rows that repeat a user and an item.
        report: Called with a note if there are such rows.

    Raises:
        DataError: For the first row that names an item outside the catalogue, has a
            rating off the scale, or repeats a user and an item that is refused; the
            text names the file and the line.
    """
    rows = content.rows
    scale = content.scale
    if content.thing and not re.fullmatch(r"[\w'’ -]{1,40}", content.thing):
        raise DataError(
            f"thing={content.thing!r} is no word for an item, such as 'book'",
        )
    has_ratings = rows.frame["rating"].nunique() > 1
    choices = "latest" if has_ratings else "latest or count"
    remedy = f"; -o recsys_repeats={choices} allows this"
    if repeats == "count" and has_ratings:
        repeats = "refuse"  # a count would replace the ratings of users
        remedy = "; -o recsys_repeats=count cannot stand beside a column of ratings: choose latest, or take it out"
    kept = _checked(rows, content.items, scale, repeats, remedy)
    dropped = len(rows.frame) - len(kept)
    if dropped:
        verb = "repeat" if dropped > 1 else "repeats"
        how = (
            "the latest of each is kept"
            if repeats == "latest"
            else "their number is the rating"
        )
        report(
            f"of {len(rows.frame):,} interactions {dropped:,} {verb} a user and an item; {how} (recsys_repeats)",
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


def _checked(
    rows: Rows,
    items: Container[str],
    scale: Scale,
    repeats: Repeats,
    remedy: str,
) -> pd.DataFrame:
    """The rows with ids as categories, each user and item once; DataError for a wrong
    row.

    `remedy` ends the error text for a repeated pair of user and item.
    """
    frame = rows.frame.copy(deep=False)
    for column in ("user", "item"):
        if not isinstance(frame[column].dtype, pd.CategoricalDtype):
            codes, ids = pd.factorize(frame[column])
            frame[column] = pd.Categorical.from_codes(codes, pd.Index(ids).astype(str))
    user_codes = frame["user"].cat.codes.to_numpy().astype(np.int64)
    item_codes = frame["item"].cat.codes
    item_ids = frame["item"].cat.categories

    is_unknown = np.array([item not in items for item in item_ids], dtype=np.bool_)
    rows.refuse(
        is_unknown[item_codes],
        lambda row: f"item {frame['item'].iloc[row]!r} is not in the catalogue",
    )
    ratings = frame["rating"].to_numpy()
    rows.refuse(
        (ratings < scale.low) | (ratings > scale.high),
        lambda row: (
            f"rating {ratings[row]:g} is outside the scale {scale.low:g} to {scale.high:g}"
        ),
    )
    # One number for each pair of user and item; to sort numbers is cheaper than to
    # group by two columns.
    pairs = user_codes * len(item_ids) + item_codes
    ordered = np.sort(pairs)
    if not (ordered[1:] == ordered[:-1]).any():
        return frame
    if repeats != "refuse":
        return _once(frame.assign(pair=pairs), repeats)

    def why(row: int) -> str:
        first = int((pairs == pairs[row]).argmax())
        return (
            f"user {frame['user'].iloc[row]!r} has item {frame['item'].iloc[row]!r} again "
            f"(first at {rows.place(first)})"
            f"{remedy}"
        )

    row = int(pd.Index(pairs).duplicated().argmax())
    raise DataError(f"{str(rows.path)!r}, {rows.place(row)}: {why(row)}")


def _once(frame: pd.DataFrame, repeats: Repeats) -> pd.DataFrame:
    """The latest row of each pair; with `repeats` count, its
    rating is the number of the pair's rows.
    """
    latest = frame.sort_values("timestamp", kind="stable").drop_duplicates(
        "pair",
        keep="last",
    )
    if repeats == "count":
        rows_by_pair = frame["pair"].value_counts()
        latest["rating"] = latest["pair"].map(rows_by_pair).astype("float64")
    return latest
