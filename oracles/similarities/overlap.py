"""Overlap: the share of places whose item is also in the other list."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from pytest_recsys_mt.oracles.arrays import Floats, Integers
from pytest_recsys_mt.oracles.similarities.kernel import Chunk, by_chunk, new_matches


def overlap(a: ArrayLike, b: ArrayLike) -> Floats:
    """Common items over the length of the longer list, ``|A & B| / max(|A|, |B|)``.

    For two lists of k items it is the overlap@k of the literature. A short list that is
    part of a longer one does not have overlap 1. Arguments and span are those of `rbo`.

    Example:
        >>> overlap([[1, 2, 3]], [[1, 2, 4]]).round(3).tolist()
        [0.667]
    """
    return by_chunk(a, b, _overlap)


def _overlap(chunk: Chunk) -> Floats:
    common: Integers = new_matches(chunk).sum(axis=0, dtype=np.int64)
    return common / np.maximum(chunk.a_length, chunk.b_length)


SIMILARITY = overlap
METRIC = True
