"""Data whose next items are known: items stand in a ring, and users walk along it."""

from __future__ import annotations

import numpy as np
import pandas as pd

from pytest_recsys_mt.datasets import Dataset
from pytest_recsys_mt.requests import Item, Rating, Request, Scale
from tests.support.recommenders import ScoringRecommender

SCALE = Scale(1, 5)


def ring(items: int = 20, users: int = 40, steps: int = 8, cold: int = 2) -> Dataset:
    """Each user takes `steps` items in a row; the last
    `cold` items are outside the ring.
    """
    rng = np.random.default_rng(0)
    rows = [
        (
            f"u{user}",
            f"i{(start + step) % (items - cold)}",
            float(rng.integers(1, 6)),
            step,
        )
        for user, start in enumerate(rng.integers(items - cold, size=users))
        for step in range(steps)
    ]
    catalogue = {
        f"i{n}": Item(
            f"i{n}",
            f"film number{n}",
            2000,
            {"genres": ("odd" if n % 2 else "even",)},
        )
        for n in range(items)
    }
    frame = pd.DataFrame(rows, columns=["user", "item", "rating", "timestamp"])
    return Dataset("ring", catalogue, frame, SCALE)


def request(
    *items: int,
    k: int = 5,
    candidates: tuple[str, ...] | None = None,
) -> Request:
    """A request of somebody who had these items of the ring."""
    return Request(
        "somebody",
        tuple(Rating(Item(f"i{n}"), 4.0) for n in items),
        SCALE,
        None if candidates is None else tuple(map(Item, candidates)),
        k,
    )


def fitted(
    recommender: ScoringRecommender,
    dataset: Dataset | None = None,
    seed: int = 0,
) -> ScoringRecommender:
    recommender.fit(ring() if dataset is None else dataset, seed)
    return recommender
