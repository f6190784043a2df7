"""The history length at which another recommender overtakes ours."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike

from pytest_recsys_mt.oracles.arrays import Floats, Integers
from pytest_recsys_mt.safety.errors import OracleError

__all__ = ["CrossingPoint", "crossing_point"]


@dataclass(frozen=True)
class CrossingPoint:
    """The first history length at which the other recommender is better.

    Example:
        >>> found = crossing_point([1, 20], ours=[[0.4, 0.4], [0.3, 0.3]], other=[[0.1, 0.5], [0.2, 0.6]])
        >>> found.low, found.length, found.high
        (20, 20, 20)

    Attributes:
        length: The measured length; None if the other is better at no length.
        low: The lower end of the interval; None as in `length`.
        high: The upper end of the interval; None as in `length`.
        never: Share of the bootstrap samples in which the other is better at no length.
    """

    length: int | None
    low: int | None
    high: int | None
    never: float


def crossing_point(
    lengths: Sequence[int],
    ours: ArrayLike,
    other: ArrayLike,
    confidence: float = 0.95,
    *,
    seed: int = 0,
    draws: int = 9_999,
) -> CrossingPoint:
    """The first length at which the other recommender's mean metric is above ours.

    The interval is the percentile interval of a bootstrap over users, each with all
    lengths of both recommenders. A sample in which the other is never ahead counts as
    beyond the last length.

    Source:
        The cold-start comparison of section 3.4.3 of https://arxiv.org/abs/2411.00331.
        There, language models are ahead with short histories and trained models with
        long ones.

    Example:
        >>> ours = [[0.4, 0.4, 0.4], [0.3, 0.3, 0.3], [0.4, 0.4, 0.4]]  # three users, three lengths
        >>> other = [[0.1, 0.3, 0.5], [0.2, 0.3, 0.6], [0.1, 0.2, 0.5]]
        >>> crossing_point([1, 5, 20], ours, other).length
        20

    Args:
        lengths: Lengths of the histories, ascending, ``(m,)``.
        ours: The metric of each user at each length, ``(n, m)``, n at least 2.
        other: The other recommender's, of the same users, ``(n, m)``.
        confidence: Confidence level, in (0, 1).
        seed: Seed of the draws.
        draws: Number of bootstrap samples.
    """
    left, right = _checked_metrics(lengths, ours, other)
    rising = all(a < b for a, b in pairwise(lengths))
    if not lengths or not rising or not 0 < confidence < 1 or draws < 1:
        raise OracleError(
            f"crossing_point: lengths must rise, confidence must lie in (0, 1) and draws must be at "
            f"least 1, got {list(lengths)!r}, {confidence!r} and {draws!r}",
        )
    ahead = right - left
    rng = np.random.default_rng(seed)
    users = len(ahead)
    # The means depend only on how often each user is drawn.
    weights = rng.multinomial(users, np.full(users, 1 / users), size=draws)
    crossings = np.sort(_first(weights @ ahead))
    tail = (1 - confidence) / 2
    low = crossings[int(np.floor(tail * (draws - 1)))]
    high = crossings[int(np.ceil((1 - tail) * (draws - 1)))]
    names: list[int | None] = [*lengths, None]
    return CrossingPoint(
        names[int(_first(ahead.sum(axis=0)[None, :])[0])],
        names[int(low)],
        names[int(high)],
        float((crossings == len(lengths)).mean()),
    )


def _checked_metrics(
    lengths: Sequence[int],
    ours: ArrayLike,
    other: ArrayLike,
) -> tuple[Floats, Floats]:
    """The metrics of both recommenders, each ``(users, lengths)``."""
    left, right = np.asarray(ours, np.float64), np.asarray(other, np.float64)
    if left.ndim != 2 or left.shape != right.shape or left.shape[1] != len(lengths):
        raise OracleError(
            f"crossing_point: both recommenders need one row per user and one column per length, got "
            f"arrays of shapes {left.shape} and {right.shape} for {len(lengths)} lengths",
        )
    if not np.isfinite(left).all() or not np.isfinite(right).all() or len(left) < 2:
        raise OracleError(
            f"crossing_point: metrics must be finite numbers of at least two users, got {len(left)} users",
        )
    return left, right


def _first(sums: Floats) -> Integers:
    above = sums > 1e-12
    found: Integers = np.where(above.any(axis=1), above.argmax(axis=1), sums.shape[1])
    return found
