"""Intra-list diversity: how different the items of one list are from each other.

Source:
    One minus the intra-list similarity of Ziegler et al. 2005, WWW, section 3.3. RecSys Arena (Wu et al.
    2024) calls it URD and does not define the similarity.
"""

import math
from collections.abc import Collection, Sequence
from itertools import combinations
from typing import Literal

from pytest_recsys_mt.errors import OracleError

Likeness = Literal["jaccard", "cosine"]
"""Likeness of two sets a and b: ``|a n b| / |a u b|``, or ``|a n b| / sqrt(|a| |b|)``."""


def intra_list_diversity(
    attributes: Sequence[Collection[str]], likeness: Likeness = "jaccard"
) -> float | None:
    """One minus the mean likeness of all pairs of items of a list.

    Args:
        attributes: Attributes of each item, such as its genres; items without any are left out.
        likeness: How to compare two sets of attributes.

    Returns:
        From 0 (all items have the same attributes) to 1 (no two items share one); None if fewer than
        two items have attributes.

    Raises:
        OracleError: If there is no such likeness.
    """
    if likeness not in ("jaccard", "cosine"):
        raise OracleError(
            f"intra_list_diversity: likeness must be 'jaccard' or 'cosine', got {likeness!r}"
        )
    sets = [set(one) for one in attributes if one]
    alike = [
        len(a & b) / (len(a | b) if likeness == "jaccard" else math.sqrt(len(a) * len(b)))
        for a, b in combinations(sets, 2)
    ]
    return 1 - math.fsum(alike) / len(alike) if alike else None
