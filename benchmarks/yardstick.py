"""Scores of implicit's ItemKNN, BPR and ALS, for an environment that has implicit and
nothing of ours.

    python yardstick.py FOLDER

reads ``FOLDER/question.npz``, which `benchmarks.quality` writes, and writes
``FOLDER/scores.npz``: one array of scores a model and seed, shape (users, candidates),
and the seconds of the processor that each fit took.

One thread: with two, implicit's BPR is not reproducible under a seed. Scores are taken
from factors and similarities, not from `recommend`, which answers -1 for what has no
score at all.
"""

from __future__ import annotations

import os

os.environ.setdefault(
    "OPENBLAS_NUM_THREADS",
    "1",
)  # implicit warns of slow fits without it

import sys
import time
from pathlib import Path

import numpy as np
from implicit.cpu.als import AlternatingLeastSquares
from implicit.cpu.bpr import BayesianPersonalizedRanking
from implicit.nearest_neighbours import CosineRecommender
from scipy.sparse import csr_matrix

NEIGHBOURS = 30


def main(folder: Path) -> None:
    question = np.load(folder / "question.npz")
    parts = (question["data"], question["indices"], question["indptr"])
    weighted = csr_matrix(parts, shape=tuple(question["shape"]))
    binary = csr_matrix((np.ones_like(weighted.data), *parts[1:]), shape=weighted.shape)
    users, candidates = question["users"], question["candidates"]
    found: dict[str, np.ndarray] = {}

    start = time.process_time()
    nearest = CosineRecommender(
        K=NEIGHBOURS + 1,
        num_threads=1,
    )  # an item is its own neighbour
    nearest.fit(weighted, show_progress=False)
    found["ItemKNN/seconds"] = np.array([time.process_time() - start])
    scores = (weighted[users] @ nearest.similarity).toarray()
    found["ItemKNN"] = np.take_along_axis(scores, candidates, axis=1)[None]

    for name, kind in (
        ("BPR", BayesianPersonalizedRanking),
        ("ALS", AlternatingLeastSquares),
    ):
        by_seed, seconds = [], []
        for seed in range(int(question["seeds"])):
            start = time.process_time()
            model = kind(num_threads=1, random_state=seed)
            model.fit(binary, show_progress=False)
            seconds.append(time.process_time() - start)
            chosen = model.item_factors[candidates]
            by_seed.append(np.einsum("nd,ncd->nc", model.user_factors[users], chosen))
        found[name], found[f"{name}/seconds"] = np.stack(by_seed), np.array(seconds)
    np.savez(folder / "scores.npz", **found)  # type: ignore[arg-type]


if __name__ == "__main__":
    main(Path(sys.argv[1]))
