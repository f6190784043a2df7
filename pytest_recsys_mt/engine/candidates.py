"""Which items a request offers as candidates: random ones
that the user has not, or the top lists of others.
"""

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import cached_property
from itertools import zip_longest

import numpy as np

from pytest_recsys_mt.datasets.dataset import Dataset
from pytest_recsys_mt.requests import Item
from pytest_recsys_mt.requests.design import Design, generator
from pytest_recsys_mt.safety.errors import DataError

LARGE = 10_000
"""From this many items on, candidates are drawn without a
list of all items that a user has not seen.
"""


@dataclass(frozen=True, eq=False)
class Candidates:
    """The candidates of the users of a dataset; each draw is made once.

    Attributes:
        held_out: The items held out of each user, by user.
    """

    dataset: Dataset
    seed: int
    held_out: Mapping[str, frozenset[str]]

    @cached_property
    def items(self) -> tuple[Item, ...]:
        """All items, in the order of their ids."""
        return tuple(self.dataset.items[key] for key in sorted(self.dataset.items))

    @cached_property
    def _places(self) -> dict[str, int]:
        return {item.id: place for place, item in enumerate(self.items)}

    def of(
        self,
        user: str,
        past: Sequence[str],
        design: Design,
    ) -> tuple[Item, ...] | None:
        """The candidates of a user who has the items `past` in the training data; None
        if the design has none.
        """
        if not design.candidates:
            return None
        offered = self.dataset.offered.get(user)
        if offered is not None:
            return offered
        # In addition to those held out.
        wanted = design.candidates - len(self.held_out[user])
        if wanted < 0:
            raise DataError(
                f"{len(self.held_out[user])} items of user {user!r} are held out, and a request "
                f"has {design.candidates} candidates; raise --recsys-candidates (0 is the whole "
                f"catalogue)",
            )
        if (user, wanted) not in self._drawn:
            self._drawn[user, wanted] = self._draw(user, past, wanted)
        return self._drawn[user, wanted]

    @cached_property
    def _drawn(self) -> dict[tuple[str, int], tuple[Item, ...]]:
        """The cache of `_draw`, by user and number."""
        return {}

    def _draw(self, user: str, past: Sequence[str], wanted: int) -> tuple[Item, ...]:
        """So many random items that the user has not, and
        those held out, in random order.
        """
        draw = generator(self.seed, "candidates", user)
        seen = self.held_out[user].union(past, self.withheld(user))
        chosen = self._draw_unseen(draw, seen, wanted)
        if len(chosen) < wanted:
            raise DataError(
                f"dataset {self.dataset.name!r} has only {len(chosen)} items that user {user!r} has "
                f"not seen, {wanted} are needed beside the held-out one; lower --recsys-candidates",
            )
        chosen += [self.dataset.items[item] for item in sorted(self.held_out[user])]
        return tuple(chosen[place] for place in draw.permutation(len(chosen)))

    def withheld(self, user: str) -> frozenset[str]:
        """The items that the data withhold and the user is not asked about: neither in
        the history nor candidates.
        """
        withheld = (self.dataset.withheld or {}).get(user, frozenset())
        return withheld - self.held_out[user]

    def _draw_unseen(
        self,
        draw: np.random.Generator,
        seen: AbstractSet[str],
        wanted: int,
    ) -> list[Item]:
        """So many random items that are not `seen`; less if there are not as many."""
        items = self.items
        if len(items) < LARGE:
            is_unseen = np.ones(len(items), bool)
            places = self._places
            # What is withheld need not be in the catalogue of a dataset that code gives.
            is_unseen[[places[item] for item in seen if item in places]] = False
            unseen = np.flatnonzero(is_unseen)
            return [items[place] for place in draw.permutation(unseen)[:wanted]]
        # At most len(seen) of the sample are seen, so enough of it are not.
        size = min(len(items), wanted + len(seen))
        sample = [
            items[place] for place in draw.choice(len(items), size, replace=False)
        ]
        return [item for item in sample if item.id not in seen][:wanted]

    def dealt(
        self,
        lists: Sequence[Sequence[str]],
        barred: AbstractSet[str],
        most: int,
    ) -> tuple[Item, ...]:
        """Items of the catalogue in turn from some lists,
        without those that may not be offered to the user.
        """
        items = self.dataset.items
        allowed_lists = []
        for listed in lists:
            allowed = [item for item in listed if item in items and item not in barred]
            allowed_lists.append(allowed)
        return tuple(items[item] for item in in_turn(allowed_lists, most))


def in_turn(lists: Sequence[Sequence[str]], most: int) -> tuple[str, ...]:
    """The first item of each list, then the second of each, and so on, each item once."""
    dealt: dict[str, None] = {}
    for items_at_one_place in zip_longest(*lists):
        dealt |= {item: None for item in items_at_one_place if item is not None}
    return tuple(dealt)[:most]
