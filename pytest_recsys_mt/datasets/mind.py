"""MIND, news and impressions with clicks: tab separated files without header or quotes, as
https://github.com/msnews/msnews.github.io/blob/master/assets/doc/introduction.md describes them. A
folder with the training and the validation set is one dataset.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd

from pytest_recsys_mt.datasets.dataset import Dataset
from pytest_recsys_mt.datasets.impressions import CLICKS, Impressions, Lists, joined
from pytest_recsys_mt.datasets.loading import Format
from pytest_recsys_mt.datasets.rows import Rows, bare, read
from pytest_recsys_mt.errors import DataError
from pytest_recsys_mt.requests import Item

PARTS = ("train", "dev")
"""The published parts with labels, by the endings of their folders."""

TIME_FORMAT = "%m/%d/%Y %I:%M:%S %p"

_NEWS = bare(
    "\t",
    {
        "item": "id",
        "category": "text",
        "subcategory": "text",
        "title": "text",
        "abstract": "text",
        "url": "text",
        "title entities": "text",
        "abstract entities": "text",
    },
)
_BEHAVIORS = bare(
    "\t",
    {
        "impression": "integer",
        "user": "id",
        "time": "text",
        "history": "text",
        "impressions": "text",
    },
)


@dataclass(frozen=True)
class MindDataset(Dataset):
    """A dataset of clicks with the impressions that they come from, in the order of their files.

    `without` returns a plain `Dataset`: the impressions would reveal the held-out items.
    """

    impressions: Impressions = field(kw_only=True, repr=False)


def load(folder: Path, name: str) -> MindDataset:
    """Read a folder of this format, as `loading.Format` says; a file without labels is refused."""
    return _load([""], folder, name)


def _load(parts: Sequence[str], folder: Path, name: str) -> MindDataset:
    items: dict[str, Item] = {}
    for part in reversed(parts):
        items |= _catalogue(folder / part / "news.tsv")
    files = [folder / part / "behaviors.tsv" for part in parts]
    impressions = joined([_impressions(read(file, _BEHAVIORS), items) for file in files])
    clicks = _clicks(impressions)
    if clicks.empty:
        raise DataError(f"folder {str(folder)!r}: no impression or history has a click")
    return MindDataset(name, items, clicks, CLICKS, impressions=impressions)


def _catalogue(path: Path) -> dict[str, Item]:
    news = read(path, _NEWS)
    news.refuse_repeats("item")
    items = {}
    for key, category, subcategory, title, abstract, *_ in news.frame.itertuples(index=False):
        attributes: dict[str, object] = {
            "categories": tuple(filter(None, (category.strip(), subcategory.strip())))
        }
        if abstract.strip():
            attributes["abstract"] = abstract.strip()
        items[key] = Item(key, title.strip(), None, attributes)
    return items


def _impressions(rows: Rows, items: Mapping[str, Item]) -> Impressions:
    columns = {key: column for column, key in enumerate(items)}
    history, _ = _lists(rows, "history", columns, labelled=False)
    shown, clicked = _lists(rows, "impressions", columns, labelled=True)
    rows.refuse(np.diff(shown.starts) == 0, lambda row: "the impression shows nothing")
    return Impressions(
        items=tuple(items.values()),
        ids=rows.frame["impression"].to_numpy(dtype=np.int64),
        users=tuple(rows.frame["user"].tolist()),
        timestamps=_times(rows),
        history=history,
        shown=shown,
        clicked=clicked,
    )


def _times(rows: Rows) -> npt.NDArray[np.int64]:
    times = pd.to_datetime(rows.frame["time"], format=TIME_FORMAT, errors="coerce")
    rows.refuse(
        times.isna().to_numpy(),
        lambda row: (
            f"time is {rows.cell('time', row)!r}, not a time as in '11/15/2019 8:55:22 AM' "
            f"(month/day/year)"
        ),
    )
    return times.to_numpy(dtype="datetime64[s]").astype(np.int64)


def _lists(
    rows: Rows, column: str, columns: Mapping[str, int], *, labelled: bool
) -> tuple[Lists, npt.NDArray[np.bool_]]:
    """The lists of news in one column of the file, and the labels of their entries.

    Only distinct entries are parsed one by one: millions of entries name thousands of news.
    """
    entries = [text.split() for text in rows.frame[column].tolist()]
    starts = np.concatenate([[0], np.cumsum([len(entry) for entry in entries])]).astype(np.int64)
    codes, distinct = pd.factorize(np.array(list(chain.from_iterable(entries)), dtype=object))
    names, labels = [], []
    for entry in distinct:
        key, dash, label = entry.rpartition("-") if labelled else (entry, "-", "0")
        names.append(columns.get(key, -1) if dash and label in ("0", "1") else -1)
        labels.append(label == "1")
    known = np.array(names, dtype=np.int64)
    flat = known[codes]
    wrong = np.concatenate([[0], np.cumsum(flat < 0)])
    rows.refuse(
        wrong[starts[1:]] > wrong[starts[:-1]],
        lambda row: _refusal(
            str(distinct[codes[starts[row] :][flat[starts[row] :] < 0][0]]),
            column,
            columns,
            labelled,
        ),
    )
    return Lists(flat, starts), np.array(labels, dtype=np.bool_)[codes]


def _refusal(entry: str, column: str, columns: Mapping[str, int], labelled: bool) -> str:
    key, dash, label = entry.rpartition("-")
    if not labelled:
        return f"{column} names {entry!r}, which is not in news.tsv"
    if dash and label in ("0", "1"):
        return f"{column} name {key!r}, which is not in news.tsv"
    if entry in columns:
        return (
            f"{entry!r} has no label, as in the published test set; give the folder of the training "
            f"or the validation set"
        )
    return f"{entry!r} is not a news id with a label 0 or 1, as in 'N26703-1'"


def _clicks(impressions: Impressions) -> pd.DataFrame:
    """One row per user and clicked item, at the last click; those of a history have no time but
    their place in it.
    """
    users, names = pd.factorize(np.array(impressions.users, dtype=object))
    before, shown = impressions.history, impressions.shown
    lengths = np.diff(before.starts)
    places = np.arange(len(before.columns)) - np.repeat(before.starts[:-1], lengths)
    owners = np.repeat(users, np.diff(shown.starts))[impressions.clicked]
    times = np.repeat(impressions.timestamps, np.diff(shown.starts))[impressions.clicked]
    rows = pd.DataFrame(
        {
            "user": np.concatenate([np.repeat(users, lengths), owners]),
            "item": np.concatenate([before.columns, shown.columns[impressions.clicked]]),
            "timestamp": np.concatenate([places, times]),
        }
    )
    latest = rows.groupby(["user", "item"], as_index=False)["timestamp"].max()
    ids = np.array([item.id for item in impressions.items], dtype=object)
    return pd.DataFrame(
        {
            "user": names[latest["user"].to_numpy()],
            "item": ids[latest["item"].to_numpy()],
            "rating": CLICKS.high,
            "timestamp": latest["timestamp"],
        }
    )


FILES = ("news.tsv", "behaviors.tsv")
FORMATS = (
    Format("MIND", FILES, load),
    *(
        Format(
            f"MIND{size} with training and validation set",
            tuple(f"MIND{size}_{part}/{file}" for part in PARTS for file in FILES),
            partial(_load, [f"MIND{size}_{part}" for part in PARTS]),
        )
        for size in ("small", "large")
    ),
)
