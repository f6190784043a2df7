"""The items offered and recommended to each user, as sparse matrices.

All aggregates of users' lists use them. An item counts as recommended only if it was
offered, so an invented item does not increase coverage.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from pytest_recsys_mt.oracles.arrays import Floats, Integers
from pytest_recsys_mt.oracles.scores.metrics import leading
from pytest_recsys_mt.requests import Recommendation
from pytest_recsys_mt.verdict.answers import Asked, Context

__all__ = ["Answered"]

Answered = tuple[Asked, Recommendation]
"""One user's request, and one of its answers."""

# A text, because only types of SciPy from 1.16 on can be indexed when a program runs.
Matrix: TypeAlias = "csr_array[np.int64]"


@dataclass(frozen=True)
class Exposure:
    """The offers and the recommendations of n users over N items, 1 or 0."""

    recommended: Matrix  # ``(n, N)``
    listed: Matrix  # the candidates, or what users without candidates are known to have, ``(n, N)``
    # Whether a user's offer is all items except the listed ones, ``(n,)``.
    all_but: NDArray[np.bool_]

    @cached_property
    def shown(self) -> Integers:
        """Number of users to whom each item is recommended, ``(N,)``."""
        return self.recommended.sum(axis=0)

    @cached_property
    def offered(self) -> Integers:
        """Number of users to whom each item is offered, ``(N,)``."""
        left_out: Integers = self.listed[self.all_but].sum(axis=0)
        counts: Integers = self.listed.sum(axis=0) + self.all_but.sum() - 2 * left_out
        return counts

    @cached_property
    def shown_to_one(self) -> Integers:
        """Number of items recommended only to this user, ``(n,)``."""
        counts: Integers = self.recommended @ (self.shown == 1).astype(np.int64)
        return counts

    @cached_property
    def offered_to_one(self) -> Integers:
        """Number of items offered only to this user, ``(n,)``."""
        alone = (self.offered == 1).astype(np.int64)
        listed: Integers = self.listed @ alone
        return np.where(self.all_but, alone.sum() - listed, listed)

    def in_both(self, rows: slice) -> tuple[Floats, Floats]:
        """How many recommendations, and how many offers, some users share with every
        user, each ``(rows, n)``.
        """
        recommended = (
            (self.recommended[rows] @ self.recommended.T).toarray().astype(np.float64)
        )
        both = (self.listed[rows] @ self.listed.T).toarray().astype(np.float64)
        sizes = self.listed.sum(axis=1).astype(np.float64)
        mine, theirs = sizes[rows, None], sizes[None, :]
        items = self.listed.shape[1]
        mine_but, their_but = self.all_but[rows, None], self.all_but[None, :]
        offered = np.select(
            [mine_but & their_but, mine_but, their_but],
            [items - mine - theirs + both, theirs - both, mine - both],
            both,
        )
        return recommended, offered


def exposure(
    answered: Sequence[Answered],
    context: Context,
    name: str,
    depth: int | None,
) -> Exposure:
    """The exposure of items by one answer of every user."""
    everything = any(asked.request.candidates is None for asked, _ in answered)
    numbers = {
        item: number for number, item in enumerate(context.items if everything else ())
    }
    recommended: list[list[int]] = []
    listed: list[list[int]] = []
    for asked, answer in answered:
        candidates = asked.request.candidates
        items = leading(name, answer, asked, depth)
        if candidates is None:
            known = asked.request.known
            listed.append([numbers[item] for item in sorted(known) if item in numbers])
            offer = [
                item for item in items if item in context.items and item not in known
            ]
        else:
            offered = dict.fromkeys(item.id for item in candidates)
            listed.append([numbers.setdefault(item, len(numbers)) for item in offered])
            offer = [item for item in items if item in offered]
        recommended.append([numbers[item] for item in offer])
    shape = (len(answered), len(numbers))
    return Exposure(
        _matrix(recommended, shape),
        _matrix(listed, shape),
        np.array([asked.request.candidates is None for asked, _ in answered], np.bool_),
    )


def _matrix(rows: Sequence[Sequence[int]], shape: tuple[int, int]) -> Matrix:
    ends = np.cumsum([0, *(len(row) for row in rows)])
    columns = np.array([column for row in rows for column in row], np.int64)
    return csr_array((np.ones(len(columns), np.int64), columns, ends), shape=shape)
