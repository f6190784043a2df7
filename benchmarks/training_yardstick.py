"""Seconds of an epoch of implicit's BPR, and cornac's and RecTools' SASRec, in their
environments.

    python training_yardstick.py INTERACTIONS.npz EPOCHS

reads what `benchmarks.training` wrote and prints one line of JSON: seconds of the
processor, by model. A package that is not installed is left out.

cornac's SASRec learns from the last place of a sequence alone, so an epoch encodes each
user's interactions again and again, one prefix an interaction; RecTools' learns from
all places at once, as ours does, but from each user's latest `LENGTH` interactions
only. Both get a share of the users, and their time is multiplied. RecTools brings a
package of its own by the name of implicit, which is not measured.
"""

from __future__ import annotations

import json
import os

for library in ("OMP", "OPENBLAS", "MKL"):
    os.environ[f"{library}_NUM_THREADS"] = "1"

import sys
import time
from collections.abc import Callable
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

DIM = 64
LENGTH = 50
NEGATIVES = 256
BATCH = 128
SHARES = {"cornac": 200, "rectools": 10}
"""One user in so many is learned from."""


def per_epoch(fit: Callable[[int], object], epochs: int) -> float:
    """What one epoch more costs, in seconds of the processor."""
    fit(1)  # imports and first calls
    spent = []
    for count in (1, 1 + epochs):
        start = time.process_time()
        fit(count)
        spent.append(time.process_time() - start)
    return (spent[1] - spent[0]) / epochs


def bpr(users: Any, items: Any, epochs: int) -> float:
    from implicit.cpu.bpr import BayesianPersonalizedRanking
    from scipy.sparse import csr_matrix

    matrix = csr_matrix((np.ones(len(users), dtype=np.float32), (users, items)))

    def fit(count: int) -> None:
        BayesianPersonalizedRanking(
            factors=DIM,
            iterations=count,
            num_threads=1,
            random_state=0,
        ).fit(matrix, show_progress=False)

    return per_epoch(fit, epochs)


def sasrec(users: Any, items: Any, times: Any, epochs: int) -> float:
    import torch
    from cornac.data import SequentialDataset
    from cornac.models import SASRec

    torch.set_num_threads(1)
    few = users % SHARES["cornac"] == 0
    rows = zip(
        users[few].tolist(),
        users[few].tolist(),
        items[few].tolist(),
        times[few].tolist(),
        strict=True,
    )
    sequences = SequentialDataset.from_usit(list(rows), seed=0)

    def fit(count: int) -> None:
        SASRec(
            embedding_dim=DIM,
            batch_size=BATCH,
            n_sample=NEGATIVES,
            max_len=LENGTH,
            n_epochs=count,
            seed=0,
        ).fit(sequences)

    scale = len(users) / few.sum()
    return float(scale * per_epoch(fit, epochs))


def rectools(users: Any, items: Any, times: Any, epochs: int) -> float:
    import logging
    import warnings

    import pandas as pd
    import torch
    from pytorch_lightning import Trainer
    from rectools import Columns
    from rectools.dataset import Dataset
    from rectools.models import SASRecModel

    torch.set_num_threads(1)
    logging.getLogger("pytorch_lightning").setLevel(logging.ERROR)
    warnings.simplefilter("ignore")
    few = users % SHARES["rectools"] == 0
    columns = {
        Columns.User: users[few],
        Columns.Item: items[few],
        Columns.Weight: 1.0,
        Columns.Datetime: pd.to_datetime(times[few], unit="s"),
    }
    dataset = Dataset.construct(pd.DataFrame(columns))

    def fit(count: int) -> None:
        SASRecModel(
            n_factors=DIM,
            n_blocks=2,
            n_heads=1,
            session_max_len=LENGTH,
            loss="sampled_softmax",
            n_negatives=NEGATIVES,
            batch_size=BATCH,
            get_trainer_func=lambda: Trainer(
                max_epochs=count,
                min_epochs=count,
                accelerator="cpu",
                logger=False,
                enable_checkpointing=False,
                enable_progress_bar=False,
                enable_model_summary=False,
            ),
        ).fit(dataset)

    return float(len(users) / few.sum() * per_epoch(fit, epochs))


def main(path: Path, epochs: int) -> None:
    data = np.load(path)
    users, items, times = data["users"], data["items"], data["times"]
    found = {}
    if find_spec("implicit") and not find_spec("rectools"):
        found[f"implicit {version('implicit')} BPR"] = bpr(users, items, epochs)
    if find_spec("cornac") and find_spec("torch"):
        found[f"cornac {version('cornac')} SASRec"] = sasrec(
            users,
            items,
            times,
            epochs,
        )
    if find_spec("rectools") and find_spec("pytorch_lightning"):
        found[f"RecTools {version('rectools')} SASRec, latest {LENGTH}"] = rectools(
            users,
            items,
            times,
            epochs,
        )
    print(json.dumps(found))


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
