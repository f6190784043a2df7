"""Items exchange their ids, in the training data and in requests.

The ids are the same as before, so they have the same form, but each belongs to another
item. Requests get the new ids, and the answer is translated back.

Titles stay with their items. Equal scores may be settled by id, so the ranking of a
recommender with many ties moves a little.

Example:
    >>> renamed = renumber_items.training(mini, np.random.default_rng(0))
    >>> sorted(renamed.items.values()) == sorted(mini.interactions["item"].unique())
    True
    >>> before, after = ({**frame["item"].value_counts()} for frame in (
    ...     mini.interactions, renamed.dataset.interactions))
    >>> all(before[old] == after[new] for old, new in renamed.items.items())
    True
"""

from pytest_recsys_mt.relations.invented import Dataset, Renamed
from pytest_recsys_mt.relations.sources import TRAINING
from pytest_recsys_mt.relations.transformation import Generator, transformation


@transformation(
    "training",
    promise="Which id belongs to which item is irrelevant.",
    origin=TRAINING,
)
def renumber_items(dataset: Dataset, rng: Generator) -> Renamed:
    ids = sorted(dataset.items)
    names = {ids[at]: ids[to] for at, to in enumerate(rng.permutation(len(ids)))}
    return dataset.renamed("item", names)
