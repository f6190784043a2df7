"""MIND, news and impressions with clicks: tab separated files without header or quotes, as
https://github.com/msnews/msnews.github.io/blob/master/assets/doc/introduction.md describes them. A
folder with the training and the validation set is one dataset.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd

from pytest_recsys_mt.datasets.delimited import Layout, read
from pytest_recsys_mt.datasets.loading import Format, Told
from pytest_recsys_mt.datasets.reading import Content
from pytest_recsys_mt.datasets.rows import Column, Kind, Rows, joined
from pytest_recsys_mt.datasets.times import unix_seconds
from pytest_recsys_mt.errors import DataError
from pytest_recsys_mt.requests import Item, Scale

CLICKS = Scale(0, 1)
"""The scale of clicks: 1 is a click."""
PARTS = ("train", "dev")
"""The published parts with labels, by the endings of their folders."""
LEAST = 10
"""Items that an impression shows at least, to be a user's candidates: of two or three items, most orders agree."""
TIME_FORMAT = "%m/%d/%Y %I:%M:%S %p"


def _layout(**columns: Kind) -> Layout:
    listed = tuple(Column(name, kind) for name, kind in columns.items())
    return Layout(listed, "\t", header=False, quoted=False)


_NEWS = _layout(
    item="id", category="text", subcategory="text", title="text", abstract="text", url="text", entities="text",
    abstract_entities="text",
)  # fmt: skip
_BEHAVIORS = _layout(
    impression="integer", user="id", time="text", history="text", impressions="text"
)


def _read(parts: Sequence[str], folder: Path, told: Told) -> Content:
    """What a folder of this format holds; a file without labels is refused. A user's candidates are what the impression
    of the latest click showed, in its order, unless it showed less than `LEAST`.
    """
    items: dict[str, Item] = {}
    for part in reversed(parts):
        items |= _catalogue(folder / part / "news.tsv")
    files = [read(folder / part / "behaviors.tsv", _BEHAVIORS) for part in parts]
    frames = []
    for rows in files:
        times = unix_seconds(rows, "time", TIME_FORMAT, told)
        frames += [_history(rows, items), _shown(rows, items, times)]
    frame = pd.concat(frames, ignore_index=True)
    clicks = frame[frame["clicked"]]
    if clicks.empty:
        raise DataError(f"folder {str(folder)!r}: no impression or history has a click")
    latest = clicks.groupby(["user", "item"], as_index=False)["timestamp"].max().assign(rating=1.0)
    whole = joined(folder, files)
    return Content(Rows(folder, latest, whole.place), items, CLICKS, offered=_offered(frame, items))


def _catalogue(path: Path) -> dict[str, Item]:
    news = read(path, _NEWS)
    news.refuse_repeats("item")
    items = {}
    for key, category, subcategory, title, abstract, *_ in news.frame.itertuples(index=False):
        categories = tuple(filter(None, (category.strip(), subcategory.strip())))
        attributes: dict[str, object] = {"categories": categories}
        if abstract.strip():
            attributes["abstract"] = abstract.strip()
        items[key] = Item(key, title.strip(), None, attributes)
    return items


def _entries(rows: Rows, column: str) -> pd.DataFrame:
    lists = pd.DataFrame({"user": rows.frame["user"], "entry": rows.frame[column].str.split()})
    entries = lists.explode("entry").dropna()
    places = entries.groupby(level=0).cumcount()
    return entries.assign(row=entries.index, place=places).reset_index(drop=True)


def _history(rows: Rows, items: Mapping[str, Item]) -> pd.DataFrame:
    found = _entries(rows, "history").rename(columns={"entry": "item", "place": "timestamp"})
    unknown = found["row"][~found["item"].isin(list(items))]
    rows.refuse(
        rows.frame.index.isin(unknown),
        lambda row: (
            f"history names {next(key for key in rows.cell('history', row).split() if key not in items)!r}, "
            f"which is not in news.tsv"
        ),
    )
    return found.assign(clicked=True, shown=-1)


def _shown(rows: Rows, items: Mapping[str, Item], times: npt.NDArray[np.int64]) -> pd.DataFrame:
    found = _entries(rows, "impressions")
    # Only distinct entries are parsed one by one: millions of entries name thousands of news.
    codes, distinct = pd.factorize(found["entry"])
    parts = pd.Series(distinct).str.rpartition("-")
    sound = parts[1].eq("-") & parts[2].isin(["0", "1"]) & parts[0].isin(list(items))
    wrong = found["row"][~sound.to_numpy()[codes]]
    index = rows.frame.index
    rows.refuse(
        ~index.isin(found["row"]) | index.isin(wrong),
        lambda row: _refusal(rows.cell("impressions", row).split(), items),
    )
    number = found["row"].to_numpy()
    return found.assign(
        item=parts[0].to_numpy()[codes],
        clicked=parts[2].eq("1").to_numpy()[codes],
        timestamp=times[number],
        shown=number,
    )


def _refusal(entries: Sequence[str], items: Mapping[str, Item]) -> str:
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


def _offered(frame: pd.DataFrame, items: Mapping[str, Item]) -> dict[str, tuple[Item, ...]]:
    shown = frame[frame["shown"] >= 0]
    clicked = shown[shown["clicked"]].sort_values("timestamp", kind="stable")
    latest = clicked.drop_duplicates("user", keep="last")[["user", "timestamp", "shown"]]
    offered = shown.merge(latest).drop_duplicates(["user", "item"])
    return {
        str(user): tuple(items[key] for key in listed)
        for user, listed in offered.groupby("user")["item"]
        if len(listed) >= LEAST
    }


SOURCE = "https://github.com/msnews/msnews.github.io/blob/master/assets/doc/introduction.md"
FILES = ("news.tsv", "behaviors.tsv")
FORMATS = (
    Format("MIND", FILES, partial(_read, [""]), SOURCE),
    *(
        Format(
            f"MIND{size} with training and validation set",
            tuple(f"MIND{size}_{part}/{file}" for part in PARTS for file in FILES),
            partial(_read, [f"MIND{size}_{part}" for part in PARTS]),
            SOURCE,
        )
        for size in ("small", "large")
    ),
)
