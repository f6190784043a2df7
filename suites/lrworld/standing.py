"""How popular each option of a question is, and how near to the shown items, for simple
ways to answer it; see `baselines`.
"""

from dataclasses import dataclass, field

import numpy as np

from pytest_recsys_mt.suites.lrworld.histories import Floats, Histories, Ints

NOBODY = -1

DECIMALS = 9
"""Decimals of nearness: values that differ only by rounding errors are equal."""


@dataclass(frozen=True, eq=False)
class Behind:
    """The items and users behind the texts of a question."""

    shown: Ints  # columns of the items shown: the target, or the history
    # Of each its groups of columns: one of one item for an item, one of all items of
    # which it is true for a fact, and one for each item shown for a user.
    options: tuple[tuple[Ints, ...], ...]
    # Whose next item is asked for; what they have counts for neither number.
    asker: int = NOBODY
    users: tuple[
        int,
        ...,
    ] = ()  # if options are users; popularity is how much they have


@dataclass(eq=False)
class Standing:
    """Counts in the histories, made when they are first needed."""

    histories: Histories
    _owners: dict[tuple[int, ...], Ints] = field(default_factory=dict)

    def __post_init__(self) -> None:
        by_item = self.histories.by_user.T.tocsr()
        self._of_item, self._ends = by_item.indices, by_item.indptr.tolist()

    def owners(self, columns: Ints) -> Ints:
        """The users who have any of some items, sorted."""
        key = tuple(columns.tolist())
        if key not in self._owners:
            found = [
                self._of_item[self._ends[each] : self._ends[each + 1]] for each in key
            ]
            self._owners[key] = np.unique(
                np.concatenate([self._of_item[:0], *found]),
            ).astype(np.int64)
        return self._owners[key]

    def popularities(self, behind: Behind) -> list[float]:
        """Interactions with what each option stands for; of a user, theirs."""
        if behind.users:
            return [float(self.histories.lengths[user]) for user in behind.users]
        counts = self.histories.popularity.copy()
        if behind.asker != NOBODY:
            counts[self.histories.of_user(behind.asker)] -= 1
        return [
            float(sum(counts[group].sum() for group in groups))
            for groups in behind.options
        ]

    def nearness(self, behind: Behind) -> list[float]:
        """The mean cosine of each option to the items shown, by who has them (itemknn)."""
        if not len(behind.shown):
            return [0.0] * len(behind.options)
        shown = [
            self.owners(behind.shown[place : place + 1])
            for place in range(len(behind.shown))
        ]
        others = [self.owners(group) for each in behind.options for group in each]
        has = np.zeros((self.histories.users, len(shown)), dtype=bool)
        for place, owners in enumerate(shown):
            has[owners, place] = True
        both: Floats = np.array(
            [has[owners].sum(axis=0) for owners in others],
            np.float64,
        ).T
        one: Floats = np.array([len(owners) for owners in shown], np.float64)
        other: Floats = np.array([len(owners) for owners in others], np.float64)
        if behind.asker != NOBODY:
            has_one = has[behind.asker]
            has_other = np.array(
                [bool((owners == behind.asker).any()) for owners in others],
            )
            both -= np.outer(has_one, has_other)
            one, other = one - has_one, other - has_other
        cosines = both / np.sqrt(np.maximum(np.outer(one, other), 1))
        ends = np.cumsum([len(each) for each in behind.options])
        own = np.split(cosines, ends[:-1], axis=1)
        return [round(float(each.mean()), DECIMALS) for each in own]
