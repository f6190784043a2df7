"""MovieLens 100K: tab and pipe separated files in Latin-1.

Files, as https://files.grouplens.org/datasets/movielens/ml-100k-README.txt describes them:
``u.data`` (user, item, rating, timestamp, tabs), ``u.item`` (id, title, release date, video date, URL
and one flag per genre, pipes), ``u.user`` (id, age, gender, occupation, postal code, pipes).  Users
have the attributes ``age``, ``gender`` and ``occupation``; postal codes are left out.
"""

from pathlib import Path

from pytest_recsys_mt.datasets import films
from pytest_recsys_mt.datasets.dataset import Dataset
from pytest_recsys_mt.datasets.interactions import checked
from pytest_recsys_mt.datasets.loading import Format
from pytest_recsys_mt.datasets.rows import bare, read
from pytest_recsys_mt.requests import Item, Scale

SCALE = Scale(1.0, 5.0)
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

_DATA = bare(
    "\t",
    {"user": "integer", "item": "integer", "rating": "number", "timestamp": "integer"},
    "latin-1",
)
_ITEM = bare(
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
_USER = bare(
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


def load(folder: Path, name: str) -> Dataset:
    """Read a folder of this format, as `loading.Format` says."""
    catalogue = read(folder / "u.item", _ITEM)
    catalogue.refuse_repeats("item")
    flags = catalogue.frame[list(GENRES)]
    catalogue.refuse(
        ~flags.isin([0, 1]).all(axis="columns").to_numpy(),
        lambda row: f"the genre flags are {flags.iloc[row].tolist()}, not all 0 or 1",
    )
    items = {}
    for key, text, marks in zip(
        catalogue.frame["item"].astype(str),
        catalogue.frame["title"],
        flags.to_numpy(dtype=bool),
        strict=True,
    ):
        title, year = films.split_title(text)
        marked = [genre for genre, mark in zip(GENRES, marks, strict=True) if mark]
        items[key] = Item(key, title, year, {"genres": films.split_genres("|".join(marked))})

    people = read(folder / "u.user", _USER)
    people.refuse_repeats("user")
    users = {
        str(user): {"age": age, "gender": gender, "occupation": occupation}
        for user, age, gender, occupation, _ in people.frame.itertuples(index=False)
    }
    return Dataset(
        name,
        items,
        checked(read(folder / "u.data", _DATA), items, SCALE),
        SCALE,
        users,
        family="movielens",
    )


FORMATS = (Format("MovieLens 100K", ("u.data", "u.item", "u.user"), load),)
