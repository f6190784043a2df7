"""MovieLens: 1M and 10M, 100K, and the later releases as CSV.

Their READMEs in https://files.grouplens.org/datasets/movielens/ describe the files (``ml-1m-README.txt``,
``ml-10m-README.html``, ``ml-100k-README.txt``, ``ml-25m-README.html``). Postal codes are left out.
"""

from collections.abc import Mapping
from itertools import compress
from pathlib import Path
from typing import Any

from pytest_recsys_mt.datasets import films, metadata
from pytest_recsys_mt.datasets.dataset import Dataset
from pytest_recsys_mt.datasets.interactions import checked
from pytest_recsys_mt.datasets.loading import Format
from pytest_recsys_mt.datasets.pictures import with_pictures
from pytest_recsys_mt.datasets.rows import Column, Kind, Layout, Rows, bare, read
from pytest_recsys_mt.datasets.title_list import with_listing
from pytest_recsys_mt.requests import Item, Scale

STARS = Scale(1.0, 5.0)
HALF_STARS = Scale(0.5, 5.0)

AGES: Mapping[int, str] = {
    1: "under 18",
    18: "18-24",
    25: "25-34",
    35: "35-44",
    45: "45-49",
    50: "50-55",
    56: "56 or over",
}
"""Age ranges by the code of ``users.dat``."""
OCCUPATIONS = (
    "other",
    "academic/educator",
    "artist",
    "clerical/admin",
    "college/grad student",
    "customer service",
    "doctor/health care",
    "executive/managerial",
    "farmer",
    "homemaker",
    "K-12 student",
    "lawyer",
    "programmer",
    "retired",
    "sales/marketing",
    "scientist",
    "self-employed",
    "technician/engineer",
    "tradesman/craftsman",
    "unemployed",
    "writer",
)
"""Occupations by the code of ``users.dat``."""


GENRES = (
    "unknown",
    "Action",
    "Adventure",
    "Animation",
    "Children's",
    "Comedy",
    "Crime",
    "Documentary",
    "Drama",
    "Fantasy",
    "Film-Noir",
    "Horror",
    "Musical",
    "Mystery",
    "Romance",
    "Sci-Fi",
    "Thriller",
    "War",
    "Western",
)
"""The flags of ``u.item`` in their order."""

_RATINGS: Mapping[str, Kind] = {
    "user": "integer",
    "item": "integer",
    "rating": "number",
    "timestamp": "integer",
}
_MOVIES: Mapping[str, Kind] = {"item": "integer", "title": "text", "genres": "text"}
_USERS_1M = bare(
    "::",
    {
        "user": "integer",
        "gender": "text",
        "age": "integer",
        "occupation": "integer",
        "postal_code": "text",
    },
    "latin-1",
)
_TAGS_10M = bare(
    "::", {"user": "integer", "item": "integer", "tag": "text", "timestamp": "integer"}
)
_ITEMS_100K = bare(
    "|",
    {
        "item": "integer",
        "title": "text",
        "release": "text",
        "video": "text",
        "url": "text",
        **dict.fromkeys(GENRES, "integer"),
    },
    "latin-1",
)
_USERS_100K = bare(
    "|",
    {
        "user": "integer",
        "age": "integer",
        "gender": "text",
        "occupation": "text",
        "postal code": "text",
    },
    "latin-1",
)


def _csv(columns: Mapping[str, Kind]) -> Layout:
    """The layout of a CSV file, whose headers name users and items by their ids."""
    ids = {"user": ("userid",), "item": ("movieid",), "imdb": ("imdbid",)}
    return Layout(tuple(Column(name, kind, ids.get(name, ())) for name, kind in columns.items()))


def load_1m(folder: Path, name: str) -> Dataset:
    """Read a folder of MovieLens 1M, in Latin-1, whose users have attributes."""
    users = _users_1m(folder / "users.dat")
    items = films.catalogue(read(folder / "movies.dat", bare("::", _MOVIES, "latin-1")), {})
    ratings = read(folder / "ratings.dat", bare("::", _RATINGS, "latin-1"))
    return _made(name, items, ratings, STARS, users)


def load_10m(folder: Path, name: str) -> Dataset:
    """Read a folder of MovieLens 10M, in UTF-8, whose users give tags."""
    tags = films.frequent_tags(read(folder / "tags.dat", _TAGS_10M).frame)
    items = films.catalogue(read(folder / "movies.dat", bare("::", _MOVIES)), tags)
    return _made(name, items, read(folder / "ratings.dat", bare("::", _RATINGS)), HALF_STARS)


def load_100k(folder: Path, name: str) -> Dataset:
    """Read a folder of MovieLens 100K, whose users have attributes."""
    catalogue = read(folder / "u.item", _ITEMS_100K)
    catalogue.refuse_repeats("item")
    flags = catalogue.frame[list(GENRES)]
    catalogue.refuse(
        ~flags.isin([0, 1]).all(axis="columns").to_numpy(),
        lambda row: f"the genre flags are {flags.iloc[row].tolist()}, not all 0 or 1",
    )
    items = {}
    keys, titles = catalogue.frame["item"].astype(str), catalogue.frame["title"]
    for key, text, marks in zip(keys, titles, flags.to_numpy(dtype=bool), strict=True):
        title, year = films.split_title(text)
        marked = compress(GENRES, marks)
        items[key] = Item(key, title, year, {"genres": films.split_genres("|".join(marked))})
    people = read(folder / "u.user", _USERS_100K)
    people.refuse_repeats("user")
    users = {
        str(user): {"age": age, "gender": gender, "occupation": occupation}
        for user, age, gender, occupation, _ in people.frame.itertuples(index=False)
    }
    ratings = read(folder / "u.data", bare("\t", _RATINGS, "latin-1"))
    return _made(name, items, ratings, STARS, users)


def load_csv(folder: Path, name: str) -> Dataset:
    """Read a folder of CSV files; those of tags, of links to `metadata` and of others are optional."""
    movies = read(folder / "movies.csv", _csv(_MOVIES))
    tags = {}
    if (folder / "tags.csv").is_file():
        given = read(folder / "tags.csv", _csv({"item": "integer", "tag": "text"}))
        tags = films.frequent_tags(given.frame)
    items = films.catalogue(movies, tags)
    if (folder / "links.csv").is_file():
        links = read(folder / "links.csv", _csv({"item": "integer", "imdb": "integer"}))
        links.refuse_repeats("item")
        pairs = links.frame.itertuples(index=False)
        known = {str(item): metadata.imdb_id(imdb) for item, imdb in pairs}
        items = metadata.with_metadata(items, known)
    items = with_pictures(with_listing(items, folder), folder)
    return _made(name, items, read(folder / "ratings.csv", _csv(_RATINGS)), HALF_STARS)


def _made(
    name: str,
    items: Mapping[str, Item],
    ratings: Rows,
    scale: Scale,
    users: Mapping[str, Mapping[str, Any]] | None = None,
) -> Dataset:
    kept = checked(ratings, items, scale)
    return Dataset(name, items, kept, scale, users or {}, family="movielens")


def _users_1m(path: Path) -> dict[str, dict[str, str]]:
    people = read(path, _USERS_1M)
    people.refuse_repeats("user")
    frame = people.frame
    people.refuse(
        ~frame["age"].isin(list(AGES)).to_numpy(),
        lambda row: f"age code {frame['age'].iloc[row]} is not one of {list(AGES)}",
    )
    people.refuse(
        ~frame["occupation"].between(0, len(OCCUPATIONS) - 1).to_numpy(),
        lambda row: (
            f"occupation code {frame['occupation'].iloc[row]} is not in 0 to {len(OCCUPATIONS) - 1}"
        ),
    )
    return {
        str(user): {"gender": gender, "age": AGES[age], "occupation": OCCUPATIONS[occupation]}
        for user, gender, age, occupation, _ in frame.itertuples(index=False)
    }


FORMATS = (
    Format("MovieLens 100K", ("u.data", "u.item", "u.user"), load_100k),
    Format("MovieLens as CSV", ("ratings.csv", "movies.csv"), load_csv),
    Format("MovieLens 1M", ("ratings.dat", "movies.dat", "users.dat"), load_1m),
    Format("MovieLens 10M", ("ratings.dat", "movies.dat", "tags.dat"), load_10m),
)
