"""MovieLens 1M and 10M: ``.dat`` files with fields between double colons.

Files, as https://files.grouplens.org/datasets/movielens/ml-1m-README.txt and ml-10m-README.html
describe them: ``ratings.dat`` (user, item, rating, timestamp), ``movies.dat`` (id, title, genres).

* 1M is Latin-1, rates in whole stars, and has ``users.dat`` (id, gender, age code, occupation code,
  postal code).  Users have the attributes ``gender``, ``age`` (the range that the code stands for)
  and ``occupation`` (its name); postal codes are left out.
* 10M is UTF-8, rates in half stars, and has ``tags.dat`` (user, item, tag, timestamp), whose most
  frequent tags become the items' attribute ``tags``.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pytest_recsys_mt.datasets import films
from pytest_recsys_mt.datasets.dataset import Dataset
from pytest_recsys_mt.datasets.interactions import checked
from pytest_recsys_mt.datasets.loading import Format
from pytest_recsys_mt.datasets.rows import Kind, Layout, bare, read
from pytest_recsys_mt.requests import Scale

SCALE_1M = Scale(1.0, 5.0)
SCALE_10M = Scale(0.5, 5.0)

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


def load_1m(folder: Path, name: str) -> Dataset:
    """Read a folder of MovieLens 1M, as `loading.Format` says."""
    users = _users(folder / "users.dat")
    return _load(folder, name, SCALE_1M, "latin-1", {}, users)


def load_10m(folder: Path, name: str) -> Dataset:
    """Read a folder of MovieLens 10M, as `loading.Format` says."""
    layout = _layout("utf-8", user="integer", item="integer", tag="text", timestamp="integer")
    tags = films.frequent_tags(read(folder / "tags.dat", layout).frame)
    return _load(folder, name, SCALE_10M, "utf-8", tags, {})


def _layout(encoding: str, **columns: Kind) -> Layout:
    return bare("::", columns, encoding)


def _load(
    folder: Path,
    name: str,
    scale: Scale,
    encoding: str,
    tags: Mapping[str, tuple[str, ...]],
    users: Mapping[str, Mapping[str, Any]],
) -> Dataset:
    movies = read(
        folder / "movies.dat", _layout(encoding, item="integer", title="text", genres="text")
    )
    items = films.catalogue(movies, tags)
    ratings = read(
        folder / "ratings.dat",
        _layout(encoding, user="integer", item="integer", rating="number", timestamp="integer"),
    )
    return Dataset(name, items, checked(ratings, items, scale), scale, users, family="movielens")


def _users(path: Path) -> dict[str, dict[str, str]]:
    people = read(
        path,
        _layout(
            "latin-1",
            user="integer",
            gender="text",
            age="integer",
            occupation="integer",
            postal_code="text",
        ),
    )
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
    Format("MovieLens 1M", ("ratings.dat", "movies.dat", "users.dat"), load_1m),
    Format("MovieLens 10M", ("ratings.dat", "movies.dat", "tags.dat"), load_10m),
)
