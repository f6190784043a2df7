"""A list of titles with directors, cast, genres and loglines, joined by name and year: "Netflix
Movies and TV Shows" (https://www.kaggle.com/datasets/shivamb/netflix-shows), the source of
LRWorld's metadata.
"""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from pytest_recsys_mt.datasets.delimited import Layout, read
from pytest_recsys_mt.datasets.metadata import item_key, names_in, title_key
from pytest_recsys_mt.datasets.rows import Column
from pytest_recsys_mt.requests import Item

FILE = "netflix_titles.csv"
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


def with_listing(items: Mapping[str, Item], folder: Path) -> dict[str, Item]:
    """A catalogue with the list's facts about films of the same name and year, where missing.

    Two entries of one name and year do not match.
    """
    if not (folder / FILE).is_file():
        return dict(items)
    facts: dict[tuple[str, int | None], dict[str, Any]] = {}
    for row in read(folder / FILE, _LISTED).frame.itertuples(index=False):
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
