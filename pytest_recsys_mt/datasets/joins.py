"""Facts that further files of a folder add to the items of a format.

* ``links.csv`` of MovieLens: IMDb numbers, by which `metadata` knows directors and cast.
* "Netflix Movies and TV Shows" (https://www.kaggle.com/datasets/shivamb/netflix-shows), the source of LRWorld's
  metadata: directors, cast, genres and loglines, by name and year.
* Pictures of items (``posters/17.jpg``), and their descriptions by a multimodal model, one a line:
  ``{"item": "17", "description": "A red square."}``.
* `berkeley`: pictures and colours of products.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from pytest_recsys_mt.datasets import berkeley, metadata
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
    if not (folder / "links.csv").is_file():
        return items
    columns = (Column("item", "id", ("movieid",)), Column("imdb", "integer", ("imdbid",)))
    links = read(folder / "links.csv", Layout(columns))
    links.refuse_repeats("item")
    pairs = links.frame.itertuples(index=False)
    return metadata.with_metadata(
        items, {str(item): metadata.imdb_id(imdb) for item, imdb in pairs}
    )


def with_listing(items: Mapping[str, Item], folder: Path) -> Mapping[str, Item]:
    """A catalogue with the list's facts about films of the same name and year, where missing.

    Two entries of one name and year do not match.
    """
    if not (folder / LISTING).is_file():
        return items
    facts: dict[tuple[str, int | None], dict[str, Any]] = {}
    for row in read(folder / LISTING, _LISTED).frame.itertuples(index=False):
        title, directors, cast, year, genres, logline = row
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
    if (folder / "posters").is_dir():
        for path in sorted((folder / "posters").iterdir()):
            if path.suffix.lower() in _PICTURES:
                found.setdefault(path.stem, {})["image"] = str(path.resolve())
    if (folder / DESCRIPTIONS).is_file():
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


JOINS: Mapping[str, Callable[[Mapping[str, Item], Path], Mapping[str, Item]]] = {
    "links": with_links,
    "listing": with_listing,
    "pictures": with_pictures,
    "berkeley": berkeley.joined,
}
