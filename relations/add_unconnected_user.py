"""Users who share no item with anybody."""

from pytest_recsys_mt.relations import arguments
from pytest_recsys_mt.relations.invented import Dataset, new_ids
from pytest_recsys_mt.relations.sources import TRAINING
from pytest_recsys_mt.relations.transformation import (
    Generator,
    Transformation,
    built_in,
    usual,
)
from pytest_recsys_mt.requests import Item

ITEMS = 5
"""Items of each such user."""


@usual(5)
def add_unconnected_user(users: int) -> Transformation:
    """Add `users`, at least one, to the training data who have five new items each,
    which nobody else has.

    Example:
        >>> more = add_unconnected_user(1).training(mini, np.random.default_rng(0))
        >>> more.interactions[more.interactions["user"] == "u401"]["item"].nunique()
        5
    """
    many = arguments.count("add_unconnected_user", "users", users)

    def training(dataset: Dataset, rng: Generator) -> Dataset:
        frame = dataset.interactions
        owners = new_ids(frame["user"].unique(), many)
        items = {
            each: Item(each, f"Unconnected {each}")
            for each in new_ids(dataset.items, many * ITEMS)
        }
        moments = rng.choice(frame["timestamp"].to_numpy(), len(items))
        ratings = rng.choice(frame["rating"].to_numpy(), len(items))
        rows = [
            (owners[place // ITEMS], item, float(ratings[place]), int(moments[place]))
            for place, item in enumerate(items)
        ]
        return dataset.adding(rows, items={**dataset.items, **items})

    return built_in(
        ("add_unconnected_user", many),
        training=training,
        promise="A few users who share no item with anybody change no answer to others.",
        origin=TRAINING,
    )
