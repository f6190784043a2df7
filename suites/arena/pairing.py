"""Which pair to compare next, so that the order of all recommenders is clear after few calls."""

from collections.abc import Callable
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from pytest_recsys_mt.oracles.arrays import Floats
from pytest_recsys_mt.oracles.statistics.bradley_terry import most_likely

PRIOR = 1.0
STEP = 5
"""Users that a pair is judged for at a time, in both orders."""

CLEAR = 2.5
"""Two neighbours are clear if their strengths are so many standard errors apart."""

Ask = Callable[[int, int, int, int], tuple[Floats, Floats]]
"""Has a pair judged for users from a number to another, in both orders: what was won shown first and
shown second, ``(m, m)`` each, as `placed_bradley_terry` takes it."""


def order_of(players: int, users: int, ask: Ask, *, most: int) -> tuple[list[int], int]:
    """The order of the players, the strongest first, by the pairs that tell most of it.

    Each pair is judged for a few users first. Then the two neighbours of the current ranking whose
    order is least certain are judged for more, or, if all their users were, the pair that tells most
    of their difference (uncertainty sampling on the strengths' covariance). It ends when all
    neighbours are clear, or after the most calls, two for a user and pair; their number is returned too.
    """
    first, second = (np.full((players, players), PRIOR / 4) for _ in range(2))
    for table in (first, second):
        np.fill_diagonal(table, 0.0)
    asked = np.zeros((players, players), np.intp)
    calls = 0

    def judge(one: int, other: int) -> int:
        start = int(asked[one, other])
        end = min(users, start + STEP)
        won, other_won = ask(one, other, start, end)
        np.add(first, won, out=first)
        np.add(second, other_won, out=second)
        asked[one, other] = asked[other, one] = end
        return 2 * (end - start)

    for one in range(players):
        calls += judge(*sorted((one, (one + 1) % players)))
    while True:
        found = most_likely(first, second, place=True)
        strength = found[:-1]
        covariance = _covariance(first, second, found)
        order = [int(at) for at in np.argsort(-strength, kind="stable")]
        apart = []
        for one, other in pairwise(order):
            spread = covariance[one, one] + covariance[other, other] - 2 * covariance[one, other]
            apart.append((float((strength[one] - strength[other]) / np.sqrt(spread)), one, other))
        unclear = min(apart)
        pair = _most_telling(unclear[1], unclear[2], covariance, strength, asked, users)
        if unclear[0] >= CLEAR or calls + 2 * STEP > most or pair is None:
            return order, calls
        calls += judge(*pair)


def _most_telling(
    one: int, other: int, covariance: Floats, strength: Floats, asked: NDArray[np.intp], users: int
) -> tuple[int, int] | None:
    toward = covariance[:, one] - covariance[:, other]
    gain = (toward[:, None] - toward[None, :]) ** 2
    apart = strength[:, None] - strength[None, :]
    chance = 1 / (1 + np.exp(-apart))
    weight = chance * (1 - chance)
    spread = covariance.diagonal()[:, None] + covariance.diagonal()[None, :] - 2 * covariance
    gain = weight * gain / (1 + 2 * STEP * weight * spread)
    gain = np.where((asked < users) & (gain > 0), gain, -1.0)
    np.fill_diagonal(gain, -1.0)
    at = int(np.argmax(gain))
    if gain.flat[at] < 0:
        return None
    row, column = sorted(divmod(at, len(strength)))
    return row, column


def _covariance(first: Floats, second: Floats, found: Floats) -> Floats:
    strength, place = found[:-1], found[-1]
    met = first + second.T
    chance = 1 / (1 + np.exp(-(strength[:, None] - strength[None, :] + place)))
    weight = met * chance * (1 - chance)
    both = weight + weight.T
    curve: Floats = np.diag(both.sum(axis=1)) - both
    return np.linalg.pinv(curve).astype(np.float64)
