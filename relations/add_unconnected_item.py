"""Items that nobody has."""

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


@usual(5)
def add_unconnected_item(items: int) -> Transformation:
    """Add `items` without interactions, at least one, to the catalogue; the first
    stands before all others.

    So the places of all items move by one. With a growing catalogue this happens every
    day.

    Example:
        >>> more = add_unconnected_item(2).training(mini, np.random.default_rng(0)).items
        >>> list(more)[0], list(more)[-1], len(more) - len(mini.items)
        ('m352', 'm353', 2)
    """
    many = arguments.count("add_unconnected_item", "items", items)

    def training(dataset: Dataset, rng: Generator) -> Dataset:
        first, *others = (
            Item(each, f"Unconnected {each}") for each in new_ids(dataset.items, many)
        )
        added = {first.id: first, **dataset.items, **{item.id: item for item in others}}
        return dataset.replace(items=added)

    return built_in(
        ("add_unconnected_item", many),
        training=training,
        promise="A few items of the catalogue that nobody has change no answer without them.",
        origin=TRAINING,
    )
