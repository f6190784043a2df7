"""Some users of the training data are two."""

from pytest_recsys_mt.relations import arguments
from pytest_recsys_mt.relations.invented import Dataset, second_accounts
from pytest_recsys_mt.relations.transformation import (
    Generator,
    Transformation,
    built_in,
    usual,
)

LEAST = 10
"""Interactions of a user who is split: with fewer, the halves say nothing."""


@usual(5)
def split_user(users: int) -> Transformation:
    """Give every second interaction of so many `users`, at least one, to new users.

    It is not applicable to data with fewer users of 10 interactions or more.

    Source:
        This project; a person with two accounts.

    Example:
        >>> split = split_user(1).training(mini, np.random.default_rng(0))
        >>> len(split.interactions) == len(mini.interactions)
        True
        >>> sorted(set(split.interactions["user"]) - set(mini.interactions["user"]))
        ['u401']
    """
    many = arguments.count("split_user", "users", users)

    def training(dataset: Dataset, rng: Generator) -> Dataset:
        frame = dataset.interactions
        halves, known = second_accounts(dataset, many, rng, LEAST)
        second = frame["user"].isin(halves) & (
            frame.groupby("user").cumcount() % 2 == 1
        )
        moved = frame["user"].where(~second, frame["user"].map(halves))
        return dataset.replace(interactions=frame.assign(user=moved), users=known)

    return built_in(
        ("split_user", many),
        training=training,
        promise="A few users of the training data who are split in two hardly change an answer.",
    )
