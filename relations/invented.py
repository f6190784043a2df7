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

    A recommender may read ids as numbers, so an id without a number would be refused for its form.
    """
    found = [match for each in ids if (match := re.fullmatch(r"(\D*)(\d+)", each))]
    if len(found) == len(ids) and len({match[1] for match in found}) == 1:
        last = max(int(match[2]) for match in found)
        width = max(len(match[2]) for match in found)
        return [f"{found[0][1]}{last + 1 + place:0{width}d}" for place in range(count)]
    made = (f"{max(ids)}-{number}" for number in range(2, 2 + count + len(ids)))
    return [each for each in made if each not in ids][:count]


def second_accounts(
    dataset: Dataset, count: int, rng: Generator, least: int = 1
) -> tuple[dict[str, str], dict[str, Mapping[str, Any]]]:
    """New ids of `count` users, drawn from those with at least `least` interactions, and what is known of all users then."""
    sizes = dataset.interactions["user"].value_counts()
    known = sorted(sizes.index[sizes >= least])
    if len(known) < count:
        raise NotApplicable(f"the data have no {count} users with {least} interactions or more")
    chosen = [known[place] for place in rng.choice(len(known), count, replace=False)]
    second = dict(zip(chosen, new_ids(dataset.interactions["user"].unique(), count), strict=True))
    facts = {second[user]: dataset.users[user] for user in chosen if user in dataset.users}
    return second, {**dataset.users, **facts}
