"""How long our nearest neighbours and `ials` take against a plain scipy loop, and
against implicit.

All run in turn in this process, on one thread, on the same simulated data of the size
and the skew of MovieLens 1M, after a first round that counts for nothing. The figures
are medians of processor time, and of the ratios within a round. implicit takes part
where it is installed. It gets a matrix, and once the table that ours get, whose names
must first become rows and columns. `ials` and its factorisation, which solves each
system exactly or by three steps of conjugate gradients, make 15 rounds over users and
items, the default of both.

    python -m benchmarks.knn [--users 6040] [--items 3706] [--ratings 1000209] [--rounds
    7] [--fit-only] [--als]
"""

import argparse
import os
import time
from collections.abc import Callable
from importlib import import_module
from importlib.metadata import version
from importlib.util import find_spec
from statistics import median
from typing import Any

for _threads in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(_threads, "1")

import numpy as np
import pandas as pd
from scipy.sparse import csr_array, csr_matrix, diags_array, vstack

from benchmarks import tables
from pytest_recsys_mt.datasets.dataset import Dataset
from pytest_recsys_mt.recommenders import IALS, ItemKNN, UserKNN
from pytest_recsys_mt.recommenders.scoring import Sparse
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
        },
    )
    return Dataset(
        "simulated",
        {str(i): Item(str(i)) for i in range(items)},
        frame,
        Scale(),
    )


def seconds(
    work: Callable[..., Any],
    *arguments: object,
    **options: object,
) -> tuple[float, Any]:
    """Processor time of a call, and what it returns."""
    start = time.process_time()
    result = work(*arguments, **options)
    return time.process_time() - start, result


def loop_fit(matrix: Sparse) -> Sparse:
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


def loop_answer(matrix: Sparse, similarity: Sparse) -> list[np.ndarray]:
    answers = []
    for row in range(matrix.shape[0]):
        history = matrix[[row]]
        scores = (history @ similarity).toarray().ravel()
        scores[history.indices] = -np.inf
        answers.append(np.argsort(-scores, kind="stable")[:K])
    return answers


def implicit_fit(matrix: csr_matrix) -> Any:
    """Cosine neighbours of implicit, on one thread; an item is its own neighbour there."""
    other = import_module("implicit.nearest_neighbours")
    model = other.CosineRecommender(K=NEIGHBOURS + 1, num_threads=1)
    model.fit(matrix, show_progress=False)
    return model


def table_fit(dataset: Dataset) -> Any:
    """Those of implicit, from the same table as ours."""
    users, names = dataset.interactions["user"].factorize(sort=True)
    items, ids = dataset.interactions["item"].factorize(sort=True)
    ratings = dataset.interactions["rating"].to_numpy(dtype=np.float64)
    return implicit_fit(csr_matrix((ratings, (users, items)), (len(names), len(ids))))


def compared(dataset: Dataset, answering: bool) -> dict[str, tuple[float, float]]:
    """Seconds of fitting and answering, of each in turn."""
    requests = [
        Request(user, history, dataset.scale, None, K)
        for user, history in (dataset.histories.items() if answering else ())
    ]
    taken: dict[str, tuple[float, float]] = {}
    for recommender in (ItemKNN(NEIGHBOURS), UserKNN(NEIGHBOURS)):
        fit, _ = seconds(recommender.fit, dataset, 0)
        answer, _ = seconds(recommender.recommend, requests)
        taken[recommender.name] = fit, answer
    matrix = recommender.catalogue.interactions(dataset, "ratings")
    fit, similarity = seconds(loop_fit, matrix)
    taken["scipy loop"] = (
        fit,
        seconds(loop_answer, matrix[: len(requests)], similarity)[0],
    )
    if find_spec("implicit"):
        stored = csr_matrix(matrix)
        fit, other = seconds(implicit_fit, stored)
        everyone = np.arange(len(requests))
        answer = seconds(other.recommend, everyone, stored[: len(requests)], N=K)[0]
        taken["implicit"] = fit, answer
        taken["implicit, from the table"] = seconds(table_fit, dataset)[0], answer
    return taken


def factorised(dataset: Dataset) -> dict[str, tuple[float, float]]:
    """Seconds of a fit of `ials` and of implicit's
    factorisations, of each in turn; nothing is asked.
    """
    model = IALS()
    taken = {"ials": (seconds(model.fit, dataset, 0)[0], 0.0)}
    stored = csr_matrix(
        model.catalogue.interactions(dataset, "binary").astype(np.float32),
    )
    als = import_module("implicit.cpu.als").AlternatingLeastSquares
    for name, steps in (("implicit", True), ("implicit, exact", False)):
        other = als(
            model.dim,
            regularization=model.regularisation,
            alpha=model.alpha,
            iterations=model.iterations,
            use_cg=steps,
            num_threads=1,
            random_state=0,
        )
        taken[name] = seconds(other.fit, stored, show_progress=False)[0], 0.0
    return taken


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument("--users", type=int, default=6040)
    parser.add_argument("--items", type=int, default=3706)
    parser.add_argument("--ratings", type=int, default=1_000_209)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--fit-only", action="store_true", help="ask nothing")
    parser.add_argument(
        "--als",
        action="store_true",
        help="ials and implicit's, with implicit",
    )
    options = parser.parse_args()
    dataset = simulate(options.users, options.items, options.ratings)
    rounds = [
        factorised(dataset) if options.als else compared(dataset, not options.fit_only)
        for _ in range(options.rounds + 1)
    ][1:]
    anchor = "implicit" if find_spec("implicit") else "scipy loop"
    print(
        f"{options.users} users, {options.items} items, {options.ratings} ratings; {anchor}",
        end="",
    )
    print(
        f" {version('implicit' if anchor == 'implicit' else 'scipy')}, {options.rounds} rounds\n",
    )
    head = ("", "fit s", f"of {anchor}'s", "answer s", f"of {anchor}'s")
    lines = []
    for name in rounds[0]:
        line: list[object] = [name]
        for part in (0, 1):
            line.append(f"{median(one[name][part] for one in rounds):.2f}")
            ratios = [one[name][part] / max(one[anchor][part], 1e-9) for one in rounds]
            line.append(f"{median(ratios):.2f}")
        lines.append(tuple(line))
    print("\n".join(tables.table(head, lines)))


if __name__ == "__main__":
    main()
