"""Some users stand in the training data twice."""

from pytest_recsys_mt.relations import arguments
from pytest_recsys_mt.relations.invented import Dataset, second_accounts
from pytest_recsys_mt.relations.sources import TRAINING
from pytest_recsys_mt.relations.transformation import (
    Generator,
    Transformation,
    built_in,
    usual,
)


@usual(5)
def duplicate_user(users: int) -> Transformation:
    """Add a copy of so many `users`, at least one, to the training data, under new ids.

    It is not applicable to data with fewer users.

    Example:
        >>> more = duplicate_user(2).training(mini, np.random.default_rng(0))
        >>> sorted(set(more.interactions["user"]) - set(mini.interactions["user"]))
        ['u401', 'u402']
    """
    many = arguments.count("duplicate_user", "users", users)

    def training(dataset: Dataset, rng: Generator) -> Dataset:
        frame = dataset.interactions
        copies, known = second_accounts(dataset, many, rng)
        rows = frame[frame["user"].isin(copies)]
        added = rows.assign(user=rows["user"].map(copies))
        return dataset.adding(added.itertuples(index=False), users=known)

    return built_in(
        ("duplicate_user", many),
        training=training,
        promise="A few users who stand in the training data twice hardly change an answer.",
        origin=TRAINING,
    )
