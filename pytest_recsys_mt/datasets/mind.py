"""MIND, news and impressions with clicks: tab separated files without header or quotes,
as https://github.com/msnews/msnews.github.io/blob/master/assets/doc/introduction.md
describes them. A folder with the training and the validation set is one dataset.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd

from pytest_recsys_mt.datasets.content import Content, Format
from pytest_recsys_mt.datasets.delimited import read
from pytest_recsys_mt.datasets.delimited_text import Layout
from pytest_recsys_mt.datasets.options import Report
from pytest_recsys_mt.datasets.rows import Column, Kind, Rows, joined
from pytest_recsys_mt.datasets.times import unix_seconds
from pytest_recsys_mt.requests import Item, Scale
from pytest_recsys_mt.safety.errors import DataError

CLICKS = Scale(0, 1)
"""The scale of clicks: 1 is a click."""
PARTS = ("train", "dev")
"""The published parts with labels, by the endings of their folders."""
LEAST = 10
"""Items that an impression shows at least, to be a user's candidates: of two or three
items, most orders agree.
"""
TIME_FORMAT = "%m/%d/%Y %I:%M:%S %p"


def _layout(**columns: Kind) -> Layout:
    listed = tuple(Column(name, kind) for name, kind in columns.items())
    return Layout(listed, "\t", header=False, quoted=False)


_NEWS = _layout(
    item="id",
    category="text",
    subcategory="text",
    title="text",
    abstract="text",
    url="text",
    entities="text",
    abstract_entities="text",
)
_BEHAVIORS = _layout(
    impression="integer",
    user="id",
    time="text",
    history="text",
    impressions="text",
)


def _read(parts: Sequence[str], folder: Path, report: Report) -> Content:
    """The content of a folder in this format; a file without labels is refused.

    A user's candidates are the news that the impression of the latest click showed, in
    its order, unless it showed less than `LEAST`.
    """
    items: dict[str, Item] = {}
    for part in reversed(
        parts,
    ):  # of news in several parts, the row of the first counts
        items |= _catalogue(folder / part / "news.tsv")
    files = [read(folder / part / "behaviors.tsv", _BEHAVIORS) for part in parts]
    frames = []
    for rows in files:
        times = unix_seconds(rows, "time", TIME_FORMAT, report)
        frames.append(_history(rows, items))
        frames.append(_shown(rows, items, times))
    entries = pd.concat(frames, ignore_index=True)
    clicks = entries[entries["clicked"]]
    if clicks.empty:
        raise DataError(f"folder {str(folder)!r}: no impression or history has a click")
    latest = clicks.groupby(["user", "item"], as_index=False)["timestamp"].max()
    latest = latest.assign(rating=1.0)
    rows_of_all = joined(folder, files)
    clicked_rows = Rows(folder, latest, rows_of_all.place)
    return Content(clicked_rows, items, CLICKS, offered=_offered(entries, items))


def _catalogue(path: Path) -> dict[str, Item]:
    news = read(path, _NEWS)
    news.refuse_repeats("item")
    items = {}
    for key, category, subcategory, title, abstract, *_ in news.frame.itertuples(
        index=False,
    ):
        names = (category.strip(), subcategory.strip())
        categories = tuple(name for name in names if name)
        attributes: dict[str, object] = {"categories": categories}
        if abstract.strip():
            attributes["abstract"] = abstract.strip()
        items[key] = Item(key, title.strip(), None, attributes)
    return items


def _entries(rows: Rows, column: str) -> pd.DataFrame:
    """One row for each entry of a column of lists: ``user``, ``entry``, its ``row`` in
    the file, its ``place`` in the list.
    """
    listed = rows.frame[column].str.split()
    lists = pd.DataFrame({"user": rows.frame["user"], "entry": listed})
    entries = lists.explode("entry").dropna()
    places = entries.groupby(level=0).cumcount()
    return entries.assign(row=entries.index, place=places).reset_index(drop=True)


def _history(rows: Rows, items: Mapping[str, Item]) -> pd.DataFrame:
    """The clicks of the histories; they have no times, so
    their places in the history stand for them.
    """
    entries = _entries(rows, "history").rename(
        columns={"entry": "item", "place": "timestamp"},
    )
    is_unknown = ~entries["item"].isin(list(items))
    wrong_rows = entries["row"][is_unknown]

    def why(row: int) -> str:
        unknown = [key for key in rows.cell("history", row).split() if key not in items]
        return f"history names {unknown[0]!r}, which is not in news.tsv"

    rows.refuse(rows.frame.index.isin(wrong_rows), why)
    return entries.assign(clicked=True, shown=-1)


def _shown(
    rows: Rows,
    items: Mapping[str, Item],
    times: npt.NDArray[np.int64],
) -> pd.DataFrame:
    """The news that impressions show; ``shown`` is the number of the impression."""
    entries = _entries(rows, "impressions")
    # Only distinct entries are parsed one by one: millions of entries name thousands of
    # news.
    codes, distinct = pd.factorize(entries["entry"])
    parts = pd.Series(distinct).str.rpartition("-")
    news = parts[0]
    dash = parts[1]
    label = parts[2]
    is_sound = dash.eq("-") & label.isin(["0", "1"]) & news.isin(list(items))
    wrong_rows = entries["row"][~is_sound.to_numpy()[codes]]
    index = rows.frame.index
    is_empty = ~index.isin(entries["row"])
    rows.refuse(
        is_empty | index.isin(wrong_rows),
        lambda row: _refusal(rows.cell("impressions", row).split(), items),
    )
    impression = entries["row"].to_numpy()
    return entries.assign(
        item=news.to_numpy()[codes],
        clicked=label.eq("1").to_numpy()[codes],
        timestamp=times[impression],
        shown=impression,
    )


def _refusal(entries: Sequence[str], items: Mapping[str, Item]) -> str:
    """Why the entries of an impression are refused."""
    for entry in entries:
        key, dash, label = entry.rpartition("-")
        if entry in items:
            return (
                f"{entry!r} has no label, as in the published test set; give the folder of the training "
                f"or the validation set"
            )
        if not dash or label not in ("0", "1"):
            return f"{entry!r} is not a news id with a label 0 or 1, as in 'N26703-1'"
        if key not in items:
            return f"impressions name {key!r}, which is not in news.tsv"
    return "the impression shows nothing"


def _offered(
    frame: pd.DataFrame,
    items: Mapping[str, Item],
) -> dict[str, tuple[Item, ...]]:
    shown = frame[frame["shown"] >= 0]
    clicked = shown[shown["clicked"]].sort_values("timestamp", kind="stable")
    latest = clicked.drop_duplicates("user", keep="last")[
        ["user", "timestamp", "shown"]
    ]
    shown_with_it = shown.merge(latest).drop_duplicates(["user", "item"])
    offered = {}
    for user, listed in shown_with_it.groupby("user")["item"]:
        if len(listed) >= LEAST:
            offered[str(user)] = tuple(items[key] for key in listed)
    return offered


SOURCE = (
    "https://github.com/msnews/msnews.github.io/blob/master/assets/doc/introduction.md"
)
FILES = ("news.tsv", "behaviors.tsv")


def _format_of_parts(size: str) -> Format:
    """The format of a folder that holds the published parts
    of one size, each in its own folder.
    """
    folders = [f"MIND{size}_{part}" for part in PARTS]
    files = tuple(f"{folder}/{file}" for folder in folders for file in FILES)
    name = f"MIND{size} with training and validation set"
    return Format(name, files, partial(_read, folders), SOURCE)


FORMATS = (
    Format("MIND", FILES, partial(_read, [""]), SOURCE),
    _format_of_parts("small"),
    _format_of_parts("large"),
)
