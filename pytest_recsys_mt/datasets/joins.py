"""Facts that further files of a folder add to the items of a format.

* ``links.csv`` of MovieLens: IMDb numbers, by which `metadata` knows directors and cast.
* "Netflix Movies and TV Shows" (https://www.kaggle.com/datasets/shivamb/netflix-shows), the source of LRWorld's
  metadata: directors, cast, genres and loglines, by name and year.
* Pictures of items (``posters/17.jpg``), and their descriptions by a multimodal model, one a line:
  ``{"item": "17", "description": "A red square."}``.
* Amazon Berkeley Objects: pictures and colours of products, unpacked in the folder of the reviews, as
  https://amazon-berkeley-objects.s3.amazonaws.com/README.md describes them. The first listing of a product counts, and
  the others fill in what it lacks.
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
from pytest_recsys_mt.datasets.delimited import Layout, read
from pytest_recsys_mt.datasets.json_lines import records
from pytest_recsys_mt.datasets.metadata import item_key, names_in, title_key
from pytest_recsys_mt.datasets.rows import Column
from pytest_recsys_mt.errors import DataError
from pytest_recsys_mt.requests import Item

LISTING = "netflix_titles.csv"
_LISTED = Layout(
    (
        Column("title", "text"),
        Column("directors", "text", ("director",)),
        Column("cast", "text"),
        Column("year", "integer", ("releaseyear",)),
        Column("genres", "text", ("listedin",)),
        Column("logline", "text", ("description",)),
    )
)
DESCRIPTIONS = "image_descriptions.jsonl"
_PICTURES = frozenset({".jpg", ".jpeg", ".png", ".webp"})


def with_links(items: Mapping[str, Item], folder: Path) -> Mapping[str, Item]:
    """A catalogue with the facts about its films, by IMDb number."""
    if not (folder / "links.csv").exists():
        return items
    columns = (Column("item", "id", ("movieid",)), Column("imdb", "integer", ("imdbid",)))
    links = read(folder / "links.csv", Layout(columns))
    links.refuse_repeats("item")
    pairs = links.frame.itertuples(index=False)
    known = {str(item): metadata.imdb_id(imdb) for item, imdb in pairs}
    return metadata.with_metadata(items, known)


def with_listing(items: Mapping[str, Item], folder: Path) -> Mapping[str, Item]:
    """A catalogue with the list's facts about films of the same name and year, where missing.

    Two entries of one name and year do not match.
    """
    if not (folder / LISTING).exists():
        return items
    facts: dict[tuple[str, int | None], dict[str, Any]] = {}
    rows = read(folder / LISTING, _LISTED).frame.itertuples(index=False)
    for title, directors, cast, year, genres, logline in rows:
        key = (title_key(title), int(year))
        texts = {"directors": directors, "cast": cast, "genres": genres}
        found: dict[str, Any] = {name: names_in(text) for name, text in texts.items() if text}
        if logline.strip():
            found["logline"] = logline.strip()
        facts[key] = {} if key in facts else found
    return {
        key: replace(item, attributes={**facts.get(item_key(item), {}), **item.attributes})
        for key, item in items.items()
    }


def with_pictures(items: Mapping[str, Item], folder: Path) -> Mapping[str, Item]:
    """A catalogue with pictures and their descriptions."""
    found: dict[str, dict[str, str]] = {}
    for path in sorted((folder / "posters").glob("*")):
        if path.suffix.lower() in _PICTURES:
            found.setdefault(path.stem, {})["image"] = str(path.resolve())
    if (folder / DESCRIPTIONS).exists():
        for number, record in records(folder / DESCRIPTIONS, json.loads):
            key, text = record.get("item"), record.get("description")
            if not isinstance(key, str) or not isinstance(text, str):
                raise DataError(
                    f"{str(folder / DESCRIPTIONS)!r}, line {number}: a record needs the texts item "
                    f"and description"
                )
            found.setdefault(key, {})["image_description"] = text
    return {
        key: replace(item, attributes={**item.attributes, **found.get(key, {})})
        for key, item in items.items()
    }


_ID = re.compile(r'"item_id"\s*:\s*(?:"([^"\\]+)")?')


def with_berkeley(items: Mapping[str, Item], folder: Path) -> dict[str, Item]:
    """A catalogue with the facts of the Berkeley objects.

    Items with a listing gain ``colour`` and ``image`` (the path of an existing file), and, where
    missing, a title, ``brand`` and ``categories``.
    """
    listings: dict[str, dict[str, Any]] = {}
    for path in sorted((folder / "listings" / "metadata").glob("listings_*.json*")):
        for number, record in records(path, json.loads, _ID, items):
            key = record.get("item_id")
            if not isinstance(key, str):
                raise DataError(f"{str(path)!r}, line {number}: the listing has no item_id")
            if key in items:
                listings[key] = {**_facts(record), **listings.get(key, {})}
    wanted = {facts["picture"] for facts in listings.values() if "picture" in facts}
    pictures = _pictures(folder / "images", wanted)
    return {key: _with(item, listings.get(key, {}), pictures) for key, item in items.items()}


def _facts(record: Mapping[str, Any]) -> dict[str, Any]:
    nodes = record.get("node")
    node = nodes[0] if isinstance(nodes, list) and nodes and isinstance(nodes[0], dict) else {}
    picture = record.get("main_image_id")
    facts = {
        "title": _value(record.get("item_name")),
        "brand": _value(record.get("brand")),
        "colour": _value(record.get("color")),
        "categories": tuple(
            part.strip()
            for part in str(node.get("node_name") or "").split("/")
            if part.strip() and part.strip() != "Categories"
        ),
        "picture": picture if isinstance(picture, str) else "",
    }
    return {name: value for name, value in facts.items() if value}


def _value(values: Any) -> str:
    texts = [each for each in values or () if isinstance(each, dict)]
    texts.sort(key=lambda each: not str(each.get("language_tag", "")).startswith("en"))
    return next((text for each in texts if (text := str(each.get("value") or "").strip())), "")


def _with(item: Item, facts: Mapping[str, Any], pictures: Mapping[str, Path]) -> Item:
    found = {name: facts[name] for name in ("brand", "colour", "categories") if name in facts}
    picture = pictures.get(facts.get("picture", ""))
    if picture is not None:
        found["image"] = str(picture)
    title = item.title or facts.get("title", "")
    return replace(item, title=title, attributes={**found, **item.attributes})


def _pictures(folder: Path, wanted: AbstractSet[str]) -> dict[str, Path]:
    table = folder / "metadata" / "images.csv.gz"
    if not wanted or not table.exists():
        return {}
    rows = read(table, Layout((Column("image", "id", ("imageid",)), Column("path", "text"))))
    rows = rows.only(rows.frame["image"].isin(list(wanted)).to_numpy())
    places = [Path(place) for place in rows.frame["path"]]
    rows.refuse(
        np.array([".." in place.parts or place.is_absolute() for place in places], dtype=bool),
        lambda row: f"the path {rows.cell('path', row)!r} leaves the folder",
    )
    return {
        key: file
        for size in ("small", "original")  # of both, the latter counts
        for key, place in zip(rows.frame["image"], places, strict=True)
        if (file := (folder / size / place).resolve()).is_file()
    }


JOINS: Mapping[str, Callable[[Mapping[str, Item], Path], Mapping[str, Item]]] = {
    "links": with_links,
    "listing": with_listing,
    "pictures": with_pictures,
    "berkeley": with_berkeley,
}
