"""Invented users who praise one item."""

from pytest_recsys_mt.relations import arguments
from pytest_recsys_mt.relations.invented import Dataset, new_ids
from pytest_recsys_mt.relations.sources import SHILLING
from pytest_recsys_mt.relations.transformation import (
    Generator,
    Transformation,
    built_in,
    usual,
)
from pytest_recsys_mt.safety.errors import NotApplicable

FILLERS = 10
"""Popular items that each invented user has, to be a neighbour of many."""


@usual("m200", 5)
def shilling(item: str, users: int) -> Transformation:
    """Add `users`, at least one, to the training data who have one `item` and ten of
    the 20 most popular, all rated highest.

    This is the bandwagon attack: users who like popular items get such a neighbour.
    `pytest_recsys_mt.oracles.not_promoted` judges the gain of the item.

    It is not applicable to data without the item, or with fewer than ten others.

    Example:
        >>> attacked = shilling("m200", 3).training(mini, np.random.default_rng(0))
        >>> attacked.popularity["m200"] - mini.popularity["m200"]
        3
    """
    many = arguments.count("shilling", "users", users)

    def training(dataset: Dataset, rng: Generator) -> Dataset:
        if item not in dataset.items:
            raise NotApplicable(f"the data have no item {item!r}")
        frame, counts = dataset.interactions, dataset.popularity
        ranked = sorted(dataset.items, key=lambda each: (-counts[each], each))
        popular = [each for each in ranked if each != item][: 2 * FILLERS]
        if len(popular) < FILLERS:
            raise NotApplicable(f"the data have fewer than {FILLERS} other items")
        moment = int(frame["timestamp"].median())
        rows = [
            (user, each, dataset.scale.high, moment)
            for user in new_ids(frame["user"].unique(), many)
            for each in (item, *rng.choice(popular, FILLERS, replace=False).tolist())
        ]
        return dataset.adding(rows)

    return built_in(
        ("shilling", item, many),
        training=training,
        promise="A few invented users who praise an item hardly raise it.",
        origin=SHILLING,
    )
