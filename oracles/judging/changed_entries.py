"""Whether the changed entries of lists have a trait more
often than the other entries there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from pytest_recsys_mt.oracles.arrays import Floats
from pytest_recsys_mt.oracles.judging.traits import Mask, Trait

Indices = NDArray[np.intp]


@dataclass(frozen=True)
class Entries:
    """The entries of all lists of a side, user by user, all ``(n,)``.

    Attributes:
        item: The number of the item among all items.
        owner: The index of the user.
        place: The place in the list, from 0.
        size: The length of the list.
        changed: Whether the entry left or moved, in a changed list.
    """

    item: Indices
    owner: Indices
    place: Indices
    size: Indices
    changed: Mask

    @classmethod
    def of(
        cls,
        lists: Sequence[Sequence[str]],
        flags: Sequence[Sequence[bool]],
        numbers: dict[str, int],
    ) -> Entries:
        """The entries of one list a user; items without a number
        get the next free one in `numbers`.
        """
        sizes = np.array([len(items) for items in lists], np.intp)
        starts = np.cumsum(sizes) - sizes
        owner = np.repeat(np.arange(len(lists)), sizes)
        item_numbers = []
        for item in chain.from_iterable(lists):
            item_numbers.append(numbers.setdefault(item, len(numbers)))
        return cls(
            item=np.array(item_numbers, np.intp),
            owner=owner,
            place=np.arange(len(owner)) - starts[owner],
            size=sizes[owner],
            changed=np.fromiter(chain.from_iterable(flags), np.bool_),
        )


@dataclass(frozen=True)
class Shares:
    """How often traits ``(t,)`` are found among the changed entries and the others.

    Attributes:
        having: How many changed entries have each trait.
        changed: How many entries changed.
        elsewhere: The share of the other entries of the changed lists that have each
            trait.
        p_values: Of the hypotheses that the changed entries have them as often as any.
    """

    having: Indices
    changed: int
    elsewhere: Floats
    p_values: Floats


def compare(
    traits: Sequence[Trait],
    entries: Entries,
    least: Floats,
    *,
    by_place: bool,
) -> Shares:
    """The changed entries against the others of the same lists, one vote a user.

    A vote is the share of a user's changed entries with the trait. Its mean is at most
    that of the whole list, if what changes does not depend on the trait, or `least`;
    and, `by_place`, at most that of all users' entries at the same places, since what
    moves may depend on the place, and traits such as popularity do too. The largest of
    these is taken. The p-value is the bound of Hoeffding 1963 (theorem 1), which holds
    however the entries of a user depend on each other.

    Args:
        traits: The traits, each with a mask of the entries.
        entries: The entries of a side.
        least: The smallest share that is expected of each trait, ``(t,)``.
        by_place: Whether the share at the same places is expected too.
    """
    masks = [trait.mask for trait in traits]
    having = np.column_stack(masks).astype(np.float64)
    changed = entries.changed
    owner = entries.owner
    has_change = np.zeros(owner.max() + 1, np.bool_)
    has_change[owner[changed]] = True
    in_changed_list = has_change[owner]

    votes = _group_means(having[changed], owner[changed])
    expected = _group_means(having[in_changed_list], owner[in_changed_list])
    if by_place:
        at_place = _group_means(having, entries.place)[entries.place]
        expected_there = _group_means(at_place[changed], owner[changed])
        expected = np.maximum(expected, expected_there)
    expected = expected.clip(min=least)

    users = np.flatnonzero(has_change)
    p_values = hoeffding(
        votes[users].mean(axis=0),
        expected[users].mean(axis=0),
        len(users),
    )
    others = having[in_changed_list & ~changed]
    return Shares(
        having=having[changed].sum(axis=0).astype(np.intp),
        changed=int(changed.sum()),
        elsewhere=others.mean(axis=0) if len(others) else np.ones(len(traits)),
        p_values=p_values,
    )


def _group_means(rows: Floats, group: Indices) -> Floats:
    """The mean row of each group, ``(groups, t)``; 0 of a group without rows."""
    groups = int(group.max(initial=-1)) + 1
    means = np.zeros((groups, rows.shape[1]))
    if not len(group):
        return means
    # The sums below need the rows of a group side by side. Owners are sorted already,
    # places are not.
    if (np.diff(group) < 0).any():
        order = np.argsort(group, kind="stable")
        rows = rows[order]
        group = group[order]
    starts = np.flatnonzero(np.diff(group, prepend=-1))
    sizes = np.diff(starts, append=len(group))
    sums = np.add.reduceat(rows, starts, axis=0)
    means[group[starts]] = sums / sizes[:, None]
    return means


def hoeffding(mean: Floats, expected: Floats, count: int) -> Floats:
    """The largest probability that `count` independent numbers
    in [0, 1] have that mean or a larger one.
    """
    # The divergences are 0 at means of 0 and 1, where the logarithms are undefined.
    with np.errstate(divide="ignore", invalid="ignore"):
        up = mean * np.log(mean / expected)
        down = (1 - mean) * np.log((1 - mean) / (1 - expected))
    up = np.where(mean > 0, up, 0.0)
    down = np.where(mean < 1, down, 0.0)
    bound = np.exp(-count * (up + down))
    return np.where(mean > expected, bound, 1.0)
