"""Last.fm of HetRec 2011, listening counts of artists, as
https://files.grouplens.org/datasets/hetrec2011/hetrec2011-lastfm-readme.txt describes
it. An interaction has the time of the user's latest tag for the artist after
`EARLIEST`, else 0.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd

from pytest_recsys_mt.datasets.catalogue import frequent_tags
from pytest_recsys_mt.datasets.content import Content, Format
from pytest_recsys_mt.datasets.delimited import read
from pytest_recsys_mt.datasets.delimited_text import Layout
from pytest_recsys_mt.datasets.options import Report
from pytest_recsys_mt.datasets.rows import Column, Rows
from pytest_recsys_mt.requests import Item, Scale

SCALE = Scale(1.0, 5.0)
EARLIEST = 1_009_843_200
"""2002-01-01 in Unix seconds: tags before Last.fm's start have no time."""


def _layout(*columns: Column, encoding: str = "utf-8", ragged: bool = False) -> Layout:
    return Layout(
        columns,
        separator="\t",
        encoding=encoding,
        quoted=False,
        ragged=ragged,
    )


_USER = Column("user", "integer", ("userid",))
_ARTIST = Column("item", "integer", ("artistid",))
_TAG = Column("tag", "integer", ("tagid",))
_COUNTS = _layout(_USER, _ARTIST, Column("count", "integer", ("weight",)))
_TAGGED = _layout(_USER, _ARTIST, _TAG, Column("timestamp", "integer"))
_DAY = ["year", "month", "day"]
_DATED = _layout(_USER, _ARTIST, _TAG, *(Column(name, "integer") for name in _DAY))
# Some artists have no picture, and no tab for it.
_ARTISTS = _layout(
    Column("item", "integer", ("id",)),
    Column("name", "text"),
    ragged=True,
)
_TAGS = _layout(_TAG, Column("text", "text", ("tagvalue",)), encoding="latin-1")


def read_folder(folder: Path, report: Report) -> Content:
    """The content of a folder in this format."""
    tagged = _tagged(folder)
    items = _artists(folder, tagged)
    counts = read(folder / "user_artists.dat", _COUNTS)
    plays = counts.frame["count"]
    counts.refuse(
        (plays <= 0).to_numpy(),
        lambda row: f"the listening count is {plays.iloc[row]}, not above 0",
    )
    ratings = quantile_ratings(counts.frame)
    times = _times(counts.frame, tagged)
    frame = counts.frame.assign(rating=ratings, timestamp=times)
    return Content(replace(counts, frame=frame), items, SCALE, "lastfm")


def _artists(folder: Path, tagged: Rows | None) -> dict[str, Item]:
    """The artists by id, with their most frequent tags;
    the first of them is their genre.
    """
    artists = read(folder / "artists.dat", _ARTISTS)
    artists.refuse_repeats("item")
    tags_by_artist = _tags_by_artist(folder, tagged)
    items = {}
    for number, name in artists.frame.itertuples(index=False):
        key = str(number)
        tags = tags_by_artist.get(key, ())
        attributes = {"tags": tags, "genres": tags[:1]} if tags else {}
        items[key] = Item(key, name.strip(), None, attributes)
    return items


def _tags_by_artist(folder: Path, tagged: Rows | None) -> dict[str, tuple[str, ...]]:
    path = folder / "tags.dat"
    if tagged is None or not path.exists():
        return {}
    texts = read(path, _TAGS)
    texts.refuse_repeats("tag")
    with_texts = tagged.frame[["item", "tag"]].merge(texts.frame, on="tag")
    return frequent_tags(with_texts.assign(tag=with_texts["text"]))


def quantile_ratings(counts: pd.DataFrame) -> pd.Series[float]:
    """The user's own fifth that each count falls into, from 1 to 5, as levels differ by
    user.

    It is ceil(5 r / n) for the r of the user's n artists that were played at most as
    often.

    Args:
        counts: The columns ``user`` and ``count``, one row for each artist of a user.
    """
    groups = counts.groupby("user")["count"]
    rank = groups.rank(method="max").astype("int64")
    size = groups.transform("size").astype("int64")
    return ((5 * rank + size - 1) // size).astype("float64")


def _tagged(folder: Path) -> Rows | None:
    """Who gave an artist which tag, with times in
    milliseconds; None if the folder has no such file.
    """
    timed = folder / "user_taggedartists-timestamps.dat"
    dated = folder / "user_taggedartists.dat"
    if timed.exists():
        return read(timed, _TAGGED)
    if not dated.exists():
        return None
    rows = read(dated, _DATED)
    days = pd.to_datetime(rows.frame[_DAY], errors="coerce")
    rows.refuse(
        days.isna().to_numpy(),
        lambda row: f"{'-'.join(map(str, rows.frame[_DAY].iloc[row]))} is no day",
    )
    since = (days - pd.Timestamp(0)) // pd.Timedelta(milliseconds=1)
    return replace(rows, frame=rows.frame.assign(timestamp=since))


def _times(counts: pd.DataFrame, tags: Rows | None) -> npt.NDArray[np.int64]:
    if tags is None:
        return np.zeros(len(counts), dtype=np.int64)
    seconds = tags.frame["timestamp"] // 1000
    tagged = tags.frame.assign(timestamp=seconds)
    tagged = tagged[tagged["timestamp"] >= EARLIEST]
    latest = tagged.groupby(["user", "item"])["timestamp"].max()
    pairs = pd.MultiIndex.from_frame(counts[["user", "item"]])
    return latest.reindex(pairs, fill_value=0).to_numpy()


FORMATS = (
    Format(
        "Last.fm of HetRec 2011",
        ("user_artists.dat", "artists.dat"),
        read_folder,
        "https://files.grouplens.org/datasets/hetrec2011/hetrec2011-lastfm-readme.txt",
    ),
)
