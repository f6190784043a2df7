"""Memory-based similarity: cosines between the one-hot vectors of items, or of users.

The vector of an item has a one for every user who has it; that of a user, for every item.  Their
cosine is c / sqrt(a b) with c in common and a and b each (the paper, section 3).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from pytest_recsys_mt.lrworld.histories import Floats, Ints, Mask

CELLS = 2**24
"""Cells of a block of similarities: 192 MiB if none is 0."""


@dataclass(frozen=True, eq=False)
class Ranked:
    """How right every option is, for one target, which is not among them."""

    target: int
    options: Ints
    scores: Floats  # shape (options,), the greater the more right; equal to the bit if equal

    def top(self, rng: np.random.Generator) -> int:
        """Place among `options` of one with the greatest score."""
        return int(rng.choice(np.flatnonzero(self.scores == self.scores.max())))

    def below(self, place: int) -> Ints:
        """Places among `options` of those less right than the one at `place`."""
        return np.flatnonzero(self.scores < self.scores[place])


def similarities(matrix: csr_array[np.int32], targets: Ints, allowed: Mask) -> Iterator[Ranked]:
    """Cosines of some rows, one-hot vectors, to all allowed ones, one target at a time, in their order."""
    lengths = np.diff(matrix.indptr).astype(np.float64)
    options = np.flatnonzero(allowed)
    by_feature = matrix[options].T.tocsr()
    height = max(1, CELLS // max(1, len(options)))
    for start in range(0, len(targets), height):
        block = targets[start : start + height]
        common = matrix[block] @ by_feature
        for row, target in enumerate(block):
            scores = np.zeros(len(options))
            part = slice(common.indptr[row], common.indptr[row + 1])
            places = common.indices[part]
            # First the root of c^2 / b, then that of a: divisions round correctly, so options of
            # equal similarity have equal bits.
            scores[places] = np.sqrt(
                common.data[part].astype(np.float64) ** 2 / lengths[options[places]]
            )
            others = options != target
            yield Ranked(int(target), options[others], scores[others] / np.sqrt(lengths[target]))
