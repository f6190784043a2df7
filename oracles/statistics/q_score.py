"""Q: how much one recommender is preferred to another in pairwise comparisons.

"RecSys Arena" (https://arxiv.org/abs/2412.11068), equation 2: ``Q = (win + tie) / (lose
+ tie)``. It is 1 if both win equally often, and exchanging the two gives 1/Q.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from pytest_recsys_mt.oracles.arrays import Floats
from pytest_recsys_mt.safety.errors import OracleError

__all__ = ["q_in_words", "q_interval", "q_score"]

_CELLS = 2_000_000


def q_score(win: float, tie: float, lose: float) -> float:
    """The ratio ``(win + tie) / (lose + tie)``.

    Example:
        >>> q_score(win=6, tie=2, lose=2)
        2.0

    Args:
        win: Comparisons won, or their share, at least 0.
        tie: Comparisons without a winner, in the same unit.
        lose: Comparisons lost, in the same unit.

    Returns:
        At least 0. Infinite if nothing was lost or tied but something was won, NaN if
        there was no comparison.
    """
    for name, count in (("win", win), ("tie", tie), ("lose", lose)):
        if not (math.isfinite(count) and count >= 0):
            raise OracleError(
                f"q_score: {name} must be a number of at least 0, got {count!r}",
            )
    if lose + tie == 0:
        return math.inf if win > 0 else math.nan
    return (win + tie) / (lose + tie)


def q_in_words(q: float) -> float | str:
    """Q as a report shows it: a number, or a text if Q is infinite or undefined.

    Example:
        >>> q_in_words(float("inf"))
        'infinite (nothing lost or tied)'

    Args:
        q: As returned by `q_score`; may be infinite or NaN.

    Returns:
        The number, or ``infinite (nothing lost or tied)``, or ``undefined (no
        comparison)``.
    """
    if math.isnan(q):
        return "undefined (no comparison)"
    if math.isinf(q):
        return "infinite (nothing lost or tied)"
    return q


def q_interval(
    outcomes: ArrayLike,
    confidence: float = 0.95,
    *,
    seed: int = 0,
    draws: int = 9_999,
) -> tuple[float, float]:
    """The interval of Q over users, by the percentile bootstrap.

    Users are drawn with all their comparisons. Exchanging the sides gives the interval
    of the reciprocals. A draw without any comparison does not count. Bounds may be
    infinite. If all users are equal, the interval has no width, which says little about
    users that were not asked. So verdicts use the bounds of a mean instead.

    Example:
        >>> low, high = q_interval([[3, 1, 0], [1, 1, 2], [2, 2, 0], [4, 0, 0]])  # of four users
        >>> round(float(low), 2), round(float(high), 2)
        (1.0, 8.0)

    Args:
        outcomes: Comparisons won, tied and lost by each user, ``(n, 3)``; shares are
            allowed.
        confidence: Confidence level, in (0, 1).
        seed: Seed of the draws.
        draws: Number of bootstrap samples.

    Returns:
        The lower and the upper bound; both NaN if there was no comparison.
    """
    counts = np.asarray(outcomes, np.float64)
    if counts.ndim != 2 or counts.shape[1:] != (3,) or not len(counts):
        raise OracleError(
            f"q_interval: outcomes needs a row of wins, ties and losses for each user, got an array "
            f"of shape {counts.shape}",
        )
    if not (np.isfinite(counts).all() and (counts >= 0).all()):
        raise OracleError("q_interval: outcomes must be numbers of at least 0")
    if not 0 < confidence < 1:
        raise OracleError(
            f"q_interval: confidence must lie in (0, 1), got {confidence!r}",
        )
    drawn = _drawn(counts, np.random.default_rng(seed), draws)
    drawn = np.sort(drawn[~np.isnan(drawn)])
    if not len(drawn):
        return math.nan, math.nan
    # The same rank from both ends, so that reciprocals get the reciprocal interval.
    rank = math.floor((1 - confidence) / 2 * len(drawn))
    return float(drawn[rank]), float(drawn[-1 - rank])


def _drawn(counts: Floats, rng: np.random.Generator, draws: int) -> Floats:
    users = len(counts)
    parts = []
    step = max(1, _CELLS // users)
    for start in range(0, draws, step):
        size = min(step, draws - start)
        times = rng.multinomial(users, np.full(users, 1 / users), size=size)
        win, tie, lose = (times @ counts).T
        with np.errstate(divide="ignore", invalid="ignore"):
            parts.append((win + tie) / (lose + tie))
    return np.concatenate(parts)
