"""Small simulated data, and requests on it."""

from __future__ import annotations

import numpy as np
import pandas as pd

from pytest_recsys_mt.datasets import Dataset
from pytest_recsys_mt.requests import Item, Rating, Request, Scale
from tests.support.recommenders import ScoringRecommender, resolve

SCALE = Scale(0.5, 5)
WORDS = ("night", "river", "the", "last", "a", "storm", "king", "road")
GENRES = ("Drama", "Comedy", "Noir", "Western")


def simulate(users: int = 40, items: int = 60, seed: int = 0) -> Dataset:
    """Half-star ratings; popular items have low numbers,
    and some items have no interaction.
    """
    rng = np.random.default_rng(seed)
    catalogue = {
        f"i{n}": Item(
            f"i{n}",
            " ".join(rng.choice(WORDS, 3)),
            1950 + n,
            {
                "genres": tuple(sorted(set(rng.choice(GENRES, 2).tolist()))),
                "logline": " ".join(rng.choice(WORDS, 6)),
            },
        )
        for n in rng.permutation(items)
    }
    rows = [
        (f"u{user}", f"i{item}", float(rng.integers(1, 11)) / 2, time)
        for user in range(users)
        for time, item in enumerate(
            rng.permutation(
                np.unique(
                    ((items - 5) * rng.random(rng.integers(3, 30)) ** 2).astype(int),
                ),
            ),
        )
    ]
    return Dataset(
        "simulated",
        catalogue,
        pd.DataFrame(rows, columns=["user", "item", "rating", "timestamp"]),
        SCALE,
    )


def fitted(spec: str, dataset: Dataset, seed: int = 0) -> ScoringRecommender:
    recommender = resolve(spec)
    assert isinstance(recommender, ScoringRecommender)
    recommender.fit(dataset, seed)
    return recommender


def requests(
    dataset: Dataset,
    candidates: int | None = None,
    k: int = 10,
) -> list[Request]:
    """Every user's request; candidates are drawn from the whole catalogue."""
    rng = np.random.default_rng(1)
    items = list(dataset.items.values())
    return [
        Request(
            user,
            history,
            dataset.scale,
            None
            if candidates is None
            else tuple(
                items[n] for n in rng.choice(len(items), candidates, replace=False)
            ),
            k,
        )
        for user, history in dataset.histories.items()
    ]


def ask(
    *ratings: tuple[str, float],
    k: int = 3,
    candidates: tuple[str, ...] | None = None,
) -> Request:
    """A request with a history of (item id, rating)."""
    return Request(
        "somebody",
        tuple(Rating(Item(item), value) for item, value in ratings),
        SCALE,
        None if candidates is None else tuple(Item(item) for item in candidates),
        k,
    )


def table(*rows: tuple[str, str, float], items: str = "abcdef") -> Dataset:
    """A dataset of (user, item, rating) with one-letter items."""
    frame = pd.DataFrame(rows, columns=["user", "item", "rating"])
    return Dataset(
        "table",
        {item: Item(item) for item in items},
        frame.assign(timestamp=range(len(rows))),
        SCALE,
    )
