"""The embedded dataset ``mini``: 351 real films (Wikidata, CC0) and 400 simulated users, by
``scripts/make_mini.py``.
"""

from collections.abc import Hashable, Mapping
from importlib.resources import files
from typing import Any

import pandas as pd

from pytest_recsys_mt.datasets.dataset import Dataset
from pytest_recsys_mt.requests import Item, Scale


def load_mini() -> Dataset:
    """The dataset.

    Items have the attributes ``genres``, ``directors``, ``cast`` (tuples of strings, leads first)
    and ``logline``; users have ``age`` and ``occupation``.
    """
    films = _read("items", {"year": "int64"})
    users = _read("users", {"age": "int64"})
    return Dataset(
        name="mini",
        items={item.id: item for item in map(_item, films.to_dict("records"))},
        interactions=_read("ratings", {"rating": "float64", "timestamp": "int64"}),
        scale=Scale(1, 5),
        users={
            user: {"age": age, "occupation": occupation}
            for user, age, occupation in users.itertuples(index=False)
        },
        family="movielens",
    )


def _read(name: str, numbers: dict[str, str]) -> pd.DataFrame:
    resource = files("pytest_recsys_mt.datasets") / "data" / f"mini-{name}.csv"
    with resource.open("r", encoding="utf-8") as file:
        frame: pd.DataFrame = pd.read_csv(file, dtype=str, keep_default_na=False)
    return frame.astype(numbers)


def _item(row: Mapping[Hashable, Any]) -> Item:
    lists = ("genres", "directors", "cast")
    attributes = {key: tuple(row[key].split("|")) if row[key] else () for key in lists}
    attributes["logline"] = row["logline"]
    return Item(row["item"], row["title"], int(row["year"]), attributes)
