"""When a row of nights breaks a promise: bets on every night at which the break may have begun.

One bettor who has lost for 30 good nights needs many bad ones to win that back. So part of the capital, of 1
in all, begins on each night; from then on it is multiplied, user by user, by ``1 + b (x - m)`` as in
`betting`, but with a stake b that stays for a night. Whatever the night of the break, someone began there.

As long as every night keeps the promise, each part is a nonnegative supermartingale from night to night: the
factors of a night have the expectation ``prod(1 + b E[x - m])``, which is at most 1 where the mean of those
``E[x - m]`` is at most 0. So their sum is one too, and by Ville's inequality it *ever* reaches 1/alpha with
probability alpha at most, in a row of any length. It takes that users answer independently of each other,
given the nights before.

Shin, Ramdas and Rinaldo 2023, "E-detectors: a nonparametric framework for sequential change detection", New
England J. Stat. Data Sci. 2: the Shiryaev-Roberts sum of section 3, with weights that sum to 1 in place of 1
each, which bounds the chance of ever a false alarm instead of how often there is one.
"""

from __future__ import annotations

import numpy as np

from pytest_recsys_mt.oracles.arrays import Floats

STAKES = np.array([0.125, 0.25, 0.5, 0.95])
"""Shares of the capital that one user can cost at the most; an equal part is staked at each."""

_NOTHING = 1e-9


def log_growth(gains: Floats, worst: float | Floats) -> Floats:
    """Logarithm of what one night makes of a capital of 1, at each of `STAKES`.

    Args:
        gains: Of a unit stake on each user of the night, ``(..., users)``.
        worst: The most that a unit stake can lose, known before the night; ``(...)``.

    Returns:
        ``(len(STAKES), ...)``.
    """
    shares = gains / np.maximum(np.asarray(worst)[..., None], _NOTHING)
    return np.stack([np.log1p(stake * shares).sum(axis=-1) for stake in STAKES])


def log_evidence(growth: Floats) -> Floats:
    """Logarithm of the capital after each night.

    Args:
        growth: As `log_growth` gives it for each night; the stakes on several ways to break the promise
            one after the other, ``(ways, nights, ...)``.

    Returns:
        ``(nights, ...)``. A promise that is kept ever brings it above ``log(1 / alpha)`` with probability
        alpha at most.
    """
    running: Floats = np.full_like(growth[:, 0], -np.inf)
    capital: Floats = np.empty_like(growth[0])
    for night in range(growth.shape[1]):
        begun = _log_weight(night)
        running = np.logaddexp(running, begun) + growth[:, night]
        staked = np.logaddexp.reduce(running, axis=0) - np.log(len(growth))
        capital[night] = np.logaddexp(
            staked, -np.log(night + 2)
        )  # and what later nights begin with
    return capital


def began(growth: Floats) -> int:
    """The night, counted from 0, of the part that has won most at the end.

    Args:
        growth: As in `log_evidence`, ``(ways, nights)``.
    """
    won = np.logaddexp.reduce(np.cumsum(growth[:, ::-1], axis=1)[:, ::-1], axis=0)
    return int(np.argmax(won + [_log_weight(night) for night in range(len(won))]))


def _log_weight(night: int) -> float:
    """Of the part that begins on a night; the parts ``1 / (t (t + 1))``, t from 1, are 1 in all."""
    return -float(np.log((night + 1) * (night + 2)))
