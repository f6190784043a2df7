"""The films of mini: facts of a CC0 table, and what is written for them in films.csv.

Titles, years, directors and cast are facts of the table ``omdb`` in the package
``bokeh_sampledata`` (`film_source`).  ``films.csv`` says which films, and holds what
the table lacks: a logline, MovieLens genres, which of the cast lead (checked against
the table), and ``fame``, how widely the film is known on a scale of 1 to 5.
"""

import csv
from dataclasses import dataclass
from pathlib import Path

from film_source import names_in, rows

SOURCE = Path(__file__).with_name("films.csv")


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
        listed = list(csv.DictReader(file))
    missing = [row["imdb"] for row in listed if row["imdb"] not in facts]
    if missing:
        raise ValueError(f"{SOURCE.name}: the table has no films {missing!r}")
    films = []
    listed.sort(key=lambda row: (*facts[row["imdb"]][:2], row["imdb"]))
    for number, row in enumerate(listed, 1):
        title, year, directors, cast = facts[row["imdb"]]
        leads = _split(row["cast"])
        strangers = sorted(set(leads) - set(cast))
        if strangers:
            raise ValueError(
                f"{SOURCE.name}: {strangers!r} are not in the cast of {title!r}",
            )
        films.append(
            Film(
                id=f"m{number:03d}",
                imdb=row["imdb"],
                title=title,
                year=year,
                genres=_split(row["genres"]),
                directors=directors,
                cast=leads,
                logline=row["logline"],
                fame=int(row["fame"]),
            ),
        )
    return films


def _facts() -> dict[str, tuple[str, int, tuple[str, ...], tuple[str, ...]]]:
    table = rows('SELECT imdbID, Title, Year, Director, "Cast" FROM omdb')
    return {
        imdb: (title, year, names_in(directors), names_in(cast))
        for imdb, title, year, directors, cast in table
    }


def _split(names: str) -> tuple[str, ...]:
    return tuple(names.split("|")) if names else ()
