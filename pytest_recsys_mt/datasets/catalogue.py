"""The items of a catalogue, from its table: titles, years, and attributes with one value or several."""

import contextlib
import html
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from pytest_recsys_mt.datasets import json_lines
from pytest_recsys_mt.datasets.archives import stem, suffix
from pytest_recsys_mt.datasets.description import Part
from pytest_recsys_mt.datasets.loading import Told
from pytest_recsys_mt.datasets.rows import Rows
from pytest_recsys_mt.errors import DataError
from pytest_recsys_mt.requests import Item

LISTS = ("genres", "directors", "cast", "tags", "categories", "authors")
"""Attributes that hold several values, between bars: ``Comedy|Drama``."""
_NO_YEAR = frozenset({"", "0", "0.0", "NULL", "None", "nan"})
_YEAR_BEHIND = re.compile(r"\s*\((\d{4})(?:[-\N{EN DASH}]\d{0,4})?\)\s*$")
_NO_GENRES = frozenset({"", "(no genres listed)", "unknown"})
_MARKUP = re.compile(r"<[^>]*>")
MAX_TAGS = 10
"""Number of tags kept for an item, the most frequent ones."""


def catalogue_of(
    paths: Sequence[Path], part: Part, folder: Path, told: Told, seen: Rows
) -> dict[str, Item]:
    """The items of some files. Those `seen` in interactions that have no row in it are named by their ids, which `told`
    hears; if most have none, the ids do not match: DataError.
    """
    ids = sorted(map(str, seen.frame["item"].unique()))
    lines = suffix(paths[0]) in json_lines.SUFFIXES
    rows = part.read(paths, folder, set(ids) if lines else None)
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
        item = item_of(cells, part, dividers, folder)
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
    found = {}
    for name in LISTS:
        if name not in frame or not frame[name].map(lambda value: isinstance(value, str)).all():
            continue
        present = (each for each in "|;," if frame[name].str.contains(each, regex=False).any())
        found[name] = next(present, "|")
        if found[name] == "," and not frame[name].str.startswith("[").any():
            told(f"several {name} of an item are divided at commas")
    return found


def item_of(row: Mapping[str, Any], part: Part, dividers: Mapping[str, str], folder: Path) -> Item:
    """The item of a row; `dividers` say by attribute what stands between several values."""
    cells = {
        name: _value(name, value, part, dividers, folder)
        for name, value in row.items()
        if not name.startswith("-")
    }
    key, title, written = (str(cells.pop(name, "")) for name in ("item", "title", "year"))
    year = _year(written)
    if "year" not in row:
        title, year = split_title(title)
    # Amazon's crawler stored a script instead of some titles.
    if part.markup and "getTime" in title:
        title = ""
    always = (*part.lists, *part.flags)
    attributes = {name: value for name, value in cells.items() if value or name in always}
    return Item(key, title or ("" if part.markup else key), year, attributes)


def _year(value: object) -> int | None:
    found = re.search(r"^(\d{1,4})(?:\.0+)?$|^(\d{4})\D|\D(\d{4})$", str(value).strip())
    return int(next(filter(None, found.groups()))) or None if found else None


def _value(
    name: str, value: Any, part: Part, dividers: Mapping[str, str], folder: Path
) -> str | tuple[str, ...]:
    if isinstance(value, str) and value[:1] == "[" and (name in LISTS or name in dividers):
        # A list may stand as Python or JSON writes it, as in TMDB's tables.
        with contextlib.suppress(ValueError):
            value = json_lines.literal(value)
    if isinstance(value, list | tuple | np.ndarray):
        value = [each.get("name") if isinstance(each, dict) else each for each in value]
        if value and isinstance(value[0], list | tuple):
            value = value[0]  # the first of several paths of categories counts
        plain = (
            each
            for each in value
            if isinstance(each, str) and not (name == "categories" and part.markup and "<" in each)
        )
        texts = known_genres(_text(each, part) for each in plain)
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
        return split_genres(text.replace(dividers.get(name, "|"), "|"))
    return text


def _text(text: str, part: Part) -> str:
    if part.markup:
        text = " ".join(_MARKUP.sub(" ", html.unescape(text)).split())
    return text.strip()


def named_by_ids(rows: Rows, told: Told) -> dict[str, Item]:
    """The items of interactions without a catalogue, which `told` hears."""
    told(
        f"no catalogue stands beside {rows.path.name}, so that a language model reads ids in place of titles; "
        f"{stem(rows.path)}.items.csv with the columns id and title gives it titles"
    )
    return {key: Item(key, key) for key in sorted(map(str, rows.frame["item"].unique()))}


def with_tags(items: Mapping[str, Item], part: Part | None, folder: Path) -> Mapping[str, Item]:
    """A catalogue with the tags that users gave most often, if the folder has a table of them."""
    if part is None or not (paths := part.paths(folder)):
        return items
    frequent = frequent_tags(part.read(paths, folder).frame)
    tags = {key: {"tags": listed} for key, listed in frequent.items()}
    return {
        key: replace(item, attributes={**item.attributes, **tags.get(key, {})})
        for key, item in items.items()
    }


def split_title(text: str) -> tuple[str, int | None]:
    """A title and its year: ``"Matrix, The (1999)"`` is ``("Matrix, The", 1999)``.

    The article stays at its place in the file. Of a span of years ("(1983-1987)"), the first counts.
    """
    found = _YEAR_BEHIND.search(text)
    if found is None or not text[: found.start()].strip():
        return text.strip(), None
    return text[: found.start()].strip(), int(found[1])


def split_genres(text: str) -> tuple[str, ...]:
    """Genres from their list, ``"Comedy|Drama"``; none from ``"(no genres listed)"``."""
    return known_genres(name.strip() for name in text.split("|"))


def known_genres(names: Iterable[str]) -> tuple[str, ...]:
    """Those of the names that say something."""
    return tuple(name for name in names if name not in _NO_GENRES)


def frequent_tags(tags: pd.DataFrame) -> dict[str, tuple[str, ...]]:
    """The `MAX_TAGS` tags given most often to each item, in lower case, equally frequent ones by name.

    There is one row per tag that a user gave, with the columns item and tag.
    """
    cleaned = pd.DataFrame({"item": tags["item"], "tag": tags["tag"].str.strip().str.lower()})
    counts = cleaned[cleaned["tag"] != ""].groupby(["item", "tag"], observed=True).size()
    ordered = counts.sort_values(ascending=False, kind="stable").reset_index()
    of_items = ordered.groupby("item", observed=True)["tag"]
    return {str(item): tuple(listed[:MAX_TAGS]) for item, listed in of_items}
