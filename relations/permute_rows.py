"""The training data with their rows in another order.

Source:
    Mao et al. (2024), https://doi.org/10.1016/j.infsof.2024.107410.

Example:
    >>> import numpy as np
    >>> from pytest_recsys_mt.datasets import load
    >>> mini = load("mini")
    >>> permuted = permute_rows.training(mini, np.random.default_rng(0)).interactions
    >>> permuted.equals(mini.interactions), len(permuted) == len(mini.interactions)
    (False, True)
    >>> permuted.sort_values(["user", "timestamp", "item"], ignore_index=True).equals(mini.interactions)
    True
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_recsys_mt.relations.sources import TRAINING
from pytest_recsys_mt.relations.transformation import Generator, Transformation

if TYPE_CHECKING:
    from pytest_recsys_mt.datasets.dataset import Dataset


def _training(dataset: Dataset, rng: Generator) -> Dataset:
    frame = dataset.interactions
    order = rng.permutation(len(frame))
    return dataset.replace(interactions=frame.iloc[order].reset_index(drop=True), as_is=True)


permute_rows = Transformation(
    name="permute_rows",
    training=_training,
    promise="The order of the rows of the training data is irrelevant.",
    origin=TRAINING,
)
