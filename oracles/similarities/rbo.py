"""Rank-biased overlap, extrapolated."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from pytest_recsys_mt.oracles.arrays import Floats
from pytest_recsys_mt.oracles.similarities.kernel import Chunk, by_chunk, new_matches
from pytest_recsys_mt.safety.errors import OracleError


def rbo(a: ArrayLike, b: ArrayLike, p: float = 0.9) -> Floats:
    r"""Extrapolated rank-biased overlap of pairs of lists, also of uneven length.

    With X_d the number of common items in the first d places, and s and l the shorter
    and the longer length (Webber, Moffat and Zobel 2010, ACM TOIS 28(4), equation 32)::

        RBO = (1-p)/p * [ sum_{d<=l} X_d/d p^d + sum_{s<d<=l} X_s (d-s)/(s d) p^d ]
              + [ (X_l - X_s)/l + X_s/s ] p^l

    At p = 0.9, the first 10 places have 0.86 of the weight.

    Example:
        >>> rbo([[1, 2, 3]], [[1, 3, 2]]).round(3).tolist()
        [0.955]

    Args:
        a: Item numbers, ``(n, k)``, best first, without repeats, padded with -1 at the
            end.
        b: The lists to compare with, ``(n, k')``.
        p: Probability that a reader continues to the next place, in (0, 1). A larger p
            gives more weight to lower places.

    Returns:
        Similarity in [0, 1], ``(n,)``; NaN if either list is empty.
    """
    check_patience("rbo", p)
    return by_chunk(a, b, lambda chunk: _extrapolated(chunk, p))


def check_patience(name: str, p: float) -> None:
    """Raise if p is no probability strictly between 0 and 1."""
    if not 0 < p < 1:
        raise OracleError(
            f"p of {name} must lie in (0, 1), got {p!r}; 0.9 suits lists of ten",
        )


def _extrapolated(chunk: Chunk, p: float) -> Floats:
    depth = len(chunk.a)
    degree = np.arange(depth + 1)
    power = p**degree
    share = np.zeros(depth + 1)  # power / degree, 0 at degree 0
    share[1:] = power[1:] / degree[1:]
    tail = np.cumsum(share) * ((1 - p) / p)

    # sum_{d<=l} X_d p^d/d; every match counts from the depth at which it appears.
    matches = new_matches(chunk)
    total = matches.sum(axis=0, dtype=np.int64)
    longer = np.maximum(chunk.a_length, chunk.b_length)
    out: Floats = total * (tail + share)[longer] - tail[:-1] @ matches.astype(
        np.float64,
    )

    (uneven,) = np.nonzero(chunk.a_length != chunk.b_length)
    if len(uneven):
        l = longer[uneven]  # l and s are the paper's letters
        s = np.minimum(chunk.a_length, chunk.b_length)[uneven]
        overlap = np.cumsum(matches[:, uneven], axis=0, dtype=np.int64)
        x_s = overlap[s - 1, np.arange(len(uneven))]
        out[uneven] += x_s * ((power[s] - power[l]) / s - (tail[l] - tail[s]))
        out[uneven] += x_s * power[l] * (1 / s - 1 / l)

    # Rounding may miss the ends of the range by 1e-16, but verdicts need exactly 1 for
    # equal lists.
    (near,) = np.nonzero(out > 1 - 1e-9)
    equal = (chunk.a[:, near] == chunk.b[:, near]) | (chunk.a[:, near] < 0)
    out[near[equal.all(axis=0) & (chunk.a_length[near] == chunk.b_length[near])]] = 1.0
    out[total == 0] = 0.0
    return np.minimum(out, 1.0, out=out)


SIMILARITY = rbo
METRIC = True
