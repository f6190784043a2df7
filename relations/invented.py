"""Types, ids and users for relations on training data."""

import re
from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

from pytest_recsys_mt.relations.transformation import Generator
from pytest_recsys_mt.safety.errors import NotApplicable

if TYPE_CHECKING:
    from pytest_recsys_mt.datasets import dataset

Dataset: TypeAlias = "dataset.Dataset"  # pandas comes with the first test that has data
Renamed: TypeAlias = "dataset.Renamed"


def new_ids(ids: Collection[str], count: int) -> list[str]:
    """Ids that are not among `ids` and look like them: ``u401`` after ``u400``.

    A recommender may read ids as numbers, so an id without a number would be refused
    for its form.

    Args:
        ids: The ids of all users, or of all items; at least one.
        count: How many new ids to make.
    """
    numbered = _next_numbers(ids, count)
    if numbered is not None:
        return numbered

    made: list[str] = []
    last = max(ids)
    number = 2
    while len(made) < count:
        candidate = f"{last}-{number}"
        if candidate not in ids:
            made.append(candidate)
        number += 1
    return made


def _next_numbers(ids: Collection[str], count: int) -> list[str] | None:
    """The ids that follow the highest; None unless all ids are
    numbers after one and the same prefix.
    """
    prefixes = set()
    numbers = []
    for each in ids:
        match = re.fullmatch(r"(\D*)(\d+)", each)
        if match is None:
            return None
        prefix, number = match.groups()
        prefixes.add(prefix)
        numbers.append(number)
    if len(prefixes) != 1:
        return None

    (prefix,) = prefixes
    first = 1 + max(int(number) for number in numbers)
    width = max(len(number) for number in numbers)
    return [f"{prefix}{number:0{width}d}" for number in range(first, first + count)]


def second_accounts(
    dataset: Dataset,
    count: int,
    rng: Generator,
    least: int = 1,
) -> tuple[dict[str, str], dict[str, Mapping[str, Any]]]:
    """A second account for each of some users, who are drawn from those with enough
    interactions.

    Args:
        dataset: The training data.
        count: How many users to draw.
        rng: Draws them.
        least: How many interactions each of them has at least.

    Returns:
        The new id of each drawn user, and the attributes of all users, those of the
        second accounts too.

    Raises:
        NotApplicable: If the data have too few such users.
    """
    interactions_of = dataset.interactions["user"].value_counts()
    eligible = sorted(interactions_of.index[interactions_of >= least])
    if len(eligible) < count:
        raise NotApplicable(
            f"the data have no {count} users with {least} interactions or more",
        )
    places = rng.choice(len(eligible), count, replace=False)
    drawn = [eligible[place] for place in places]

    taken = dataset.interactions["user"].unique()
    second_of = dict(zip(drawn, new_ids(taken, count), strict=True))
    attributes = dict(dataset.users)
    for user, second in second_of.items():
        if user in dataset.users:
            attributes[second] = dataset.users[user]
    return second_of, attributes
