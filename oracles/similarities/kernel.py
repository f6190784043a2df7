"""Shared code of the similarities: read pairs of lists in chunks, and count matches in
them.

Two lists of k items are compared rank by rank, in `k` vectorised steps over a chunk of
pairs, whose rank-major arrays ``(k, pairs)`` stay in the processor's cache. The chunk
size limits the memory beyond arguments and result.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pytest_recsys_mt.oracles.arrays import PAD, Floats, Integers
from pytest_recsys_mt.safety.errors import OracleError

_CHUNK_CELLS = 40_000


@dataclass(frozen=True)
class Chunk:
    """Some pairs of lists, ``(k, pairs)``, with pads of -1 in `a` and of -2 in `b`,
    which never match, and their lengths.
    """

    a: NDArray[Any]
    b: NDArray[Any]
    a_length: Integers
    b_length: Integers


def by_chunk(a: ArrayLike, b: ArrayLike, kernel: Callable[[Chunk], Floats]) -> Floats:
    """Apply `kernel` to pairs of lists, as in `rbo`, a chunk at a time; NaN for pairs
    of which one list is empty.
    """
    a, b = _lists("a", a), _lists("b", b)
    if len(a) != len(b):
        raise OracleError(
            f"a and b contain the two lists of each pair, so they need equally many rows, "
            f"got {len(a)} and {len(b)}",
        )
    out = np.full(len(a), np.nan)
    depth = max(a.shape[1], b.shape[1], 1)
    size = max(256, _CHUNK_CELLS // depth)
    for start in range(0, len(a), size):
        rows = slice(start, start + size)
        left, left_length = _rank_major("a", a[rows], depth, -1)
        right, right_length = _rank_major("b", b[rows], depth, -2)
        full = (left_length > 0) & (right_length > 0)
        if full.all():
            out[rows] = kernel(Chunk(left, right, left_length, right_length))
        elif full.any():
            chunk = Chunk(
                left[:, full],
                right[:, full],
                left_length[full],
                right_length[full],
            )
            out[rows][full] = kernel(chunk)
    return out


def new_matches(chunk: Chunk) -> NDArray[np.uint8]:
    """How many more common items the first d places have than the first d - 1, ``(k,
    pairs)``.

    An entry is 0, 1 or 2. The running sum over d is the overlap X_d of Webber et al.
    """
    a, b = chunk.a, chunk.b
    depth = len(a)
    counts = np.empty(a.shape, np.uint8)
    equal = np.empty(a.shape, np.bool_)
    for place in range(depth):
        upper = equal[: place + 1]
        np.equal(b[: place + 1], a[place], out=upper)
        # An item occurs once in a list, so "any" equals "sum" and is faster.
        np.logical_or.reduce(upper, axis=0, out=counts[place].view(np.bool_))
        if place:
            below = equal[:place]
            np.equal(a[:place], b[place], out=below)
            counts[place] += np.logical_or.reduce(below, axis=0).view(np.uint8)
    return counts


def count_pairs(chunk: Chunk) -> tuple[Integers, Integers, Integers]:
    """The items of `a` alone, those of `b` alone, and the pairs that the lists order
    differently, ``(pairs,)`` each.

    Kendall's tau-b and Fagin's K^(p) differ only in ties. A list ranks its own items
    ahead of the absent ones (K^(0) of Fagin, Kumar and Sivakumar 2003).
    """
    a, b = chunk.a, chunk.b
    depth, pairs = a.shape
    small = np.uint8 if depth < np.iinfo(np.uint8).max else np.uint16
    # place[i]: 1-based place of a[i] in b, 0 if it is absent.
    place = np.zeros(a.shape, small)
    equal = np.empty(a.shape, np.bool_)
    term = np.empty(a.shape, small)
    for j in range(depth):
        np.equal(a, b[j], out=equal)
        np.multiply(equal, small(j + 1), out=term)
        np.bitwise_or(place, term, out=place)

    # Absent items wrap around to the largest number, so no comparison below counts
    # them.
    ceiling = place - small(1)
    inversions = np.zeros(pairs, np.int64)
    for i in range(depth - 1):
        later = np.greater(place[i], ceiling[i + 1 :], out=equal[i + 1 :])
        inversions += later.sum(axis=0, dtype=small)

    shared = place > 0
    common = shared.sum(axis=0, dtype=np.int64)
    ranks = np.arange(1, depth + 1)
    a_length, b_length = chunk.a_length, chunk.b_length
    a_only, b_only = a_length - common, b_length - common
    a_only_ranks = pairs_of(a_length + 1) - ranks @ shared
    b_only_ranks = pairs_of(b_length + 1) - place.sum(axis=0, dtype=np.int64)
    # An item of only one list disagrees with each common item after it in that list.
    a_ahead = a_only * a_length - a_only_ranks - pairs_of(a_only)
    b_ahead = b_only * b_length - b_only_ranks - pairs_of(b_only)
    return a_only, b_only, inversions + a_ahead + b_ahead + a_only * b_only


def pairs_of(count: Integers) -> Integers:
    """The number of pairs of `count` things."""
    return count * (count - 1) // 2


def _lists(name: str, values: ArrayLike) -> NDArray[Any]:
    array = np.asarray(values)
    if array.ndim != 2 or not np.issubdtype(array.dtype, np.integer):
        raise OracleError(
            f"{name} must be an integer array of shape (pairs, k) padded with {PAD}, "
            f"got {array.dtype} of shape {array.shape}",
        )
    return array


def _rank_major(
    name: str,
    lists: NDArray[Any],
    depth: int,
    pad: int,
) -> tuple[NDArray[Any], Integers]:
    """The lists as columns, ``(depth, pairs)``, with `pad`
    for every pad, and their lengths.
    """
    width = lists.shape[1]
    signed = (
        np.int32 if lists.dtype.itemsize <= 4 and lists.dtype != np.uint32 else np.int64
    )
    out = np.empty((depth, len(lists)), signed)
    out[:width] = lists.T
    out[width:] = pad
    if out.min(initial=0) >= 0:
        return out, np.full(len(lists), depth)
    filled = out >= 0
    if (filled[1:] > filled[:-1]).any():
        raise OracleError(
            f"a list in {name} continues after a pad; pads belong at the end",
        )
    np.copyto(out, pad, where=~filled)
    return out, filled.sum(axis=0, dtype=np.int64)
