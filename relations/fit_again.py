"""The recommender is fitted once more, to the same data and with the same seeds.

Numbers that a `fit` draws without its seed, and anything that depends on the time or on
earlier fits, show as another answer. A recommender that keeps its fits, such as the
trained ones of this project, only shows that it finds them.

Example:
    >>> fit_again.training(mini, np.random.default_rng(0)) is mini
    True
    >>> fit_again.same_seed
    True
"""

from pytest_recsys_mt.relations.invented import Dataset
from pytest_recsys_mt.relations.transformation import Generator, transformation


@transformation(
    "training",
    promise="Fitted twice to the same data with the same seed, it gives the same answer.",
    same_seed=True,
)
def fit_again(dataset: Dataset, rng: Generator) -> Dataset:
    return dataset
