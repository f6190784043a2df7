"""How popular each option of a question is, and how near to what it shows, for simple ways to
answer it; see `baselines`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from pytest_recsys_mt.lrworld.histories import Floats, Histories, Ints

NOBODY = -1

DECIMALS = 9
"""Decimals of nearness: values that differ only by rounding errors are equal."""


@dataclass(frozen=True, eq=False)
class Behind:
    """What stands behind the texts of a question."""

    shown: Ints  # columns of the items shown: the target, or the history
    # Of each its groups of columns: one of one item for an item, one of all items of which it is
    # true for a fact, and one for each item shown for a user.
    options: tuple[tuple[Ints, ...], ...]
    asker: int = NOBODY  # whose next item is asked for; what they have counts for neither number
    users: tuple[int, ...] = ()  # if options are users; popularity is how much they have


@dataclass(eq=False)
class Standing:
    """Counts in the histories, made when they are first needed."""

    histories: Histories
    _owners: dict[tuple[int, ...], Ints] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._by_item = self.histories.by_user.T.tocsr()

    def owners(self, columns: Ints) -> Ints:
        """The users who have any of some items, sorted."""
        key = tuple(columns.tolist())
        if key not in self._owners:
            self._owners[key] = np.unique(self._by_item[columns].indices).astype(np.int64)
        return self._owners[key]

    def popularities(self, behind: Behind) -> list[float]:
        """Interactions with what each option stands for; of a user, theirs."""
        if behind.users:
            return [float(self.histories.lengths[user]) for user in behind.users]
        counts = self.histories.popularity.copy()
        if behind.asker != NOBODY:
            counts[self.histories.of_user(behind.asker)] -= 1
        return [float(sum(counts[group].sum() for group in groups)) for groups in behind.options]

    def nearness(self, behind: Behind) -> list[float]:
        """The mean cosine of each option to the items shown, by who has them (itemknn)."""
        if not len(behind.shown):
            return [0.0] * len(behind.options)
        shown = self._by_item[behind.shown]
        others = self._rows([group for each in behind.options for group in each])
        both = (shown @ others.T).toarray().astype(np.float64)
        one: Floats = shown.sum(axis=1).astype(np.float64)
        other: Floats = others.sum(axis=1).astype(np.float64)
        if behind.asker != NOBODY:
            has_one = shown[:, [behind.asker]].toarray()
            has_other = others[:, [behind.asker]].toarray()
            both -= has_one @ has_other.T
            one, other = one - has_one[:, 0], other - has_other[:, 0]
        cosines = both / np.sqrt(np.maximum(np.outer(one, other), 1))
        ends = np.cumsum([len(each) for each in behind.options])
        own = np.split(cosines, ends[:-1], axis=1)
        return [round(float(each.mean()), DECIMALS) for each in own]

    def _rows(self, groups: list[Ints]) -> csr_array[Any]:
        owners = [self.owners(group) for group in groups]
        starts = np.cumsum([0, *map(len, owners)])
        ones = np.ones(starts[-1], dtype=np.int32)
        return csr_array(
            (ones, np.concatenate(owners), starts), shape=(len(groups), self.histories.users)
        )
