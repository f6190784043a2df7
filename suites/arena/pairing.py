"""Which pair to compare next, so that the order of all
recommenders is clear after few calls.
"""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from pytest_recsys_mt.oracles.arrays import Floats
from pytest_recsys_mt.oracles.statistics.bradley_terry import most_likely

PRIOR = 1.0
"""Ties added to each pair, so that a player that never lost has a strength."""

STEP = 5
"""Users that a pair is judged for at a time, in both orders."""

CLEAR = 2.5
"""Two neighbours are clear if their strengths are so many standard errors apart."""

Ask = Callable[[int, int, int, int], tuple[Floats, Floats]]
"""Has a pair judged for users from a number to another, in both orders: what was won
shown first and shown second, ``(m, m)`` each, as `placed_bradley_terry` takes it.
"""


@dataclass(frozen=True)
class _Fit:
    """The strengths by the comparisons so far.

    Attributes:
        strength: Of each player, ``(m,)``.
        covariance: Of the strengths, ``(m, m)``.
    """

    strength: Floats
    covariance: Floats

    @property
    def order(self) -> list[int]:
        """The players, the strongest first."""
        return [int(player) for player in np.argsort(-self.strength, kind="stable")]

    def variances(self) -> Floats:
        """The variance of the difference of each two strengths, ``(m, m)``."""
        own = self.covariance.diagonal()
        total: Floats = own[:, None] + own[None, :]
        return total - 2 * self.covariance

    def least_clear(self) -> tuple[float, int, int]:
        """The two neighbours in the order that are the fewest
        standard errors apart, and how many that are.
        """
        variances = self.variances()
        neighbours = []
        for one, other in pairwise(self.order):
            apart = self.strength[one] - self.strength[other]
            errors = apart / np.sqrt(variances[one, other])
            neighbours.append((float(errors), one, other))
        return min(neighbours)


def order_of(players: int, users: int, ask: Ask, *, most: int) -> tuple[list[int], int]:
    """The order of the players, the strongest first, by the most informative pairs.

    Each player is first judged against the next one, for a few users. From then on the
    two neighbours of the current ranking whose order is least certain are made clearer:
    the most informative pair on their difference, often they themselves, is judged for
    more users (uncertainty sampling on the strengths' covariance). It ends when all
    neighbours are clear, or after the most calls, two for a user and pair.

    Args:
        players: The number of players.
        users: The number of users for whom a pair can be judged.
        ask: Has a pair judged.
        most: The most calls.

    Returns:
        The order, and the number of calls.
    """
    first, second = (np.full((players, players), PRIOR / 4) for _ in range(2))
    for table in (first, second):
        np.fill_diagonal(table, 0.0)
    asked = np.zeros(
        (players, players),
        np.intp,
    )  # for how many users each pair was judged
    calls = 0

    def judge(one: int, other: int) -> int:
        """Have a pair judged for the next users; returns the number of calls."""
        start = int(asked[one, other])
        end = min(users, start + STEP)
        won_first, won_second = ask(one, other, start, end)
        np.add(first, won_first, out=first)
        np.add(second, won_second, out=second)
        asked[one, other] = asked[other, one] = end
        return 2 * (end - start)

    for one in range(players):
        following = (one + 1) % players
        calls += judge(*sorted((one, following)))
    while True:
        fit = _fit(first, second)
        errors_apart, one, other = fit.least_clear()
        if errors_apart >= CLEAR or calls + 2 * STEP > most:
            return fit.order, calls
        pair = _most_informative(one, other, fit, asked < users)
        if pair is None:
            return fit.order, calls
        calls += judge(*pair)


def _fit(first: Floats, second: Floats) -> _Fit:
    """The strengths that explain best what was won shown
    first and shown second, ``(m, m)`` each.
    """
    found = most_likely(first, second, place=True)
    strength = found[:-1]
    advantage = found[-1]  # of the list shown first
    met = first + second.T
    chance = 1 / (1 + np.exp(-(strength[:, None] - strength[None, :] + advantage)))
    # The information of each comparison on a difference is the variance of its outcome
    # (the Fisher information).
    weight = met * chance * (1 - chance)
    both_places = weight + weight.T
    information: Floats = np.diag(both_places.sum(axis=1)) - both_places
    # A common shift of all strengths changes nothing, so the information has no inverse
    # of its own.
    covariance = np.linalg.pinv(information).astype(np.float64)
    return _Fit(strength, covariance)


def _most_informative(
    one: int,
    other: int,
    fit: _Fit,
    has_users: NDArray[np.bool_],
) -> tuple[int, int] | None:
    """The pair whose comparisons would reduce the variance of the difference of two
    players most.

    Args:
        one: The one player.
        other: The other player.
        fit: The strengths by the comparisons so far.
        has_users: Which pairs can be judged for further users, ``(m, m)``.

    Returns:
        The pair, the smaller number first; None if no pair is left with information
        on the difference.
    """
    strength = fit.strength
    covariance_with_difference = fit.covariance[:, one] - fit.covariance[:, other]
    shared = covariance_with_difference[:, None] - covariance_with_difference[None, :]
    chance = 1 / (1 + np.exp(-(strength[:, None] - strength[None, :])))
    weight = chance * (1 - chance)
    gain = weight * shared**2 / (1 + 2 * STEP * weight * fit.variances())
    gain = np.where(has_users & (gain > 0), gain, -1.0)
    np.fill_diagonal(gain, -1.0)
    best = int(np.argmax(gain))
    if gain.flat[best] < 0:
        return None
    row, column = sorted(divmod(best, len(strength)))
    return row, column
