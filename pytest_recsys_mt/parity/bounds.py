"""Bounds for the difference of two logs, and the verdict that they allow.

Users are the sample. Each has the mean of its requests, and they are bet on in a random
order; see `oracles.statistics.betting.Bets`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from pytest_recsys_mt.oracles.arrays import Floats, Integers
from pytest_recsys_mt.oracles.statistics.betting import Bets
from pytest_recsys_mt.requests.design import generator

ALPHA = 0.05
"""Error rate of either claim."""

Status = Literal["holds", "violated", "inconclusive", "error"]


@dataclass(frozen=True)
class Bounded:
    """What is claimed of a mean over all users.

    Attributes:
        status: Of the claim that it is at most the margin.
        mean: Of the users that were seen.
        low: Its lower bound, wrong with a probability of at most `ALPHA`.
        high: Its upper bound, likewise.
    """

    status: Status
    mean: float
    low: float
    high: float


def bounded(
    user: Integers,
    effect: Floats,
    lost: Integers,
    low: float,
    margin: float,
) -> Bounded:
    """Bounds for the mean effect.

    A request of which nothing is known counts at both ends of the possible values: as
    the largest effect against the claim, and as the smallest against the opposite one.

    Args:
        user: The user of each compared request, ``(n,)``.
        effect: The effects of these requests, ``(n,)``.
        lost: The user of each request of which nothing is known.
        low: The least that an effect can be; the most is 1.
        margin: The most that the mean may be.
    """
    if not len(user):
        return Bounded("error", 0.0, low, 1.0)
    least, most = _at_ends(user, effect, lost, low)
    at_least, at_most = Bets(least, low, 1.0), Bets(most, low, 1.0)
    status: Status = "inconclusive"
    if at_most.p_at_least(margin) <= ALPHA:
        status = "holds"
    elif at_least.p_at_most(margin) <= ALPHA:
        status = "violated"
    mean = float(means(user, effect).mean())
    return Bounded(status, mean, at_least.lower(ALPHA), at_most.upper(ALPHA))


def bounded_apart(
    user: Integers,
    agreement: Floats,
    floors: Sequence[Floats],
    lost: Integers,
    margin: float,
) -> Bounded:
    """Bounds for the mean loss of agreement beyond noise, where some of the requests
    show that noise, and it is taken to be alike for the others.

    The agreement of both logs and the noise of each are three means, each with a bound
    of its own; together these are wrong with a probability of at most `ALPHA`.

    Args:
        user: The user of each compared request, ``(n,)``.
        agreement: The agreement of both logs on these requests, ``(n,)``.
        floors: For each log, the agreement of its two answers, ``(n,)``: NaN where it
            has one.
        lost: The user of each request of which nothing is known.
        margin: The most that the mean loss may be.
    """
    if not len(user):
        return Bounded("error", 0.0, -1.0, 1.0)
    shown = [(user[~np.isnan(each)], each[~np.isnan(each)]) for each in floors]
    constant = [bool((own == 1.0).all()) for _, own in shown]
    # A log whose answers never vary has no mean to be estimated.
    alpha = ALPHA / (1 + constant.count(False))
    least, most = _at_ends(user, agreement, lost, 0.0)
    agree_low = Bets(least, 0.0, 1.0).lower(alpha)
    agree_high = Bets(most, 0.0, 1.0).upper(alpha)
    floor_low, floor_high, floor_mean = [], [], []
    for (own_user, own), is_constant in zip(shown, constant, strict=True):
        if is_constant:
            by_user = np.ones(1)
            floor_low.append(1.0)
            floor_high.append(1.0)
        else:
            by_user, _ = _at_ends(own_user, own, np.empty(0, np.int64), 0.0)
            bets = Bets(by_user, 0.0, 1.0)
            floor_low.append(bets.lower(alpha))
            floor_high.append(bets.upper(alpha))
        floor_mean.append(float(by_user.mean()))
    low = float(np.mean(floor_low)) - agree_high
    high = float(np.mean(floor_high)) - agree_low
    status: Status = "inconclusive"
    if high <= margin:
        status = "holds"
    elif low > margin:
        status = "violated"
    mean = float(np.mean(floor_mean)) - float(means(user, agreement).mean())
    return Bounded(status, mean, low, high)


def means(user: Integers, values: Floats) -> Floats:
    """The mean of each user who has a value, by number."""
    counts = np.bincount(user)
    sums = np.bincount(user, weights=values)
    present = counts > 0
    found: Floats = sums[present] / counts[present]
    return found


def _at_ends(
    user: Integers,
    values: Floats,
    lost: Integers,
    low: float,
) -> tuple[Floats, Floats]:
    """The least and the most that the mean of each user can be, in one random order; a
    lost value is in ``[low, 1]``.
    """
    users = np.append(user, lost)
    least = means(users, np.append(values, np.full(len(lost), low)))
    most = means(users, np.append(values, np.ones(len(lost))))
    order = generator("parity of logs", len(least)).permutation(len(least))
    return least[order], most[order]
