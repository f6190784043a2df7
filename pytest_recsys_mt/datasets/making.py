"""Makes a `Dataset` of the content of files; an error names file and line."""

from __future__ import annotations

import re
from collections.abc import Container, Mapping
from typing import NoReturn

import numpy as np
import pandas as pd

from pytest_recsys_mt.datasets.content import Content
from pytest_recsys_mt.datasets.dataset import Dataset
from pytest_recsys_mt.datasets.dividing import Pairs, divided, once
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
    frame, pairs = _checked(rows, content.items, scale)
    is_repeated = _repeats(pairs)
    if is_repeated and repeats == "refuse":
        _refuse_repeats(rows, frame, pairs, remedy)
    if content.cut is not None:
        apart = divided(frame, pairs, content.cut, repeats, report)
        if is_repeated and repeats == "count":
            scale = Scale(0, float(apart.training["rating"].max()))
        return _dataset(name, content, apart.frame, scale, apart.withheld)
    kept = once(frame, pairs, repeats) if is_repeated else frame
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
    return _dataset(name, content, kept, scale)


def _dataset(
    name: str,
    content: Content,
    frame: pd.DataFrame,
    scale: Scale,
    withheld: Mapping[str, frozenset[str]] | None = None,
) -> Dataset:
    return Dataset(
        name,
        content.items,
        frame,
        scale,
        content.users,
        content.offered,
        content.family,
        thing=content.thing,
        withheld=withheld,
    )


def _checked(
    rows: Rows,
    items: Container[str],
    scale: Scale,
) -> tuple[pd.DataFrame, Pairs]:
    """The rows with ids as categories, and the number of each row's user and item;
    DataError for a wrong row.
    """
    frame = rows.frame.copy(deep=False)
    for column in ("user", "item"):
        if not isinstance(frame[column].dtype, pd.CategoricalDtype):
            codes, ids = pd.factorize(frame[column])
            texts = pd.Index(ids).astype(str)
            if not texts.is_unique:  # the number 1 of one file, the text of another
                codes, ids = pd.factorize(frame[column].astype(str))
                texts = pd.Index(ids)
            frame[column] = pd.Categorical.from_codes(codes, texts)
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
    return frame, user_codes * len(item_ids) + item_codes.to_numpy()


def _repeats(pairs: Pairs) -> bool:
    ordered = np.sort(pairs)
    return bool((ordered[1:] == ordered[:-1]).any())


def _refuse_repeats(
    rows: Rows,
    frame: pd.DataFrame,
    pairs: Pairs,
    remedy: str,
) -> NoReturn:
    """Raise for the first row that repeats a user and an item; `remedy` ends the text."""
    row = int(pd.Index(pairs).duplicated().argmax())
    first = int((pairs == pairs[row]).argmax())
    raise DataError(
        f"{str(rows.path)!r}, {rows.place(row)}: user {frame['user'].iloc[row]!r} has item "
        f"{frame['item'].iloc[row]!r} again (first at {rows.place(first)}){remedy}",
    )
