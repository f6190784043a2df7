"""The items of a catalogue, from its table: titles, years,
and attributes with one value or several.
"""

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
from pytest_recsys_mt.datasets.options import Report
from pytest_recsys_mt.datasets.rows import Rows
from pytest_recsys_mt.requests import Item
from pytest_recsys_mt.safety.errors import DataError

LISTS = ("genres", "directors", "cast", "tags", "categories", "authors")
"""Attributes that hold several values, between bars: ``Comedy|Drama``."""
_NO_YEAR = frozenset({"", "0", "0.0", "NULL", "None", "nan"})
_YEAR = re.compile(r"^(\d{1,4})(?:\.0+)?$|^(\d{4})\D|\D(\d{4})$")
"""The whole text (``1995``, ``1995.0``), its beginning
(``1995-10-30``) or its end (``30-Oct-1995``).
"""
_YEAR_BEHIND = re.compile(r"\s*\((\d{4})(?:[-\N{EN DASH}]\d{0,4})?\)\s*$")
_NO_GENRES = frozenset({"", "(no genres listed)", "unknown"})
_MARKUP = re.compile(r"<[^>]*>")
MAX_TAGS = 10
"""Number of tags kept for an item, the most frequent ones."""


def catalogue_of(
    paths: Sequence[Path],
    part: Part,
    folder: Path,
    report: Report,
    seen: Rows,
) -> dict[str, Item]:
    """The items of some files, by id.

    Args:
        paths: The files, all of one kind.
        part: The meanings of their columns.
        folder: The folder that holds them.
        report: Called with each note, such as on items that have interactions but no row
            here: they are named by their ids.
        seen: The interactions.

    Raises:
        DataError: If a file is wrong, or if most items with interactions have no row,
            so that the ids do not match.
    """
    if suffix(paths[0]) not in json_lines.SUFFIXES:
        return items_in(part.read(paths, folder), part, folder, report, seen)
    seen_ids = set(map(str, seen.frame["item"].unique()))
    rows = part.read(paths, folder, seen_ids)
    # A product in several categories is the same in all.
    rows = rows.only(~rows.frame["item"].duplicated().to_numpy())
    return dict(sorted(items_in(rows, part, folder, report, seen).items()))


def items_in(
    rows: Rows,
    part: Part,
    folder: Path,
    report: Report,
    seen: Rows,
) -> dict[str, Item]:
    """The items of the rows of a catalogue that have been read; see `catalogue_of`."""
    seen_ids = sorted(map(str, seen.frame["item"].unique()))
    rows.refuse_repeats("item")
    _report_unread_years(rows.frame, report)
    _refuse_wrong_flags(rows, part)
    items = _items_of(rows.frame, part, folder, report)
    missing = [key for key in seen_ids if key not in items]
    _report_missing(missing, seen_ids, rows, seen, report)
    items |= {key: _item_without_row(key, part) for key in missing}
    return items


def _report_unread_years(frame: pd.DataFrame, report: Report) -> None:
    if "year" not in frame:
        return
    written = frame["year"]
    is_unread = written.map(_year).isna() & ~written.map(str).isin(_NO_YEAR)
    if is_unread.any():
        report(
            f"{int(is_unread.sum()):,} years are not read, the first is {written[is_unread].iloc[0]!r}",
        )


def _refuse_wrong_flags(rows: Rows, part: Part) -> None:
    flags = rows.frame[list(part.flag_columns)]
    is_sound = flags.isin([0, 1]).all(axis="columns")
    rows.refuse(
        ~is_sound.to_numpy(),
        lambda row: f"the flags are {flags.iloc[row].tolist()}, not all 0 or 1",
    )


def _items_of(
    frame: pd.DataFrame,
    part: Part,
    folder: Path,
    report: Report,
) -> dict[str, Item]:
    """The items of a table's rows, by id."""
    undeclared = frame.drop(columns=list(part.lists), errors="ignore")
    dividers = {**_dividers(undeclared, report), **part.lists}
    flags = part.flag_columns
    items = {}
    for row in frame.to_dict("records"):
        cells = {str(name): value for name, value in row.items()}
        for column, (attribute, value) in flags.items():
            values_so_far = cells.setdefault(attribute, ())
            if cells.pop(column):
                cells[attribute] = (*values_so_far, value)
        item = item_of(cells, part, dividers, folder)
        items[item.id] = item
    return items


def _report_missing(
    missing: Sequence[str],
    seen_ids: Sequence[str],
    rows: Rows,
    seen: Rows,
    report: Report,
) -> None:
    """Report items with interactions and without a row; DataError if these are most."""
    if 2 * len(missing) > len(seen_ids):
        raise DataError(
            f"{str(rows.path)!r}: of {len(seen_ids):,} items with interactions {len(missing):,} are not in the "
            f"catalogue, the first is {missing[0]!r}; are its ids those of {str(seen.path)!r}?",
        )
    if missing:
        report(
            f"of {len(seen_ids):,} items {len(missing):,} are not in {rows.path.name}, so that their ids stand for "
            f"their titles (the first is {missing[0]!r})",
        )


def _item_without_row(key: str, part: Part) -> Item:
    return Item(key, _title_or_id("", key, part))


def _title_or_id(title: str, key: str, part: Part) -> str:
    """The title, or in its place the id; Amazon's ids mean nothing to a reader, so an
    empty title stays empty.
    """
    if title or part.markup:
        return title
    return key


def _dividers(frame: pd.DataFrame, report: Report) -> dict[str, str]:
    """The separators of several values, by the attributes
    of `LISTS` that the table has as texts.
    """
    dividers = {}
    for name in LISTS:
        if name not in frame or not frame[name].map(_is_text).all():
            continue
        texts = frame[name].str
        present = [
            divider for divider in "|;," if texts.contains(divider, regex=False).any()
        ]
        dividers[name] = present[0] if present else "|"
        if dividers[name] == "," and not texts.startswith("[").any():
            report(f"several {name} of an item are divided at commas")
    return dividers


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def item_of(
    row: Mapping[str, Any],
    part: Part,
    dividers: Mapping[str, str],
    folder: Path,
) -> Item:
    """The item of a row.

    Args:
        row: The cells, by meaning of their columns.
        part: The meanings of the columns.
        dividers: The separators of several values, by attribute.
        folder: The folder of the pictures that cells name.
    """
    cells = {
        name: _value(name, value, part, dividers, folder)
        for name, value in row.items()
        if not name.startswith("-")  # a column without a meaning, see `Part.layout`
    }
    key = str(cells.pop("item", ""))
    title = str(cells.pop("title", ""))
    year = _year(str(cells.pop("year", "")))
    if "year" not in row:
        title, year = split_title(title)
    # Amazon's crawler stored a script instead of some titles.
    if part.markup and "getTime" in title:
        title = ""
    kept_if_empty = (*part.lists, *part.flags)
    attributes = {
        name: value for name, value in cells.items() if value or name in kept_if_empty
    }
    return Item(key, _title_or_id(title, key, part), year, attributes)


def _year(written: object) -> int | None:
    match = _YEAR.search(str(written).strip())
    if match is None:
        return None
    year = int(match[match.lastindex or 0])
    return year or None  # tools write 0 where there is none


def _value(
    name: str,
    value: Any,
    part: Part,
    dividers: Mapping[str, str],
    folder: Path,
) -> str | tuple[str, ...]:
    """The value of an attribute, cleaned; empty if there is none."""
    is_list = name in LISTS or name in dividers
    if is_list and isinstance(value, str) and value.startswith("["):
        # A list may stand as Python or JSON writes it, as in TMDB's tables.
        with contextlib.suppress(ValueError):
            value = json_lines.literal(value)
    if isinstance(value, list | tuple | np.ndarray):
        return _values(name, value, part)
    if not isinstance(value, str | int | float) or pd.isna(value):
        return ""
    text = _text(str(value), part)
    if name == "image" and text and not text.startswith("data:"):
        return str((folder / text).resolve())
    if name == "brand" and part.markup:
        return text.removeprefix("by ")
    if is_list:
        return split_genres(text.replace(dividers.get(name, "|"), "|"))
    return text


def _values(name: str, listed: Iterable[Any], part: Part) -> str | tuple[str, ...]:
    """The texts of a list, as JSON and Parquet hold them; a description is one text,
    and of pictures the first counts.
    """
    values = [
        value.get("name") if isinstance(value, dict) else value for value in listed
    ]
    if values and isinstance(values[0], list | tuple):
        values = list(values[0])  # the first of several paths of categories counts
    texts = [value for value in values if isinstance(value, str)]
    if name == "categories" and part.markup:
        texts = [
            text for text in texts if "<" not in text
        ]  # a piece of a page, not a category
    cleaned = known_genres(_text(text, part) for text in texts)
    if name == "description":
        return " ".join(cleaned)
    if name == "image_url" and cleaned:
        return cleaned[0]
    return cleaned


def _text(text: str, part: Part) -> str:
    if part.markup:
        text = " ".join(_MARKUP.sub(" ", html.unescape(text)).split())
    return text.strip()


def named_by_ids(
    rows: Rows,
    report: Report,
    remedy: str = "",
) -> dict[str, Item]:
    """The items of interactions without a catalogue,
    named by their ids, with a note on it and on the remedy.
    """
    remedy = remedy or (
        f"{stem(rows.path)}.items.csv with the columns id and title gives it titles"
    )
    report(
        f"no catalogue stands beside {rows.path.name}, so that a language model reads ids in place of titles; "
        f"{remedy}",
    )
    ids = sorted(map(str, rows.frame["item"].unique()))
    return {key: Item(key, key) for key in ids}


def with_tags(
    items: Mapping[str, Item],
    part: Part | None,
    folder: Path,
) -> Mapping[str, Item]:
    """A catalogue with the tags that users gave most often,
    if the folder has a table of them.
    """
    if part is None:
        return items
    paths = part.paths(folder)
    if not paths:
        return items
    tags_by_item = frequent_tags(part.read(paths, folder).frame)
    tagged = {}
    for key, item in items.items():
        attributes = dict(item.attributes)
        if key in tags_by_item:
            attributes["tags"] = tags_by_item[key]
        tagged[key] = replace(item, attributes=attributes)
    return tagged


def split_title(text: str) -> tuple[str, int | None]:
    """A title and its year: ``"Matrix, The (1999)"`` is ``("Matrix, The", 1999)``.

    The article stays at its place in the file. Of a span of years ("(1983-1987)"), the
    first counts.
    """
    match = _YEAR_BEHIND.search(text)
    if match is None:
        return text.strip(), None
    title = text[: match.start()].strip()
    if not title:  # the title itself is a year in brackets
        return text.strip(), None
    return title, int(match[1])


def split_genres(text: str) -> tuple[str, ...]:
    """Genres from their list, ``"Comedy|Drama"``; none from ``"(no genres listed)"``."""
    return known_genres(name.strip() for name in text.split("|"))


def known_genres(names: Iterable[str]) -> tuple[str, ...]:
    """The names that are known genres, not placeholders for none."""
    return tuple(name for name in names if name not in _NO_GENRES)


def frequent_tags(tags: pd.DataFrame) -> dict[str, tuple[str, ...]]:
    """The `MAX_TAGS` tags given most often to each item, in lower case, equally
    frequent ones by name.

    There is one row per tag that a user gave, with the columns item and tag.
    """
    names = tags["tag"].str.strip().str.lower()
    cleaned = pd.DataFrame({"item": tags["item"], "tag": names})
    cleaned = cleaned[names != ""]
    counts = cleaned.groupby(["item", "tag"], observed=True).size()
    descending = counts.sort_values(ascending=False, kind="stable").reset_index()
    tags_by_item = descending.groupby("item", observed=True)["tag"]
    return {str(item): tuple(names[:MAX_TAGS]) for item, names in tags_by_item}
