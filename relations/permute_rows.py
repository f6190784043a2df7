"""The training data with their rows in another order.

Example:
    >>> permuted = permute_rows.training(mini, np.random.default_rng(0)).interactions
    >>> permuted.equals(mini.interactions), len(permuted) == len(mini.interactions)
    (False, True)
    >>> permuted.sort_values(["user", "timestamp", "item"], ignore_index=True).equals(mini.interactions)
    True
"""

from pytest_recsys_mt.relations.invented import Dataset
from pytest_recsys_mt.relations.sources import TRAINING
from pytest_recsys_mt.relations.transformation import Generator, transformation


@transformation(
    "training",
    promise="The order of the rows of the training data is irrelevant.",
    origin=TRAINING,
)
def permute_rows(dataset: Dataset, rng: Generator) -> Dataset:
    frame = dataset.interactions
    order = rng.permutation(len(frame))
    return dataset.replace(
        interactions=frame.iloc[order].reset_index(drop=True),
        as_is=True,
    )
