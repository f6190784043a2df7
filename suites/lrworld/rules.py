"""Association rules between two items, by a sparse product with a threshold (Agrawal,
Imielinski and Swami, SIGMOD 1993).
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pytest_recsys_mt.suites.lrworld.histories import Floats, Histories

Indices = NDArray[np.int32]

BLOCK = 256
"""Antecedents whose co-occurrences are counted at a time."""


@dataclass(frozen=True, eq=False)
class Rules:
    """Rules as arrays of shape (rules,), sorted by antecedent, then consequent."""

    antecedent: Indices  # item columns, as of the consequent
    consequent: Indices
    together: Indices  # number of histories that contain both
    confidence: Floats  # their share of the histories with the antecedent
    users: int  # number of histories

    def __len__(self) -> int:
        return len(self.antecedent)


def mine(histories: Histories, support: float, confidence: float) -> Rules:
    """All rules between two items with at least this support and confidence, both above
    0 and up to 1.

    The support is the share of the histories that contain both items, the confidence
    that among those with the antecedent. Frequent items are counted against each other
    a block at a time, each pair once, so memory grows with the number of rules found.
    """
    # Avoid rounding errors in the threshold: 0.07 * 100 is a little more than 7.
    least = max(1, math.ceil(support * histories.users * (1 - 1e-12)))
    frequent: Indices = np.flatnonzero(histories.popularity >= least).astype(np.int32)
    pairs = zip(*_pairs(histories, frequent, least), strict=True)
    one, other, together = (np.concatenate(parts) for parts in pairs)
    antecedent, consequent = np.concatenate([one, other]), np.concatenate([other, one])
    together = np.concatenate([together, together])
    confidences = together / histories.popularity[antecedent]
    kept = np.flatnonzero(confidences >= confidence * (1 - 1e-12))
    kept = kept[np.lexsort((consequent[kept], antecedent[kept]))]
    return Rules(
        antecedent[kept],
        consequent[kept],
        together[kept],
        confidences[kept],
        histories.users,
    )


def _pairs(
    histories: Histories,
    frequent: Indices,
    least: int,
) -> Iterator[tuple[Indices, Indices, Indices]]:
    by_user = histories.by_user[:, frequent].tocsr()
    by_item = by_user.T.tocsr()
    for start in range(0, max(1, len(frequent)), BLOCK):
        counts = by_item[start : start + BLOCK] @ by_user[:, start:]
        often = np.flatnonzero(counts.data >= least)
        rows = np.searchsorted(counts.indptr, often, side="right") - 1
        columns = counts.indices[often]
        once = columns > rows
        yield (
            frequent[start + rows[once]],
            frequent[start + columns[once]],
            counts.data[often[once]],
        )
