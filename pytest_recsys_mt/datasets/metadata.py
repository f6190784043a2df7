"""Facts about films, joined by IMDb number or by name and year: directors, cast and
genres of Wikidata (CC0).

``scripts/make_film_facts.py`` makes the file ``data/films.csv.xz`` of 17,472 films from
1940 to 2014.
"""

import csv
import lzma
import re
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from pytest_recsys_mt.requests import Item

_FACTS = ("directors", "cast", "genres")
_ARTICLE_LAST = re.compile(
    r"^(.*), (the|a|an)$",
)  # a title in lower case in MovieLens's notation


def imdb_id(number: int) -> str:
    """An IMDb identifier from its number in ``links.csv``: ``tt0114709``."""
    return f"tt{number:07d}"


def with_metadata(
    items: Mapping[str, Item],
    links: Mapping[str, str],
) -> dict[str, Item]:
    """A catalogue with the facts about its films, by their IMDb identifiers
    (``tt0114709``).

    Known films gain ``directors`` and ``cast`` (tuples of names), and ``genres`` where
    missing.
    """
    facts_by_imdb = {film.id: film.attributes for film in _table()}
    joined = {}
    for key, item in items.items():
        facts = facts_by_imdb.get(links.get(key, ""))
        joined[key] = _joined(item, facts)
    return joined


def with_metadata_by_title(items: Mapping[str, Item]) -> dict[str, Item]:
    """The same by name and year, if only one film has them;
    items without a year gain nothing.
    """
    facts_by_title: dict[tuple[str, int | None], Mapping[str, Any] | None] = {}
    for film in _table():
        title = item_key(film)
        is_ambiguous = title in facts_by_title
        facts_by_title[title] = None if is_ambiguous else film.attributes
    joined = {}
    for key, item in items.items():
        facts = facts_by_title.get(item_key(item))
        joined[key] = _joined(item, facts)
    return joined


def title_key(title: str) -> str:
    """A title to compare in two sources: ``Matrix, The`` is ``thematrix``."""
    moved = _ARTICLE_LAST.sub(r"\2 \1", title.casefold())
    return "".join(letter for letter in moved if letter.isalnum())


def item_key(item: Item) -> tuple[str, int | None]:
    """The key of a film of which only the name is known."""
    return title_key(item.title), item.year


def films() -> tuple[Item, ...]:
    """All films that are known, by IMDb identifier, with their directors."""
    listed = []
    for film in _table():
        directors = film.attributes.get("directors", ())
        listed.append(replace(film, attributes={"directors": directors}))
    return tuple(listed)


def _joined(item: Item, facts: Mapping[str, Any] | None) -> Item:
    """The item with the facts; its own attributes count more, unless they are empty."""
    if facts is None:
        return item
    kept = {
        key: value
        for key, value in item.attributes.items()
        if value or key not in facts
    }
    return replace(item, attributes={**item.attributes, **facts, **kept})


@cache
def _table() -> tuple[Item, ...]:
    path = Path(__file__).parent / "data" / "films.csv.xz"
    with lzma.open(path, "rt", encoding="utf-8", newline="") as lines:
        return tuple(_film(row) for row in csv.DictReader(lines))


def _film(row: Mapping[str, str]) -> Item:
    facts = {name: tuple(row[name].split("|")) for name in _FACTS if row[name]}
    return Item(row["imdb"], row["title"], int(row["year"]), facts)


def names_in(text: str) -> tuple[str, ...]:
    """Names from their list, ``"Ann Lee, Bo Lu"``."""
    names = [part.strip() for part in text.split(",")]
    return tuple(name for name in names if name)
