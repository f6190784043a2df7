"""How long our nearest neighbours take against a plain scipy loop, and against implicit.

All run in this process on the same simulated data of the size and the skew of MovieLens 1M; compare the
ratios, not the seconds. implicit takes part where it is installed.

    python benchmarks/knn.py [--users 6040] [--items 3706] [--ratings 1000209]
"""

import argparse
import time
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec

import numpy as np
import pandas as pd
from scipy.sparse import csr_array, csr_matrix, diags_array, vstack

from pytest_recsys_mt.datasets.dataset import Dataset
from pytest_recsys_mt.recommenders import ItemKNN, UserKNN
from pytest_recsys_mt.requests import Item, Request, Scale

NEIGHBOURS = 30
K = 10


def simulate(users: int, items: int, ratings: int) -> Dataset:
    """Ratings with a Zipf-like popularity and a log-normal activity."""
    rng = np.random.default_rng(0)
    activity = rng.lognormal(0, 1, users)
    popularity = 1 / (np.arange(items) + 20) ** 0.9
    pairs = np.empty(0, dtype=np.int64)
    while pairs.size < ratings:
        user = rng.choice(users, ratings, p=activity / activity.sum())
        item = rng.choice(items, ratings, p=popularity / popularity.sum())
        pairs = np.unique(np.concatenate([pairs, user * items + item]))
    pairs = rng.permutation(pairs)[:ratings]
    frame = pd.DataFrame(
        {
            "user": (pairs // items).astype(str),
            "item": (pairs % items).astype(str),
            "rating": rng.integers(1, 6, ratings).astype(float),
            "timestamp": np.arange(ratings),
        }
    )
    return Dataset("simulated", {str(i): Item(str(i)) for i in range(items)}, frame, Scale())


def seconds(work: Callable[..., object], *arguments: object, **options: object) -> float:
    start = time.perf_counter()
    work(*arguments, **options)
    return time.perf_counter() - start


def loop_fit(matrix: csr_array[np.float64]) -> csr_array[np.float64]:
    """Item neighbours as one writes them first: one product, then a loop over its rows."""
    lengths = np.sqrt(matrix.power(2).sum(axis=0))
    scaled = matrix @ diags_array(1 / np.maximum(lengths, 1e-12)).tocsr()
    cosines = (scaled.T @ scaled).tocsr()
    rows = []
    for row in range(cosines.shape[0]):
        dense = cosines[[row]].toarray().ravel()
        dense[row] = 0
        dense[np.argsort(-dense, kind="stable")[NEIGHBOURS:]] = 0
        rows.append(csr_array(dense[None, :]))
    return vstack(rows, format="csr")


def loop_answer(
    matrix: csr_array[np.float64], similarity: csr_array[np.float64]
) -> list[np.ndarray]:
    answers = []
    for row in range(matrix.shape[0]):
        history = matrix[[row]]
        scores = (history @ similarity).toarray().ravel()
        scores[history.indices] = -np.inf
        answers.append(np.argsort(-scores, kind="stable")[:K])
    return answers


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--users", type=int, default=6040)
    parser.add_argument("--items", type=int, default=3706)
    parser.add_argument("--ratings", type=int, default=1_000_209)
    arguments = parser.parse_args()
    dataset = simulate(arguments.users, arguments.items, arguments.ratings)
    requests = [
        Request(user, history, dataset.scale, None, K)
        for user, history in dataset.histories.items()
    ]
    rows: list[tuple[str, float, float]] = []
    for recommender in (ItemKNN(NEIGHBOURS), UserKNN(NEIGHBOURS)):
        fit = seconds(recommender.fit, dataset, 0)
        rows.append((recommender.name, fit, seconds(recommender.recommend, requests)))

    matrix = recommender.catalogue.interactions(dataset, "ratings")
    fit = seconds(loop_fit, matrix)
    similarity = loop_fit(matrix)
    rows.append(("scipy loop", fit, seconds(loop_answer, matrix, similarity)))

    if find_spec("implicit"):
        other = import_module("implicit.nearest_neighbours").CosineRecommender(K=NEIGHBOURS + 1)
        stored = csr_matrix(matrix)
        everyone = np.arange(matrix.shape[0])
        fit = seconds(other.fit, stored, show_progress=False)
        rows.append(("implicit", fit, seconds(other.recommend, everyone, stored, N=K)))

    print(f"{len(requests)} users, {len(dataset.items)} items, {len(dataset.interactions)} ratings")
    print(f"{'':12} {'fit s':>8} {'ratio':>7} {'answer s':>9} {'ratio':>7}")
    for name, fit, answer in rows:
        print(
            f"{name:12} {fit:8.2f} {fit / rows[0][1]:7.1f} {answer:9.2f} {answer / rows[0][2]:7.1f}"
        )


if __name__ == "__main__":
    main()
