"""Datasets for these tests, small enough to work out by hand or to check whole."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from pytest_recsys_mt.datasets import Dataset
from pytest_recsys_mt.requests import Item, Scale


def dataset_of(
    histories: Mapping[str, Sequence[str]],
    items: Sequence[Item] = (),
    name: str = "made",
) -> Dataset:
    """Users with the ids of their items, oldest first; items
    without a catalogue are called by id.
    """
    known = {item.id: item for item in items}
    ids = {
        item: known.get(item, Item(item, f"Title {item}"))
        for own in histories.values()
        for item in own
    }
    rows = [
        (user, item, 1.0, time)
        for user, own in histories.items()
        for time, item in enumerate(own)
    ]
    frame = pd.DataFrame(rows, columns=["user", "item", "rating", "timestamp"])
    return Dataset(name, {**ids, **known}, frame, Scale())


GROUPS, ITEMS, USERS = 4, 15, 20
"""Tastes, items of each, users of each."""


def four_tastes(seed: int = 0) -> Dataset:
    """Users who have half of the items of their taste and
    one of another; items know everything.
    """
    rng = np.random.default_rng(seed)
    items = [_item(taste, number) for taste in range(GROUPS) for number in range(ITEMS)]
    histories = {}
    for user in range(GROUPS * USERS):
        taste = user % GROUPS
        own = rng.choice(ITEMS, ITEMS // 2 + 1, replace=False) + taste * ITEMS
        other = rng.integers(ITEMS) + (taste + 1) % GROUPS * ITEMS
        histories[f"u{user:02d}"] = [
            items[place].id for place in rng.permutation([*own, other])
        ]
    return dataset_of(histories, items)


def _item(taste: int, number: int) -> Item:
    name = f"{taste}-{number:02d}"
    attributes = {
        "genres": (f"Genre {taste}", f"Genre {4 + number % 8}"),
        "directors": (f"Director {number % 7}", f"Director {10 + taste}"),
        "cast": tuple(f"Actor {(2 * number + step) % 24}" for step in range(6)),
        "brand": ("ACME", "Acme", "Bolt", "Cask", "Dune", "Echo")[number % 6],
        "colour": f"Colour {number % 5}",
        "categories": (
            f"Root {taste}",
            f"Branch {taste}{number % 3}",
            f"Leaf {taste}{number}",
        ),
        "logline": f"The story of {name}.",
        "image_description": {"summary": f"A poster of {name}"},
        "image": f"{name}.png",
    }
    return Item(name, f"Title {name}", 1990 + number, attributes)
