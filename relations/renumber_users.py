"""Users exchange their ids, in the training data and in requests.

The ids are the same as before, so they have the same form, but each belongs to another
user. Requests get the new ids, and the answer is translated back.

Example:
    >>> renamed = renumber_users.training(mini, np.random.default_rng(0))
    >>> sorted(renamed.users.values()) == sorted(mini.interactions["user"].unique())
    True
    >>> before, after = ({**frame["user"].value_counts()} for frame in (
    ...     mini.interactions, renamed.dataset.interactions))
    >>> all(before[old] == after[new] for old, new in renamed.users.items())
    True
"""

from pytest_recsys_mt.relations.invented import Dataset, Renamed
from pytest_recsys_mt.relations.sources import TRAINING
from pytest_recsys_mt.relations.transformation import Generator, transformation


@transformation(
    "training",
    promise="Which id belongs to which user is irrelevant.",
    origin=TRAINING,
)
def renumber_users(dataset: Dataset, rng: Generator) -> Renamed:
    ids = sorted(dataset.interactions["user"].unique())
    names = {ids[at]: ids[to] for at, to in enumerate(rng.permutation(len(ids)))}
    return dataset.renamed("user", names)
