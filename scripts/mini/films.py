"""The films of mini: facts of a CC0 table, and what is written for them in films.csv.

Titles, years, directors and cast are facts of the table ``omdb`` in the package
``bokeh_sampledata`` (CC0, from Wikidata).  ``films.csv`` says which films, and holds what the table
lacks: a logline, MovieLens genres, which of the cast lead (checked against the table), and
``fame``, how widely the film is known on a scale of 1 to 5.
"""

import csv
import sqlite3
from contextlib import closing
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

SOURCE = Path(__file__).with_name("films.csv")
INSTALL = "pip install bokeh_sampledata==2026.1"


@dataclass(frozen=True)
class Film:
    """One film of the catalogue; `fame` only serves the simulation."""

    id: str
    imdb: str
    title: str
    year: int
    genres: tuple[str, ...]
    directors: tuple[str, ...]
    cast: tuple[str, ...]
    logline: str
    fame: int


def read_films() -> list[Film]:
    """The catalogue, numbered by title and year.

    Raises:
        ModuleNotFoundError: If ``bokeh_sampledata`` is not installed.
        ValueError: If a film, or one of its leads, is not in the table.
    """
    facts = _facts()
    with SOURCE.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    missing = [row["imdb"] for row in rows if row["imdb"] not in facts]
    if missing:
        raise ValueError(f"{SOURCE.name}: the table has no films {missing!r}")
    films = []
    rows.sort(key=lambda row: (*facts[row["imdb"]][:2], row["imdb"]))
    for number, row in enumerate(rows, 1):
        title, year, directors, cast = facts[row["imdb"]]
        leads = _split(row["cast"], "|")
        strangers = sorted(set(leads) - set(_split(cast, ", ")))
        if strangers:
            raise ValueError(f"{SOURCE.name}: {strangers!r} are not in the cast of {title!r}")
        films.append(
            Film(
                id=f"m{number:03d}",
                imdb=row["imdb"],
                title=title,
                year=year,
                genres=_split(row["genres"], "|"),
                directors=_split(directors, ", "),
                cast=leads,
                logline=row["logline"],
                fame=int(row["fame"]),
            )
        )
    return films


def _facts() -> dict[str, tuple[str, int, str, str]]:
    package = find_spec("bokeh_sampledata")
    if package is None or package.origin is None:
        raise ModuleNotFoundError("no package bokeh_sampledata", name="bokeh_sampledata")
    path = Path(package.origin).with_name("_data") / "movies.db"
    # An immutable file is read without a lock, so a read-only installation serves too.
    with closing(sqlite3.connect(f"{path.as_uri()}?immutable=1", uri=True)) as table:
        rows = table.execute('SELECT imdbID, Title, Year, Director, "Cast" FROM omdb')
        return {imdb: (title, year, by or "", cast or "") for imdb, title, year, by, cast in rows}


def _split(names: str, separator: str) -> tuple[str, ...]:
    return tuple(names.split(separator)) if names else ()
