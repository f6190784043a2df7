"""The summary of a dataset, in a sentence."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

import pandas as pd

from pytest_recsys_mt.datasets.dataset import Dataset

_FIRST_DATE = 10**8
_LAST_DATE = 2.5e11
"""Unix seconds between these are shown as dates; the last is in the year 9892, and
`datetime` ends with 9999.
"""


def summary(path: Path, dataset: Dataset) -> str:
    """The summary of the data that were read: users, items, interactions,
    times, ratings, and titles that repeat.
    """
    frame = dataset.interactions
    scale = dataset.scale
    text = (
        f"{path.name} has {frame['user'].nunique():,} users, {len(dataset.items):,} items and {len(frame):,} "
        f"interactions, {_times_in_words(frame)}; {_ratings_in_words(frame)}, on the scale {scale.low:g} to "
        f"{scale.high:g}"
    )
    items_by_title = Counter(item.label for item in dataset.items.values())
    alike = sum(items for items in items_by_title.values() if items > 1)
    if alike:
        text += f"; {alike:,} items have the title of another, and a language model cannot tell them apart"
    return text


def _times_in_words(frame: pd.DataFrame) -> str:
    first = _day(int(frame["timestamp"].min()))
    last = _day(int(frame["timestamp"].max()))
    if first:
        return f"from {first} to {last}"
    if last:
        return f"until {last}"
    return "in the order of the file"


def _day(seconds: int) -> str:
    """The date of a time in Unix seconds; empty if it only orders the rows."""
    if not _FIRST_DATE < seconds < _LAST_DATE:
        return ""
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%d}"


def _ratings_in_words(frame: pd.DataFrame) -> str:
    ratings = frame["rating"]
    if ratings.nunique() > 1:
        return f"ratings from {ratings.min():g} to {ratings.max():g}"
    only = ratings.iloc[0]
    return "no ratings" if only == 1 else f"every rating is {only:g}"
