"""Position bias: is the wanted candidate found, or are candidates chosen, more often at
some places?

Source:
    Section 3.4.4 of https://arxiv.org/abs/2411.00331, which compares places in a
    figure, without a test.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import chdtrc

from pytest_recsys_mt.oracles.arrays import Floats, Integers
from pytest_recsys_mt.safety.errors import OracleError

__all__ = ["chosen_places_test", "position_test"]


def position_test(
    values: ArrayLike,
    groups: Sequence[int],
    users: Sequence[Hashable] | None = None,
    *,
    draws: int = 9_999,
    seed: int = 0,
) -> tuple[float, float]:
    """The permutation test of equal accuracy in all groups of places.

    The statistic is the sum of squares between groups, ``sum_g n_g (mean_g - mean)^2``.
    If places are drawn independently of users, as in shuffled candidates, all
    assignments of the values to the places are equally likely. In ``p = (c + 1) /
    (draws + 1)``, c counts the assignments that reach the statistic (Phipson and Smyth
    2010, Stat. Appl. Genet. Mol. Biol. 9, 39).

    Example:
        >>> statistic, p_value = position_test([1, 1, 1, 1, 0, 0, 0, 0], groups=[0, 0, 0, 0, 1, 1, 1, 1])
        >>> round(p_value, 2)
        0.03

    Args:
        values: Accuracy of each answer, ``(n,)``.
        groups: The group of places of the wanted candidate, ``(n,)``; at least two
            different ones.
        users: The user of each answer, ``(n,)``, if users have several answers with the
            wanted candidate at different places. Values are then permuted within each
            user.
        draws: Number of random assignments.
        seed: Seed of the assignments.

    Returns:
        The statistic and its p-value; 0 and 1 if all values are equal.
    """
    numbers = np.asarray(values, np.float64)
    names, places = np.unique(np.asarray(groups), return_inverse=True)
    owners = _checked_owners(numbers, places, users)
    if len(names) < 2 or draws < 1:
        raise OracleError(
            f"position_test: there must be at least two groups and one draw, got the groups "
            f"{names.tolist()!r} and draws={draws!r}",
        )
    sizes = np.bincount(places)
    observed = _between(numbers, places, sizes)
    # Sums of the same numbers in another order differ in their last digits; they count
    # as equal.
    limit = observed - 1e-9 * float(((numbers - numbers.mean()) ** 2).sum())
    rng = np.random.default_rng(seed)
    known: dict[Hashable, int] = {}
    whose = np.array([known.setdefault(owner, len(known)) for owner in owners])
    rows = np.argsort(whose, kind="stable")
    dealt = np.empty_like(numbers)
    reached = 0
    for _ in range(draws):
        dealt[rows] = numbers[np.lexsort((rng.random(len(numbers)), whose))]
        reached += _between(dealt, places, sizes) >= limit
    return observed, (int(reached) + 1) / (draws + 1)


def _between(values: Floats, places: Integers, sizes: Integers) -> float:
    """The sum of squares between groups, of the values in those places."""
    means = np.bincount(places, weights=values) / sizes
    return float(sizes @ (means - values.mean()) ** 2)


def _checked_owners(
    numbers: Floats,
    places: Integers,
    users: Sequence[Hashable] | None,
) -> Sequence[Hashable]:
    """The user of each value, one for all without `users`, after a check that values
    are finite and have a group.
    """
    if (
        numbers.ndim != 1
        or len(numbers) != len(places)
        or not np.isfinite(numbers).all()
    ):
        raise OracleError(
            f"position_test: every value must be a finite number and needs its group, got values of "
            f"shape {numbers.shape} and {len(places)} groups",
        )
    owners: Sequence[Hashable] = [0] * len(numbers) if users is None else users
    if len(owners) != len(numbers):
        raise OracleError(
            f"position_test: every value needs its user, got {len(owners)} for {len(numbers)}",
        )
    return owners


def chosen_places_test(places: Sequence[int], offered: int) -> tuple[float, float]:
    """The chi-square test that all places are chosen equally often.

    If candidates are shuffled, every place is chosen equally often, unless the
    recommender prefers places; its preferences of items do not matter.

    Example:
        >>> statistic, p_value = chosen_places_test([0, 0, 0, 0, 0, 1, 2, 3], offered=4)
        >>> round(p_value, 3)
        0.112

    Args:
        places: Place of the candidate that each user is recommended first, from 0,
            ``(n,)``, n at least 1.
        offered: Number of candidates, at least 2.

    Returns:
        The statistic, with ``offered - 1`` degrees of freedom, and its p-value.
    """
    chosen = np.asarray(places, np.int64)
    if offered < 2 or not len(chosen) or chosen.min() < 0 or chosen.max() >= offered:
        raise OracleError(
            f"chosen_places_test: places must lie between 0 and {offered - 1}, for {offered} candidates "
            f"(at least 2), got {list(places)!r}",
        )
    expected = len(chosen) / offered
    off = np.bincount(chosen, minlength=offered) - expected
    statistic = float((off**2).sum() / expected)
    return statistic, float(chdtrc(offered - 1, statistic))
