"""The same training data in another form of table.

Ids are categories instead of texts, the columns stand in another order, and the rows
are labelled by every second number. No value changes, nor does the order of the rows.

Source:
    Michiels et al. (2024), https://doi.org/10.1145/3591109, whose tests found
    undocumented demands on the form of the data.

Example:
    >>> frame = other_form.training(mini, np.random.default_rng(0)).interactions
    >>> list(frame.columns), list(frame.index[:3]), str(frame["user"].dtype)
    (['timestamp', 'rating', 'item', 'user'], [0, 2, 4], 'category')
"""

from pytest_recsys_mt.relations.invented import Dataset
from pytest_recsys_mt.relations.sources import CORRECTNESS
from pytest_recsys_mt.relations.transformation import Generator, transformation


@transformation(
    "training",
    promise="The same training data in another form of table give the same answer.",
    origin=CORRECTNESS,
)
def other_form(dataset: Dataset, rng: Generator) -> Dataset:
    frame = dataset.interactions[["timestamp", "rating", "item", "user"]]
    frame = frame.astype({"user": "category", "item": "category"})
    frame.index = frame.index * 2
    return dataset.replace(interactions=frame, as_is=True)
