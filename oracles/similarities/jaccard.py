"""Jaccard's index of the two sets of items."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from pytest_recsys_mt.oracles.arrays import Floats, Integers
from pytest_recsys_mt.oracles.similarities.kernel import Chunk, by_chunk, new_matches


def jaccard(a: ArrayLike, b: ArrayLike) -> Floats:
    """Common items over all items, ``|A & B| / |A | B|`` (Jaccard 1912).

    Arguments and span are those of `rbo`.

    Example:
        >>> jaccard([[1, 2, 3]], [[1, 2, 4]]).tolist()
        [0.5]
    """
    return by_chunk(a, b, _jaccard)


def _jaccard(chunk: Chunk) -> Floats:
    common: Integers = new_matches(chunk).sum(axis=0, dtype=np.int64)
    return common / (chunk.a_length + chunk.b_length - common)


SIMILARITY = jaccard
METRIC = True
