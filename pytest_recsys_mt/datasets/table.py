"""Any table of interactions, and a catalogue beside it; ``docs/how-to/bring-data.md`` describes
both.
"""

from collections.abc import Callable, Hashable, Mapping
from pathlib import Path

import numpy as np

from pytest_recsys_mt.datasets import films, parquet
from pytest_recsys_mt.datasets.dataset import Dataset
from pytest_recsys_mt.datasets.interactions import checked
from pytest_recsys_mt.datasets.loading import Repeats
from pytest_recsys_mt.datasets.rows import Column, Layout, Rows, head, normal, read
from pytest_recsys_mt.errors import DataError
from pytest_recsys_mt.requests import Item, Scale

SCALES = (
    Scale(0, 1),
    Scale(1, 5),
    Scale(0.5, 5),
    Scale(0, 5),
    Scale(1, 7),
    Scale(1, 10),
    Scale(0, 10),
    Scale(0, 100),
)
"""The usual rating scales, in the order of trial."""
LISTS = ("genres", "directors", "cast", "tags", "categories")
"""Attributes that hold several values, between bars: ``Comedy|Drama``."""
SPELLED = {
    "genre": "genres",
    "director": "directors",
    "category": "categories",
    "color": "colour",
    "imagedescription": "image_description",
}
"""Attributes by their possible headers, without spaces, hyphens and underscores."""
SEPARATORS = {".csv": ",", ".tsv": "\t"}

_USERS = ("user", "userid", "uid", "customerid", "reviewerid")
_ITEMS = ("item", "itemid", "iid", "movieid", "movie", "productid", "artistid", "asin")
_TIMES = ("timestamp", "time", "date", "datetime", "unixtime", "unixreviewtime")
_INTERACTIONS = (
    Column("user", "id", _USERS),
    Column("item", "id", _ITEMS),
    Column("rating", "number", ("rating", "score", "stars", "overall"), required=False),
    Column("timestamp", "time", _TIMES, required=False),
)
_CATALOGUE = (
    Column("item", "id", ("id", *_ITEMS)),
    Column("title", "text", ("title", "name"), required=False),
    Column("year", "text", ("year",), required=False),
)


def load(
    path: Path,
    name: str,
    repeats: Repeats = "latest",
    told: Callable[[str], None] = lambda _: None,
) -> Dataset:
    """Read a table, and the catalogue beside it; `told` hears of rows that repeat a user and an
    item.

    Raises:
        DataError: If a file is wrong; the text names the file and the line (for Parquet, the row).
    """
    rows = _read(path, _INTERACTIONS)
    frame = rows.frame
    rated = "rating" in frame
    remedy = f"; --recsys-repeats=latest{'' if rated else ' or count'} allows this"
    if repeats == "count" and rated:
        repeats = "refuse"  # a count would replace what users said
        remedy = "; --recsys-repeats=count cannot stand beside a column of ratings: choose latest, or take it out"
    if not rated:
        frame["rating"] = 1.0
    if "timestamp" not in frame:
        frame["timestamp"] = np.arange(len(frame))
    catalogue = _beside(path)
    if catalogue is None:
        items = {key: Item(key, key) for key in sorted(map(str, frame["item"].unique()))}
    else:
        items = _catalogue(catalogue)
    scale = _scale(rows)
    kept = checked(rows, items, scale, repeats, remedy)
    if dropped := len(frame) - len(kept):
        verb = "repeat" if dropped > 1 else "repeats"
        how = "the latest of each is kept" if repeats == "latest" else "their number is the rating"
        told(
            f"of {len(frame):,} interactions {dropped:,} {verb} a user and an item; {how} (--recsys-repeats)"
        )
        if repeats == "count":
            scale = Scale(0, float(kept["rating"].max()))
    return Dataset(name, items, kept, scale)


def _read(path: Path, columns: tuple[Column, ...]) -> Rows:
    if path.suffix.lower() == ".parquet":
        return parquet.read(path, columns)
    return read(path, Layout(columns, separator=_separator(path)))


def _separator(path: Path) -> str:
    try:
        return SEPARATORS[path.suffix.lower()]
    except KeyError:
        raise DataError(
            f"{str(path)!r}: a table ends in .csv, .tsv or .parquet, not in {path.suffix!r}"
        ) from None


def _scale(rows: Rows) -> Scale:
    ratings, widest = rows.frame["rating"].to_numpy(), SCALES[-1]
    known = ", ".join(f"{scale.low:g} to {scale.high:g}" for scale in SCALES)
    rows.refuse(
        (ratings < widest.low) | (ratings > widest.high),
        lambda row: (
            f"rating {ratings[row]:g} is outside all usual scales ({known}); convert the column to "
            f"one of them"
        ),
    )
    low, high = ratings.min(), ratings.max()
    return next(scale for scale in SCALES if scale.low <= low and high <= scale.high)


def _beside(path: Path) -> Path | None:
    for stem in (f"{path.stem}.items", "items", "catalogue", "catalog"):
        for suffix in (*SEPARATORS, ".parquet"):
            catalogue = path.with_name(stem + suffix)
            if catalogue != path and catalogue.is_file():
                return catalogue
    return None


def _catalogue(path: Path) -> dict[str, Item]:
    if path.suffix.lower() == ".parquet":
        header = parquet.header(path)
    else:
        header, _ = head(path, Layout((), separator=_separator(path)))
    taken = {alias for column in _CATALOGUE for alias in column.aliases}
    others = dict.fromkeys(normal(name) for name in header if normal(name) not in taken)
    rows = _read(path, (*_CATALOGUE, *(Column(name, "text", (name,)) for name in others)))
    rows.refuse_repeats("item")
    if "year" in rows.frame:
        years = rows.frame["year"]
        rows.refuse(
            ~years.str.fullmatch(r"(\d{1,4}(\.0)?)?").to_numpy(dtype=bool),
            lambda row: f"year is {years.iloc[row]!r}, not a year",
        )
    cells = rows.frame.astype(str).to_dict("records")
    names = {
        other: SPELLED[other] if other in SPELLED and SPELLED[other] not in others else other
        for other in others
    }
    return {row["item"]: _item(row, names, path.parent) for row in cells}


def _item(row: Mapping[Hashable, str], names: Mapping[str, str], folder: Path) -> Item:
    title = row.get("title") or row["item"]
    if "year" in row:
        year = int(float(row["year"])) if row["year"] else None
    else:
        title, year = films.split_title(title)
    attributes = {
        name: _attribute(name, row[column], folder) for column, name in names.items() if row[column]
    }
    return Item(row["item"], title, year, attributes)


def _attribute(name: str, text: str, folder: Path) -> str | tuple[str, ...]:
    if name == "image" and not text.startswith("data:"):
        return str((folder / text).resolve())
    if name not in LISTS:
        return text
    return films.split_genres(text)
