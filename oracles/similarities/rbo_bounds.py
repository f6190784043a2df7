"""The range of rank-biased overlap over all possible continuations of the lists."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from pytest_recsys_mt.oracles.arrays import Floats
from pytest_recsys_mt.oracles.similarities.kernel import Chunk, by_chunk, new_matches
from pytest_recsys_mt.oracles.similarities.rbo import check_patience

__all__ = ["rbo_min", "rbo_residual"]


def rbo_min(a: ArrayLike, b: ArrayLike, p: float = 0.9) -> Floats:
    r"""The smallest possible rank-biased overlap: no unseen item is common to both
    lists.

    With X_d the number of common items in the first d places, and l the longer length
    (Webber, Moffat and Zobel 2010, ACM TOIS 28(4), equation 11, also for lists of
    uneven length), and the arguments of `rbo`::

        MIN = (1-p)/p * [ sum_{d<=l} X_d/d p^d + X_l (ln 1/(1-p) - sum_{d<=l} p^d/d) ]

    Example:
        >>> rbo_min([[1, 2, 3]], [[1, 3, 2]]).round(3).tolist()
        [0.478]

    Returns:
        In [0, 1), ``(n,)``; NaN if either list is empty.
    """
    check_patience("rbo_min", p)
    return by_chunk(a, b, lambda chunk: _least(chunk, p))


def rbo_residual(a: ArrayLike, b: ArrayLike, p: float = 0.9) -> Floats:
    r"""The largest possible excess of rank-biased overlap over `rbo_min`: all unseen
    items are common.

    With s and l the shorter and the longer length, and ``f = l + s - X_l`` (equation 30
    of the same paper), and the arguments of `rbo`::

        RES = p^s + p^l - p^f - (1-p)/p * [ s sum_{s<d<=f} p^d/d + l sum_{l<d<=f} p^d/d
                                            + X_l (ln 1/(1-p) - sum_{d<=f} p^d/d) ]

    Example:
        >>> rbo_residual([[1, 2, 3]], [[1, 3, 2]]).round(3).tolist()
        [0.477]

    Returns:
        In (0, 1], ``(n,)``; NaN if either list is empty.
    """
    check_patience("rbo_residual", p)
    return by_chunk(a, b, lambda chunk: _residual(chunk, p))


def _least(chunk: Chunk, p: float) -> Floats:
    sums = _sums(len(chunk.a), p)
    matches = new_matches(chunk)
    # sum_{d<=l} X_d p^d/d + X_l (rest): every match counts from the depth at which it
    # appears.
    weight = math.log(1 / (1 - p)) - sums[:-1]
    out: Floats = (1 - p) / p * (weight @ matches.astype(np.float64))
    return out


def _residual(chunk: Chunk, p: float) -> Floats:
    sums = _sums(2 * len(chunk.a), p)
    common = new_matches(chunk).sum(axis=0, dtype=np.int64)
    s = np.minimum(chunk.a_length, chunk.b_length)  # the paper's letters
    l = np.maximum(chunk.a_length, chunk.b_length)
    f = l + s - common
    unseen = s * (sums[f] - sums[s]) + l * (sums[f] - sums[l])
    unseen += common * (math.log(1 / (1 - p)) - sums[f])
    out: Floats = p**s + p**l - p**f - (1 - p) / p * unseen
    return out


def _sums(depth: int, p: float) -> Floats:
    degree = np.arange(1, depth + 1)
    return np.concatenate([[0.0], np.cumsum(p**degree / degree)])
