"""Average overlap: the mean of the overlaps at every depth."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from pytest_recsys_mt.oracles.arrays import Floats
from pytest_recsys_mt.oracles.similarities.kernel import Chunk, by_chunk, new_matches


def average_overlap(a: ArrayLike, b: ArrayLike) -> Floats:
    """Mean over the depths d = 1..l of the share of common items in the first d places.

    `l` is the length of the longer list. The missing places of the shorter list agree
    with nothing. Wu and Crestani 2003. Fagin, Kumar and Sivakumar 2003 call its
    complement the intersection metric. Arguments and span are those of `rbo`.

    Example:
        >>> average_overlap([[1, 2, 3]], [[1, 3, 2]]).round(3).tolist()
        [0.833]
    """
    return by_chunk(a, b, _average)


def _average(chunk: Chunk) -> Floats:
    depths = np.arange(1, len(chunk.a) + 1)[:, None]
    longer = np.maximum(chunk.a_length, chunk.b_length)
    agreement = np.cumsum(new_matches(chunk), axis=0, dtype=np.float64) / depths
    out: Floats = np.where(depths <= longer, agreement, 0.0).sum(axis=0) / longer
    return out


SIMILARITY = average_overlap
METRIC = True
