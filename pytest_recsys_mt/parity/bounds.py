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

NOISIER = 0.01
"""How often requests that were answered twice are taken for noisier although they are
not.
"""

Status = Literal["holds", "violated", "inconclusive", "error"]


@dataclass(frozen=True)
class Bounded:
    """What is claimed of a mean over all users.

    Attributes:
        status: Of the claim that it is at most the margin.
        mean: Of the users that were seen.
        low: Its lower bound, wrong with a probability of at most `ALPHA`.
        high: Its upper bound, likewise.
        is_noisier: Whether nothing is said to hold since the requests that show noise
            vary more than the others do.
    """

    status: Status
    mean: float
    low: float
    high: float
    is_noisier: bool = False


def bounded(
    user: Integers,
    effects: tuple[Floats, Floats],
    lost: Integers,
    low: float,
    margin: float,
) -> Bounded:
    """Bounds for the mean effect.

    A request of which nothing is known counts at both ends of the possible values: as
    the largest effect against the claim, and as the smallest against the opposite one.

    Args:
        user: The user of each compared request, ``(n,)``.
        effects: The least and the most that the effects of these requests can be, both
            ``(n,)``.
        lost: The user of each request of which nothing is known.
        low: The least that an effect can be; the most is 1.
        margin: The most that the mean may be.
    """
    if not len(user):
        return Bounded("error", 0.0, low, 1.0)
    least, _ = _at_ends(user, effects[0], lost, low)
    _, most = _at_ends(user, effects[1], lost, low)
    at_least, at_most = Bets(least, low, 1.0), Bets(most, low, 1.0)
    status: Status = "inconclusive"
    if at_most.p_at_least(margin) <= ALPHA:
        status = "holds"
    elif at_least.p_at_most(margin) <= ALPHA:
        status = "violated"
    mean = float(means(user, effects[0]).mean())
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
    known = [~np.isnan(each) for each in floors]
    shown = [
        (user[has], each[has])
        for has, each in zip(known, floors, strict=True)
        if has.any()
    ]
    # A log whose answers never vary has no mean to be estimated.
    varying = sum(bool((own < 1.0).any()) for _, own in shown)
    alpha = ALPHA / (1 + varying)
    least, most = _at_ends(user, agreement, lost, 0.0)
    agree_low = Bets(least, 0.0, 1.0).lower(alpha)
    agree_high = Bets(most, 0.0, 1.0).upper(alpha)
    bounds = [_floor_bounds(own_user, own, alpha) for own_user, own in shown]
    # A log without two answers may vary as the other one does, or not at all.
    unknown = [1.0] * (len(floors) - len(shown))
    low = float(np.mean([each[0] for each in bounds])) - agree_high
    high = float(np.mean([*(each[1] for each in bounds), *unknown])) - agree_low
    status: Status = "inconclusive"
    is_noisier = _noisier_than_others(user, agreement, floors)
    if high <= margin and not is_noisier:
        status = "holds"
    elif low > margin:
        status = "violated"
    floor = np.mean([means(own_user, own).mean() for own_user, own in shown])
    mean = float(floor) - float(means(user, agreement).mean())
    return Bounded(status, mean, low, high, is_noisier)


def _floor_bounds(user: Integers, floor: Floats, alpha: float) -> tuple[float, float]:
    """The bounds of the mean agreement of a log with itself."""
    if (floor == 1.0).all():
        return 1.0, 1.0
    by_user, _ = _at_ends(user, floor, np.empty(0, np.int64), 0.0)
    bets = Bets(by_user, 0.0, 1.0)
    return bets.lower(alpha), bets.upper(alpha)


def _noisier_than_others(
    user: Integers,
    agreement: Floats,
    floors: Sequence[Floats],
) -> bool:
    """Whether the requests that were answered twice vary more than the others do, as
    where those were repeated that had failed.

    If all vary alike, both logs agree on the others at most as much as one log with
    itself: at each value, the share of requests with a higher agreement is no larger.
    One request of each user is compared, by a Kolmogorov-Smirnov test.
    """
    from scipy.stats import ks_2samp

    once = np.logical_and.reduce([np.isnan(each) for each in floors])
    order = generator("noise of logs", len(user)).permutation(len(user))
    one_each: list[Floats] = []
    values = [(once, agreement), *((~np.isnan(each), each) for each in floors)]
    for chosen, value in values:
        places = order[chosen[order]]
        _, first_of_each = np.unique(user[places], return_index=True)
        one_each.append(value[places[first_of_each]])
    others, own = one_each[0], np.concatenate(one_each[1:])
    if not len(others) or not len(own):
        return False
    found = ks_2samp(others, own, alternative="less")
    return bool(found.pvalue <= NOISIER)


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
