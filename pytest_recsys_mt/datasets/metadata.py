"""Facts about films, joined by IMDb number: directors, cast and genres.

They come from ``movies.db`` in ``bokeh_sampledata`` (CC0, from Wikidata; 17,472 films from 1940 to
2014), the optional extra ``metadata``: ``pip install 'pytest-recsys-mt[metadata]'``.  A MovieLens
folder with ``links.csv`` is joined wherever that package is installed, and read without it elsewhere.
The facts become attributes of the items, so that `Dataset.digest` differs between the two.
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
"""What Wikidata puts behind a title to tell it from a book: ``Faust (2011 film)``."""


def imdb_id(number: int) -> str:
    """An IMDb identifier from its number, as ``links.csv`` has it: ``tt0114709``."""
    return f"tt{number:07d}"


def database() -> Path | None:
    """The file of film facts, or None where the extra is not installed."""
    try:
        from bokeh_sampledata.movies_data import movie_path
    except ImportError:
        return None
    return Path(movie_path)


def with_metadata(items: Mapping[str, Item], links: Mapping[str, str]) -> dict[str, Item]:
    """A catalogue with what is known of its films.

    Args:
        items: By item id.
        links: IMDb identifiers (``tt0114709``) by item id.

    Returns:
        The same items in the same order. Those in the database gain the attributes ``directors`` and
        ``cast`` (tuples of names, in the order of the database), and ``genres`` where they had none;
        without the extra nothing is added.

    Raises:
        DataError: If the database cannot be read.
    """
    path = database()
    if path is None:
        return dict(items)
    facts = _facts(path)
    return {key: _joined(item, facts.get(links.get(key, ""))) for key, item in items.items()}


def films() -> tuple[Item, ...]:
    """All films of the database, by IMDb identifier and with their directors; none without the extra.

    Raises:
        DataError: If the database cannot be read.
    """
    path = database()
    if path is None:
        return ()
    query = "SELECT imdbID, Title, Year, Director FROM omdb WHERE Title <> '' ORDER BY ID"
    return tuple(
        Item(
            imdb or "", _DISAMBIGUATED.sub("", title), year, {"directors": _names(directors or "")}
        )
        for imdb, title, year, directors in _rows(path, query)
    )


def _joined(item: Item, facts: Mapping[str, tuple[str, ...]] | None) -> Item:
    if facts is None:
        return item
    kept = {key: value for key, value in item.attributes.items() if value or key not in facts}
    return replace(item, attributes={**item.attributes, **facts, **kept})


def _facts(path: Path) -> dict[str, dict[str, tuple[str, ...]]]:
    """Directors, cast and genres, those that are known, by IMDb identifier."""
    query = "SELECT imdbID, Director, \"Cast\", Genre FROM omdb WHERE imdbID <> '' ORDER BY ID"
    names = ("directors", "cast", "genres")
    return {
        imdb: {name: _names(text) for name, text in zip(names, texts, strict=True) if text}
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


def _names(text: str) -> tuple[str, ...]:
    return tuple(name for part in text.split(",") if (name := part.strip()))
