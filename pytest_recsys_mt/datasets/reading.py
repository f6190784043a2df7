"""Reads files as a description says: interactions, items, users."""

from __future__ import annotations

import contextlib
import html
import re
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from pytest_recsys_mt.datasets import delimited, films, json_lines, parquet
from pytest_recsys_mt.datasets.description import Description, Part
from pytest_recsys_mt.datasets.joins import JOINS
from pytest_recsys_mt.datasets.loading import Told
from pytest_recsys_mt.datasets.packed import stem, suffix
from pytest_recsys_mt.datasets.rows import Rows, joined
from pytest_recsys_mt.datasets.times import unix_seconds
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
LISTS = ("genres", "directors", "cast", "tags", "categories", "authors")
"""Attributes that hold several values, between bars: ``Comedy|Drama``."""
TEXT = (".csv", ".tsv", ".txt", ".dat", ".data", ".inter", ".item", ".user")
"""Endings of delimited files."""
ODD = 0.05
"""The share of ids that are unlike the others up to which they are told of."""
MISSING = frozenset({"NULL", "null", "\\N", "nan", "NaN", "NA", "N/A", "#N/A", "None"})
"""What tools write where there is no value; it may be an id, too."""
_NO_YEAR = frozenset({"", "0", "0.0", "NULL", "None", "nan"})
_MARKUP = re.compile(r"<[^>]*>")


@dataclass(frozen=True)
class Content:
    """What the files of a format hold."""

    rows: Rows  # user, item, rating, timestamp
    items: Mapping[str, Item]  # by id
    scale: Scale
    family: str = ""
    users: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    offered: Mapping[str, tuple[Item, ...]] = field(default_factory=dict)


def read(form: Description, folder: Path, told: Told) -> Content:
    """What a folder in a described format holds.

    Raises:
        DataError: If a file is wrong; the text names the file and the line (for Parquet, the row).
    """
    rows, facts = interactions(form.interactions.paths(folder), form.interactions, folder, told)
    scale = Scale(*form.interactions.scale) if form.interactions.scale else usual_scale(rows)
    paths = form.items.paths(folder) if form.items else []
    if form.items is not None and paths:
        listed = catalogue_of(paths, form.items, folder, told, rows)
    else:
        listed = named_by_ids(rows, told)
    items: Mapping[str, Item] = {
        key: _with_facts(item, facts.get(key)) for key, item in listed.items()
    }
    items = _with_tags(items, form.tags, folder)
    for join in form.joins:
        if join not in JOINS:
            raise DataError(f"joins has {join!r}, and knows {', '.join(JOINS)}")
        items = JOINS[join](items, folder)
    users = users_of(form.users, folder) if form.users is not None else {}
    return Content(rows, items, scale, form.family, users)


def table(
    paths: Sequence[Path], part: Part, folder: Path, wanted: Container[str] | None = None
) -> Rows:
    """The files of a part, as one table; of JSON only the records of `wanted` items."""
    return joined(folder, [_table(path, part, wanted) for path in paths])


def _table(path: Path, part: Part, wanted: Container[str] | None) -> Rows:
    columns = part.layout
    ending = suffix(path)
    if ending in parquet.SUFFIXES:
        return parquet.read(path, columns)
    if ending in json_lines.SUFFIXES:
        return json_lines.read(path, columns, part.each, wanted)
    return delimited.read(path, layout_of(path, part))


def layout_of(path: Path, part: Part) -> delimited.Layout:
    """The layout of a delimited file; DataError if its ending is none of a table."""
    if not part.file and suffix(path) not in TEXT:
        raise DataError(
            f"{str(path)!r}: a table ends in {', '.join((*TEXT, *json_lines.SUFFIXES))} or "
            f"{parquet.SUFFIXES[0]}, not in {suffix(path)!r}"
        )
    return delimited.Layout(
        part.layout,
        part.sep,
        not part.columns,
        part.encoding,
        part.quoted,
        part.escape,
        ragged=part.ragged,
    )


def interactions(
    paths: Sequence[Path], part: Part, folder: Path, told: Told
) -> tuple[Rows, dict[str, Item]]:
    """The interactions of some files, and items with the facts that stand beside them."""
    rows = table(paths, part, folder)
    for column, values in part.keep.items():
        rows = rows.only(rows.frame[column].astype(str).isin(list(values)).to_numpy())
    if part.unrated and "rating" in rows.frame:
        before = len(rows.frame)
        rows = rows.only(~rows.frame["rating"].isin(list(part.unrated)).to_numpy())
        if dropped := before - len(rows.frame):
            none = " or ".join(f"{value:g}" for value in part.unrated)
            rows_are = (
                "row without a rating ({}) is" if dropped == 1 else "rows without a rating ({}) are"
            )
            told(f"{dropped:,} {rows_are.format(none)} left out")
    frame = rows.frame
    if frame.empty:
        raise DataError(f"{str(rows.path)!r} holds no interactions")
    for column in ("user", "item"):
        _tell_of_odd_ids(frame[column], told)
    times: Any = np.arange(len(frame))
    if "timestamp" in frame:
        times = unix_seconds(rows, "timestamp", part.time_format, told)
    ratings = frame.get("rating", 1.0)
    rows = replace(rows, frame=frame.assign(rating=ratings, timestamp=times))
    return rows, _facts(frame, part)


def _tell_of_odd_ids(column: pd.Series[Any], told: Told) -> None:
    """Tell of ids that are few of their kind, as of a row of totals, and of two that may mean the same."""
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


def _facts(frame: pd.DataFrame, part: Part) -> dict[str, Item]:
    """Items with the most frequent value of each fact."""
    rows: dict[str, dict[str, Any]] = {}
    for name in part.facts.keys() & set(frame):
        known = frame[["item", name]][frame[name].notna() & (frame[name].astype(str) != "")]
        counts = known.groupby(["item", name], observed=True).size().reset_index(name="count")
        most = counts.sort_values("count", ascending=False, kind="stable").drop_duplicates("item")
        for item, value in zip(most["item"], most[name], strict=True):
            rows.setdefault(str(item), {"item": item})[name] = value
    return {key: _item(row, part, {}, Path()) for key, row in rows.items()}


def named_by_ids(rows: Rows, told: Told) -> dict[str, Item]:
    """The items of interactions without a catalogue, which `told` hears."""
    told(
        f"no catalogue stands beside {rows.path.name}, so that a language model reads ids in place of titles; "
        f"{stem(rows.path)}.items.csv with the columns id and title gives it titles"
    )
    return {key: Item(key, key) for key in sorted(map(str, rows.frame["item"].unique()))}


def _with_facts(item: Item, facts: Item | None) -> Item:
    if facts is None:
        return item
    return replace(item, attributes={**facts.attributes, **item.attributes})


def catalogue_of(
    paths: Sequence[Path], part: Part, folder: Path, told: Told, seen: Rows
) -> dict[str, Item]:
    """The items of some files. Those `seen` in interactions that have no row in it are named by their ids, which `told`
    hears; if most have none, the ids do not match: DataError.
    """
    ids = sorted(map(str, seen.frame["item"].unique()))
    lines = suffix(paths[0]) in json_lines.SUFFIXES
    rows = table(paths, part, folder, set(ids) if lines else None)
    if lines:  # a product in several categories is the same in all
        rows = rows.only(~rows.frame["item"].duplicated().to_numpy())
    rows.refuse_repeats("item")
    frame = rows.frame
    if "year" in frame:
        years = frame["year"].map(_year)
        unread = years.isna() & ~frame["year"].map(str).isin(_NO_YEAR)
        if unread.any():
            told(
                f"{int(unread.sum()):,} years are not read, the first is {frame['year'][unread].iloc[0]!r}"
            )
    flags = part.flag_columns
    wrong = frame[list(flags)].isin([0, 1]).all(axis="columns")
    rows.refuse(
        ~wrong.to_numpy(),
        lambda row: f"the flags are {frame[list(flags)].iloc[row].tolist()}, not all 0 or 1",
    )
    dividers = {
        **_dividers(frame.drop(columns=list(part.lists), errors="ignore"), told),
        **part.lists,
    }
    items = {}
    for row in frame.to_dict("records"):
        cells = {str(name): value for name, value in row.items()}
        for name, (attribute, value) in flags.items():
            flagged = cells.setdefault(attribute, ())
            if cells.pop(name):
                cells[attribute] = (*flagged, value)
        item = _item(cells, part, dividers, folder)
        items[item.id] = item
    missing = [key for key in ids if key not in items]
    if 2 * len(missing) > len(ids):
        raise DataError(
            f"{str(rows.path)!r}: of {len(ids):,} items with interactions {len(missing):,} are not in the "
            f"catalogue, the first is {missing[0]!r}; are its ids those of {str(seen.path)!r}?"
        )
    if missing:
        told(
            f"of {len(ids):,} items {len(missing):,} are not in {rows.path.name}, so that their ids stand for "
            f"their titles (the first is {missing[0]!r})"
        )
    items |= {key: Item(key, "" if part.markup else key) for key in missing}
    return dict(sorted(items.items())) if lines else items


def _dividers(frame: pd.DataFrame, told: Told) -> dict[str, str]:
    """What divides the values of lists: bars, or semicolons where no value has a bar, or commas."""
    found = {}
    for name in LISTS:
        if name not in frame or not frame[name].map(lambda value: isinstance(value, str)).all():
            continue
        present = (each for each in "|;," if frame[name].str.contains(each, regex=False).any())
        found[name] = next(present, "|")
        if found[name] == "," and not frame[name].str.startswith("[").any():
            told(f"several {name} of an item are divided at commas")
    return found


def _item(row: Mapping[str, Any], part: Part, dividers: Mapping[str, str], folder: Path) -> Item:
    cells = {
        name: _value(name, value, part, dividers, folder)
        for name, value in row.items()
        if not name.startswith("-")
    }
    key, title, written = (str(cells.pop(name, "")) for name in ("item", "title", "year"))
    year = _year(written)
    if "year" not in row:
        title, year = films.split_title(title)
    if (
        part.markup and "getTime" in title
    ):  # Amazon's crawler stored a script instead of some titles
        title = ""
    always = (*part.lists, *part.flags)
    attributes = {name: value for name, value in cells.items() if value or name in always}
    return Item(key, title or ("" if part.markup else key), year, attributes)


def _year(value: object) -> int | None:
    """The year that a text is, or begins or ends with."""
    found = re.search(r"^(\d{1,4})(?:\.0+)?$|^(\d{4})\D|\D(\d{4})$", str(value).strip())
    return int(next(filter(None, found.groups()))) or None if found else None


def _value(
    name: str, value: Any, part: Part, dividers: Mapping[str, str], folder: Path
) -> str | tuple[str, ...]:
    """The value of an attribute; empty if there is none."""
    if isinstance(value, str) and value[:1] == "[" and (name in LISTS or name in dividers):
        with contextlib.suppress(
            ValueError
        ):  # a list as Python or JSON writes it, as TMDB's tables have
            value = json_lines.literal(value)
    if isinstance(value, list | tuple | np.ndarray):
        value = [each.get("name") if isinstance(each, dict) else each for each in value]
        if value and isinstance(
            value[0], list | tuple
        ):  # paths of categories, of which the first counts
            value = value[0]
        plain = (
            each
            for each in value
            if isinstance(each, str) and not (name == "categories" and part.markup and "<" in each)
        )
        texts = films.known_genres(_text(each, part) for each in plain)
        if name == "description":
            return " ".join(texts)
        return texts[0] if name == "image_url" and texts else texts
    if not isinstance(value, str | int | float) or pd.isna(value):
        return ""
    text = _text(str(value), part)
    if name == "image" and text and not text.startswith("data:"):
        return str((folder / text).resolve())
    if name == "brand" and part.markup:
        return text.removeprefix("by ")
    if name in LISTS or name in dividers:
        return films.split_genres(text.replace(dividers.get(name, "|"), "|"))
    return text


def _text(text: str, part: Part) -> str:
    if part.markup:
        text = " ".join(_MARKUP.sub(" ", html.unescape(text)).split())
    return text.strip()


def _with_tags(items: Mapping[str, Item], part: Part | None, folder: Path) -> Mapping[str, Item]:
    if part is None or not (paths := part.paths(folder)):
        return items
    tags = films.frequent_tags(table(paths, part, folder).frame)
    return {
        key: replace(item, attributes={**item.attributes, "tags": tags[key]})
        if key in tags
        else item
        for key, item in items.items()
    }


def users_of(part: Part, folder: Path) -> dict[str, dict[str, Any]]:
    """The attributes of users; whole numbers are numbers."""
    paths = part.paths(folder)
    if not paths:
        return {}
    rows = table(paths, part, folder)
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
