"""Amazon reviews of 2014 (https://jmcauley.ucsd.edu/data/amazon/) and of 2018
(https://cseweb.ucsd.edu/~jmcauley/datasets/amazon_v2/), their 5-core subsets, with the metadata of
the products, plain or as ``.gz``; a folder may hold several categories. `berkeley` fills in missing
attributes.
"""

import ast
import html
import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd

from pytest_recsys_mt.datasets import berkeley
from pytest_recsys_mt.datasets.dataset import Dataset
from pytest_recsys_mt.datasets.interactions import checked
from pytest_recsys_mt.datasets.json_lines import records
from pytest_recsys_mt.datasets.loading import Format
from pytest_recsys_mt.datasets.pictures import with_pictures
from pytest_recsys_mt.datasets.rows import Rows
from pytest_recsys_mt.errors import DataError
from pytest_recsys_mt.requests import Item, Scale

SCALE = Scale(1.0, 5.0)
_ASIN = re.compile(r"""["']asin["']\s*:\s*["']([^"']+)["']""")
_MARKUP = re.compile(r"<[^>]*>")


def load(folder: Path, name: str) -> Dataset:
    """Read a folder of this format, as `loading.Format` says."""
    rows, colours = _reviews(folder)
    wanted = set(rows.frame["item"])
    items = dict.fromkeys(sorted(wanted), Item(""))
    for path in _files(folder, "meta_*.json"):
        for key, record in _metadata(path, wanted):
            if not items[key].id:  # a product in several categories is the same in all
                items[key] = _item(key, record)
    items = {key: item if item.id else Item(key) for key, item in items.items()}
    items = with_pictures(berkeley.joined(items, folder), folder)
    items = {key: _coloured(item, colours.get(key)) for key, item in items.items()}
    return Dataset(name, items, checked(rows, items, SCALE), SCALE, family="amazon")


def _files(folder: Path, pattern: str) -> list[Path]:
    return sorted({*folder.glob(pattern), *folder.glob(pattern + ".gz")})


def _reviews(folder: Path) -> tuple[Rows, dict[str, str]]:
    rows: list[tuple[str, str, float, int]] = []
    places: list[tuple[Path, int]] = []
    colours: dict[str, Counter[str]] = {}
    for path in _files(folder, "*_5.json"):
        for number, record in records(path, json.loads):
            try:
                item = str(record["asin"])
                user, rating = str(record["reviewerID"]), float(record["overall"])
                rows.append((user, item, rating, int(record["unixReviewTime"])))
            except (KeyError, TypeError, ValueError) as problem:
                raise DataError(
                    f"{str(path)!r}, line {number}: a review needs reviewerID, asin, overall and "
                    f"unixReviewTime, the last two as numbers ({problem!r})"
                ) from problem
            places.append((path, number))
            style = record.get("style")
            if isinstance(style, dict) and (colour := _text(style.get("Color:"))):
                colours.setdefault(item, Counter())[colour] += 1
    if not rows:
        raise DataError(f"folder {str(folder)!r} has no reviews")
    frame = pd.DataFrame(rows, columns=["user", "item", "rating", "timestamp"])
    latest = frame.sort_values("timestamp", kind="stable").drop_duplicates(
        ["user", "item"], keep="last"
    )
    kept = latest.index.to_numpy()

    def place(row: int) -> str:
        path, number = places[kept[row]]
        return f"{path.name}, line {number}"

    most = {item: count.most_common(1)[0][0] for item, count in colours.items()}
    return Rows(folder, latest.reset_index(drop=True), place), most


def _metadata(path: Path, wanted: AbstractSet[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    for number, record in records(path, literal, _ASIN, wanted):
        key = record.get("asin")
        if not isinstance(key, str):
            raise DataError(f"{str(path)!r}, line {number}: the product has no asin")
        if key in wanted:
            yield key, record


def literal(line: str) -> Any:
    """A record as JSON, or, as in 2014, as a Python literal, which is never run; ValueError for
    others.
    """
    try:
        return json.loads(line)
    except ValueError:
        pass
    except RecursionError:
        raise ValueError("nested too deeply") from None
    try:
        return ast.literal_eval(line.strip())
    except (SyntaxError, TypeError, MemoryError, RecursionError) as problem:
        raise ValueError(f"neither JSON nor a Python literal: {problem}") from None


def _item(key: str, record: Mapping[str, Any]) -> Item:
    title = _text(record.get("title"))
    if "getTime" in title:  # pages of which the crawler stored a script instead of the title
        title = ""
    paths = record.get("categories") or [record.get("category") or ()]
    images = record.get("imageURL") or record.get("image") or record.get("imUrl") or ()
    found: dict[str, Any] = {
        "brand": re.sub(r"^by ", "", _text(record.get("brand"))),
        "categories": _texts(next(iter(paths), ()), plain=True),
        "description": " ".join(_texts(record.get("description"))),
        "features": _texts(record.get("feature")),
        "image_url": next(iter(_texts(images)), ""),
    }
    return Item(key, title, None, {name: value for name, value in found.items() if value})


def _coloured(item: Item, colour: str | None) -> Item:
    if colour is None or "colour" in item.attributes:
        return item
    return replace(item, attributes={**item.attributes, "colour": colour})


def _texts(value: Any, *, plain: bool = False) -> tuple[str, ...]:
    """Texts of a list, or of a single text; `plain` leaves out those that contain markup."""
    many = [value] if isinstance(value, str) else value if isinstance(value, list | tuple) else ()
    return tuple(
        text
        for each in many
        if not (plain and isinstance(each, str) and "<" in each) and (text := _text(each))
    )


def _text(value: Any) -> str:
    """A text without markup and with single spaces; empty if there is none."""
    if not isinstance(value, str):
        return ""
    return " ".join(_MARKUP.sub(" ", html.unescape(value)).split())


FORMATS = (
    Format(
        "Amazon reviews with metadata",
        ("*_5.json|*_5.json.gz", "meta_*.json|meta_*.json.gz"),
        load,
    ),
)
