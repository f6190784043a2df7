"""When a series of nights breaks a promise: bets that start on every night on which the
break may begin.

One bettor who has lost for 30 good nights needs many bad ones to win that back. So a
part of the capital (1 in total) starts on each night. From then on it is multiplied,
user by user, by ``1 + b (x - m)`` as in `betting`, but with a stake b that is fixed for
the night. While every night keeps the promise, each part and so their sum is a
nonnegative supermartingale from night to night. By Ville's inequality, the probability
that it *ever* reaches 1/alpha is at most alpha, in a series of any length, if users
answer independently of each other, given the nights before.

Shin, Ramdas and Rinaldo 2023, "E-detectors: a nonparametric framework for sequential
change detection", New England J. Stat. Data Sci. 2: the Shiryaev-Roberts sum of section
3, with weights that sum to 1 instead of weights of 1. So it bounds the probability of
any false alarm, not the frequency of false alarms.
"""

import numpy as np

from pytest_recsys_mt.oracles.arrays import Floats

STAKES = np.array([0.125, 0.25, 0.5, 0.95])
"""Largest shares of the capital that one user can cost;
each gets an equal part of the capital.
"""

_NOTHING = 1e-9


def log_growth(gains: Floats, worst: float | Floats) -> Floats:
    """Logarithm of the capital after one night that starts with 1, at each of `STAKES`.

    Args:
        gains: Those of a unit stake on each user, ``(..., users)``.
        worst: The most that it can lose, ``(...)``.

    Returns:
        The logarithms, ``(len(STAKES), ...)``.
    """
    shares = gains / np.maximum(np.asarray(worst)[..., None], _NOTHING)
    grown: Floats = np.log1p(np.multiply.outer(STAKES, shares)).sum(axis=-1)
    return grown


def log_evidence(growth: Floats) -> Floats:
    """Logarithm of the capital after each night; above ``log(1 / alpha)`` with
    probability alpha at most.

    Args:
        growth: The result of `log_growth` for each night. The stakes on several ways to
            break the promise follow one another, ``(ways, nights, ...)``.

    Returns:
        The logarithms, ``(nights, ...)``.
    """
    running: Floats = np.full_like(growth[:, 0], -np.inf)
    capital: Floats = np.empty_like(growth[0])
    for night in range(growth.shape[1]):
        begun = _log_weight(night)
        running = np.logaddexp(running, begun) + growth[:, night]
        staked = np.logaddexp.reduce(running, axis=0) - np.log(len(growth))
        # The second is what later nights start with.
        capital[night] = np.logaddexp(staked, -np.log(night + 2))
    return capital


def began(growth: Floats) -> int:
    """The night, counted from 0, on which the part with the most capital at the end
    started; `growth` is ``(ways, nights)``.
    """
    from_night_to_end = np.cumsum(growth[:, ::-1], axis=1)[:, ::-1]
    won = np.logaddexp.reduce(from_night_to_end, axis=0)
    begun = [_log_weight(night) for night in range(len(won))]
    return int(np.argmax(won + begun))


def _log_weight(night: int) -> float:
    """Logarithm of the part that starts on a night; the parts
    ``1 / (t (t + 1))``, t from 1, sum to 1.
    """
    return -float(np.log((night + 1) * (night + 2)))
