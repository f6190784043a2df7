"""Intervals for your own figures: rates, and means of several numbers per user."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtri

from pytest_recsys_mt.oracles.arguments import one_of
from pytest_recsys_mt.oracles.arrays import Floats, Integers
from pytest_recsys_mt.oracles.statistics.bounds import Rate
from pytest_recsys_mt.safety.errors import OracleError

__all__ = ["cluster_bootstrap", "rate_interval"]

Method = Literal["wilson", "exact"]


def rate_interval(
    count: int,
    users: int,
    confidence: float = 0.95,
    method: Method = "wilson",
) -> tuple[float, float]:
    """The two-sided interval of a rate.

    Wilson's interval (1927, JASA 22) has the stated confidence on average: use it to
    show a rate. The exact interval of Clopper and Pearson (1934, Biometrika 26) has at
    least the stated confidence: use it for guarantees.

    Example:
        >>> low, high = rate_interval(count=8, users=10)
        >>> round(low, 2), round(high, 2)
        (0.49, 0.94)

    Args:
        count: Users with the property.
        users: All users, at least 1.
        confidence: Confidence level, in (0, 1).
        method: ``wilson`` or ``exact``.
    """
    one_of("rate_interval", "method", method, get_args(Method))
    _share("rate_interval", confidence)
    if not 0 <= count <= users or users < 1:
        raise OracleError(
            f"rate_interval: users must be at least 1, and count must lie between 0 and users, got "
            f"count={count!r} of users={users!r}",
        )
    tail = (1 - confidence) / 2
    if method == "exact":
        rate = Rate(count, users)
        return rate.lower(tail), rate.upper(tail)
    z = float(ndtri(1 - tail))
    centre = (count + z**2 / 2) / (users + z**2)
    half = z / (users + z**2) * math.sqrt(count * (users - count) / users + z**2 / 4)
    return max(0.0, centre - half), min(1.0, centre + half)


def cluster_bootstrap(
    values: ArrayLike,
    users: Sequence[Hashable],
    confidence: float = 0.95,
    *,
    seed: int = 0,
    draws: int = 9_999,
) -> tuple[float, float]:
    """The interval of a mean over values if users have several values each.

    Users are drawn with all their values, because values of one user depend on one
    another and only users are independent (BCa bootstrap, Efron 1987, JASA 82; clusters
    as in Davison and Hinkley 1997, section 3.8). Bootstrap intervals are a little too
    narrow: measured with 40 and with 100 users of 1 to 5 values, the 95 % intervals
    contain the mean in 93 % (if users are ignored: 70 %).

    Example:
        >>> low, high = cluster_bootstrap([1, 0, 1, 1, 0], users=["u1", "u1", "u2", "u3", "u3"])
        >>> round(float(low), 2), round(float(high), 2)
        (0.5, 1.0)

    Args:
        values: Finite numbers, ``(n,)``.
        users: The user of each value, ``(n,)``; at least two different ones.
        confidence: Confidence level, in (0, 1).
        seed: Seed of the draws.
        draws: Number of bootstrap samples.

    Returns:
        The lower and the upper bound; both are the mean if all users have the same
        mean.
    """
    _share("cluster_bootstrap", confidence)
    numbers, rows = _clustered(values, users)
    sums = np.bincount(rows, weights=numbers)
    sizes = np.bincount(rows)
    if np.ptp(sums / sizes) == 0:
        mean = float(numbers.mean())
        return mean, mean
    from scipy.stats import bootstrap

    found = bootstrap(
        (sums, sizes),
        lambda total, size, axis: total.sum(axis=axis) / size.sum(axis=axis),
        paired=True,
        vectorized=True,
        confidence_level=confidence,
        n_resamples=draws,
        batch=max(1, 2_000_000 // len(sums)),
        random_state=np.random.default_rng(seed),
    )
    return float(found.confidence_interval.low), float(found.confidence_interval.high)


def _clustered(values: ArrayLike, users: Sequence[Hashable]) -> tuple[Floats, Integers]:
    """The checked values, and for each the number of its user, counted from 0."""
    numbers = np.asarray(values, np.float64)
    if (
        numbers.ndim != 1
        or len(numbers) != len(users)
        or not np.isfinite(numbers).all()
    ):
        raise OracleError(
            f"cluster_bootstrap: every value must be a finite number and needs its user, got values of "
            f"shape {numbers.shape} and {len(users)} users",
        )
    places = {user: place for place, user in enumerate(dict.fromkeys(users))}
    if len(places) < 2:
        raise OracleError(
            f"cluster_bootstrap: at least 2 different users are needed, got {list(places)!r}",
        )
    return numbers, np.array([places[user] for user in users])


def _share(name: str, confidence: float) -> None:
    if not 0 < confidence < 1:
        raise OracleError(f"{name}: confidence must lie in (0, 1), got {confidence!r}")
