"""Facts about films, joined by IMDb number: directors, cast and genres.

They come from ``movies.db`` in ``bokeh_sampledata`` (CC0, from Wikidata; 17,472 films from 1940 to
2014), the optional extra ``metadata``: ``pip install 'pytest-recsys-mt[metadata]'``.  If that
package is installed, a MovieLens folder with ``links.csv`` is joined with the facts; otherwise it
is read without them. The facts become attributes of the items, so `Dataset.digest` differs between
the two.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Mapping
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

from pytest_recsys_mt.errors import DataError
from pytest_recsys_mt.requests import Item

_DISAMBIGUATED = re.compile(r"\s\((?:\d{4} )?film\)$")
"""Wikidata's addition to a title that distinguishes it from a book: ``Faust (2011 film)``."""

_ARTICLE_LAST = re.compile(r"^(.*), (the|a|an)$")
"""A title in lower case in MovieLens's notation."""


def imdb_id(number: int) -> str:
    """An IMDb identifier from its number in ``links.csv``: ``tt0114709``."""
    return f"tt{number:07d}"


def database() -> Path | None:
    """The file of film facts, or None if the extra is not installed."""
    try:
        from bokeh_sampledata.movies_data import movie_path
    except ImportError:
        return None
    return Path(movie_path)


def with_metadata(items: Mapping[str, Item], links: Mapping[str, str]) -> dict[str, Item]:
    """A catalogue with the facts about its films.

    Args:
        items: By item id.
        links: IMDb identifiers (``tt0114709``) by item id.

    Returns:
        The same items in the same order. Those in the database gain the attributes ``directors``
        and ``cast`` (tuples of names, in the order of the database), and ``genres`` where missing;
        without the extra nothing is added.

    Raises:
        DataError: If the database cannot be read.
    """
    path = database()
    if path is None:
        return dict(items)
    facts = _facts(path)
    return {key: _joined(item, facts.get(links.get(key, ""))) for key, item in items.items()}


def with_metadata_by_title(items: Mapping[str, Item]) -> dict[str, Item]:
    """A catalogue with the facts about the films of the same name and year.

    Args:
        items: By item id. Those without a year gain nothing.

    Returns:
        As `with_metadata`; a name and year of several films in the database do not match.
    """
    path = database()
    if path is None:
        return dict(items)
    query = "SELECT imdbID, Title, Year FROM omdb WHERE Title <> '' ORDER BY ID"
    links: dict[tuple[str, int | None], str] = {}
    for imdb, title, year in _rows(path, query):
        key = (title_key(_DISAMBIGUATED.sub("", title)), year)
        links[key] = "" if key in links else imdb or ""
    facts = _facts(path)
    return {
        key: _joined(item, None if item.year is None else facts.get(links.get(item_key(item), "")))
        for key, item in items.items()
    }


def title_key(title: str) -> str:
    """A title in the form that compares titles of two sources.

    Letters and digits in lower case, an article in front: ``Matrix, The`` is ``thematrix``.
    """
    moved = _ARTICLE_LAST.sub(r"\2 \1", title.casefold())
    return "".join(c for c in moved if c.isalnum())


def item_key(item: Item) -> tuple[str, int | None]:
    """What identifies a film if only its name is known."""
    return title_key(item.title), item.year


def films() -> tuple[Item, ...]:
    """All films of the database, by IMDb identifier, with their directors; empty without the extra."""
    path = database()
    if path is None:
        return ()
    query = "SELECT imdbID, Title, Year, Director FROM omdb WHERE Title <> '' ORDER BY ID"
    return tuple(
        Item(
            imdb or "",
            _DISAMBIGUATED.sub("", title),
            year,
            {"directors": names_in(directors or "")},
        )
        for imdb, title, year, directors in _rows(path, query)
    )


def _joined(item: Item, facts: Mapping[str, tuple[str, ...]] | None) -> Item:
    if facts is None:
        return item
    kept = {key: value for key, value in item.attributes.items() if value or key not in facts}
    return replace(item, attributes={**item.attributes, **facts, **kept})


def _facts(path: Path) -> dict[str, dict[str, tuple[str, ...]]]:
    """Known directors, cast and genres, by IMDb identifier."""
    query = "SELECT imdbID, Director, \"Cast\", Genre FROM omdb WHERE imdbID <> '' ORDER BY ID"
    names = ("directors", "cast", "genres")
    return {
        imdb: {name: names_in(text) for name, text in zip(names, texts, strict=True) if text}
        for imdb, *texts in _rows(path, query)
    }


def _rows(path: Path, query: str) -> list[tuple[Any, ...]]:
    try:
        with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)) as connection:
            return connection.execute(query).fetchall()
    except sqlite3.Error as problem:
        raise DataError(
            f"the film facts {str(path)!r} cannot be read ({problem}); reinstall bokeh_sampledata"
        ) from problem


def names_in(text: str) -> tuple[str, ...]:
    """Names from their list, ``"Ann Lee, Bo Lu"``."""
    return tuple(name for part in text.split(",") if (name := part.strip()))
