"""The distance K^(p) between top-k lists of Fagin, Kumar and Sivakumar."""

from __future__ import annotations

from numpy.typing import ArrayLike

from pytest_recsys_mt.oracles.arrays import Floats
from pytest_recsys_mt.oracles.similarities.kernel import Chunk, by_chunk, count_pairs
from pytest_recsys_mt.safety.errors import OracleError


def fagin(a: ArrayLike, b: ArrayLike, p: float = 0.5) -> Floats:
    """K^(p), the Kendall distance between pairs of top-k lists.

    It counts the pairs of items of the union that the lists order differently. Each
    list ranks its own items ahead of its missing items. If one list has both items of a
    pair and the other has neither, the pair counts `p`, in [0, 1]: 0 is optimistic, 0.5
    neutral. Fagin, Kumar and Sivakumar 2003, SIAM J. Discrete Math. 17(1), section 3.1.
    The definition does not depend on the lengths, so it also applies to lists of uneven
    length. The other arguments are those of `rbo`.

    Example:
        >>> fagin([[1, 2, 3]], [[1, 3, 2]]).tolist()
        [1.0]

    Returns:
        Distance, 0 for equal lists, ``(n,)``; NaN if either list is empty.
    """
    _check(p)
    return by_chunk(a, b, lambda chunk: _distance(chunk, p))


def fagin_similarity(a: ArrayLike, b: ArrayLike, p: float = 0.5) -> Floats:
    """K^(p) as a similarity in [0, 1]: ``1 - K^(p) / maximum``, ``(n,)``, with that of
    disjoint lists of these lengths.
    """
    _check(p)
    return by_chunk(a, b, lambda chunk: 1 - _distance(chunk, p) / _maximum(chunk, p))


def _distance(chunk: Chunk, p: float) -> Floats:
    a_only, b_only, discordant = count_pairs(chunk)
    unknown = a_only * (a_only - 1) + b_only * (b_only - 1)
    return discordant + unknown * (p / 2)


def _maximum(chunk: Chunk, p: float) -> Floats:
    m, n = chunk.a_length, chunk.b_length
    return m * n + (m * (m - 1) + n * (n - 1)) * (p / 2)


def _check(p: float) -> None:
    if not 0 <= p <= 1:
        raise OracleError(
            f"p of fagin must lie in [0, 1], got {p!r}; 0.5 is the neutral choice",
        )


SIMILARITY = fagin_similarity
