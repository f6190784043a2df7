"""Facts that further files of a folder add to the items of a format.

* ``links.csv`` of MovieLens: IMDb numbers, by which `metadata` knows directors and cast.
* "Netflix Movies and TV Shows" (https://www.kaggle.com/datasets/shivamb/netflix-shows),
  the source of LRWorld's metadata: directors, cast, genres and loglines, by name and
  year.
* Pictures of items (``posters/17.jpg``), and their descriptions by a multimodal model,
  one a line: ``{"item": "17", "description": "A red square."}``.
* Amazon Berkeley Objects: pictures and colours of products, unpacked in the folder of
  the reviews, as https://amazon-berkeley-objects.s3.amazonaws.com/README.md describes
  them. The first listing of a product counts, and the others fill in the facts that it
  lacks.
"""

import json
import re
from collections.abc import Callable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from pytest_recsys_mt.datasets import metadata
from pytest_recsys_mt.datasets.delimited import read
from pytest_recsys_mt.datasets.delimited_text import Layout
from pytest_recsys_mt.datasets.json_lines import records
from pytest_recsys_mt.datasets.metadata import item_key, names_in, title_key
from pytest_recsys_mt.datasets.rows import Column
from pytest_recsys_mt.requests import Item
from pytest_recsys_mt.safety.errors import DataError

LISTING = "netflix_titles.csv"
_LISTED = Layout(
    (
        Column("title", "text"),
        Column("directors", "text", ("director",)),
        Column("cast", "text"),
        Column("year", "integer", ("releaseyear",)),
        Column("genres", "text", ("listedin",)),
        Column("logline", "text", ("description",)),
    ),
)
DESCRIPTIONS = "image_descriptions.jsonl"
_PICTURES = frozenset({".jpg", ".jpeg", ".png", ".webp"})


def with_links(items: Mapping[str, Item], folder: Path) -> Mapping[str, Item]:
    """A catalogue with the facts about its films, by IMDb number."""
    if not (folder / "links.csv").exists():
        return items
    columns = (
        Column("item", "id", ("movieid",)),
        Column("imdb", "integer", ("imdbid",)),
    )
    links = read(folder / "links.csv", Layout(columns))
    links.refuse_repeats("item")
    pairs = links.frame.itertuples(index=False)
    known = {str(item): metadata.imdb_id(imdb) for item, imdb in pairs}
    return metadata.with_metadata(items, known)


def with_listing(items: Mapping[str, Item], folder: Path) -> Mapping[str, Item]:
    """A catalogue with the list's facts about films of the same name and year, where
    missing.

    Two entries of one name and year do not match.
    """
    if not (folder / LISTING).exists():
        return items
    facts: dict[tuple[str, int | None], dict[str, Any]] = {}
    rows = read(folder / LISTING, _LISTED).frame.itertuples(index=False)
    for title, directors, cast, year, genres, logline in rows:
        film = (title_key(title), int(year))
        texts = {"directors": directors, "cast": cast, "genres": genres}
        facts_of_film: dict[str, Any] = {
            name: names_in(text) for name, text in texts.items() if text
        }
        if logline.strip():
            facts_of_film["logline"] = logline.strip()
        is_second = film in facts
        facts[film] = {} if is_second else facts_of_film
    joined: dict[str, Item] = {}
    for key, item in items.items():
        attributes = {**facts.get(item_key(item), {}), **item.attributes}
        joined[key] = replace(item, attributes=attributes)
    return joined


def with_pictures(items: Mapping[str, Item], folder: Path) -> Mapping[str, Item]:
    """A catalogue with pictures and their descriptions."""
    images = {}
    for path in sorted((folder / "posters").glob("*")):
        if path.suffix.lower() in _PICTURES:
            images[path.stem] = str(path.resolve())
    descriptions = _image_descriptions(folder / DESCRIPTIONS)
    joined = {}
    for key, item in items.items():
        attributes = dict(item.attributes)
        if key in images:
            attributes["image"] = images[key]
        if key in descriptions:
            attributes["image_description"] = descriptions[key]
        joined[key] = replace(item, attributes=attributes)
    return joined


def _image_descriptions(path: Path) -> dict[str, str]:
    """The descriptions of a file by item, if it is there."""
    if not path.exists():
        return {}
    descriptions = {}
    for number, record in records(path, json.loads):
        key = record.get("item")
        text = record.get("description")
        if not isinstance(key, str) or not isinstance(text, str):
            raise DataError(
                f"{str(path)!r}, line {number}: a record needs the texts item and description",
            )
        descriptions[key] = text
    return descriptions


_LISTING_ID = re.compile(r'"item_id"\s*:\s*(?:"([^"\\]+)")?')


def with_berkeley(items: Mapping[str, Item], folder: Path) -> dict[str, Item]:
    """A catalogue with the facts of the Berkeley objects.

    Items with a listing gain ``colour`` and ``image`` (the path of an existing file),
    and, where missing, a title, ``brand`` and ``categories``.
    """
    facts_by_item: dict[str, dict[str, Any]] = {}
    for path in sorted((folder / "listings" / "metadata").glob("listings_*.json*")):
        for number, record in records(path, json.loads, _LISTING_ID, items):
            key = record.get("item_id")
            if not isinstance(key, str):
                raise DataError(
                    f"{str(path)!r}, line {number}: the listing has no item_id",
                )
            if key in items:
                facts_by_item[key] = {**_facts(record), **facts_by_item.get(key, {})}
    wanted = {
        facts["picture"] for facts in facts_by_item.values() if "picture" in facts
    }
    pictures = _pictures(folder / "images", wanted)
    return {
        key: _with_listed_facts(item, facts_by_item.get(key, {}), pictures)
        for key, item in items.items()
    }


def _facts(listing: Mapping[str, Any]) -> dict[str, Any]:
    """The facts of a listing: texts, a tuple of categories, and
    ``picture``, the id of its main picture.
    """
    picture = listing.get("main_image_id")
    facts = {
        "title": _preferred_text(listing.get("item_name")),
        "brand": _preferred_text(listing.get("brand")),
        "colour": _preferred_text(listing.get("color")),
        "categories": _categories(listing.get("node")),
        "picture": picture if isinstance(picture, str) else "",
    }
    return {name: value for name, value in facts.items() if value}


def _categories(nodes: Any) -> tuple[str, ...]:
    """The categories on the path to the first node:
    ``/Categories/Shoes/Boots`` is Shoes and Boots.
    """
    if not isinstance(nodes, list) or not nodes or not isinstance(nodes[0], dict):
        return ()
    path = str(nodes[0].get("node_name") or "")
    names = [name.strip() for name in path.split("/")]
    return tuple(name for name in names if name not in ("", "Categories"))


def _preferred_text(values: Any) -> str:
    """The first text in English that is not empty, else the first in another language."""
    tagged = [value for value in values or () if isinstance(value, dict)]
    english = [value for value in tagged if _is_english(value)]
    others = [value for value in tagged if not _is_english(value)]
    for value in [*english, *others]:
        text = str(value.get("value") or "").strip()
        if text:
            return text
    return ""


def _is_english(value: Mapping[str, Any]) -> bool:
    return str(value.get("language_tag", "")).startswith("en")


def _with_listed_facts(
    item: Item,
    facts: Mapping[str, Any],
    pictures: Mapping[str, Path],
) -> Item:
    attributes = {
        name: facts[name] for name in ("brand", "colour", "categories") if name in facts
    }
    picture = pictures.get(facts.get("picture", ""))
    if picture is not None:
        attributes["image"] = str(picture)
    title = item.title or facts.get("title", "")
    return replace(item, title=title, attributes={**attributes, **item.attributes})


def _pictures(folder: Path, wanted: AbstractSet[str]) -> dict[str, Path]:
    """The existing files of the wanted pictures, by the id of the picture."""
    table = folder / "metadata" / "images.csv.gz"
    if not wanted or not table.exists():
        return {}
    rows = read(
        table,
        Layout((Column("image", "id", ("imageid",)), Column("path", "text"))),
    )
    rows = rows.only(rows.frame["image"].isin(list(wanted)).to_numpy())
    paths = [Path(path) for path in rows.frame["path"]]
    leaves = [".." in path.parts or path.is_absolute() for path in paths]
    rows.refuse(
        np.array(leaves, dtype=bool),
        lambda row: f"the path {rows.cell('path', row)!r} leaves the folder",
    )
    files = {}
    for size in ("small", "original"):  # of both, the latter counts
        for key, path in zip(rows.frame["image"], paths, strict=True):
            file = (folder / size / path).resolve()
            if file.is_file():
                files[key] = file
    return files


JOINS: Mapping[str, Callable[[Mapping[str, Item], Path], Mapping[str, Item]]] = {
    "links": with_links,
    "listing": with_listing,
    "pictures": with_pictures,
    "berkeley": with_berkeley,
}
