"""Kendall's tau-b on the union of two lists."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from pytest_recsys_mt.oracles.arrays import Floats, quotients
from pytest_recsys_mt.oracles.similarities.kernel import (
    Chunk,
    by_chunk,
    count_pairs,
    pairs_of,
)


def kendall(a: ArrayLike, b: ArrayLike) -> Floats:
    r"""Kendall's tau-b of pairs of lists, ranked over the union of their items.

    The missing items of a list are tied after its last place (at k + 1). With N pairs
    in the union, D discordant pairs, and T_a, T_b pairs that are tied because a or b
    lacks both items::

        tau_b = (N - T_a - T_b - 2 D) / sqrt((N - T_a) (N - T_b))

    Tau over only the common items would ignore lost items, and is undefined for fewer
    than two common items. Kendall 1945, Biometrika 33(3). The value equals
    ``scipy.stats.kendalltau`` of the union's ranks. Arguments are those of `rbo`.

    Example:
        >>> kendall([[1, 2, 3]], [[1, 3, 2]]).round(3).tolist()
        [0.333]

    Returns:
        Correlation in [-1, 1], ``(n,)``; NaN if either list is empty or the union has
        one item.
    """
    return by_chunk(a, b, _tau_b)


def kendall_similarity(a: ArrayLike, b: ArrayLike) -> Floats:
    """Tau-b as a similarity in [0, 1], ``(tau + 1) / 2``,
    ``(n,)``; 1 for two equal lists of one item.
    """
    return by_chunk(a, b, _similarity)


def _tau_b(chunk: Chunk) -> Floats:
    a_only, b_only, discordant = count_pairs(chunk)
    pairs = pairs_of(a_only + chunk.b_length)  # of the union
    # A list ties its missing items.
    untied_a, untied_b = pairs - pairs_of(b_only), pairs - pairs_of(a_only)
    difference = untied_a + untied_b - pairs - 2 * discordant
    return quotients(difference, np.sqrt(untied_a * untied_b.astype(np.float64)))


def _similarity(chunk: Chunk) -> Floats:
    tau = _tau_b(chunk)
    return np.where(np.isnan(tau), 1.0, (tau + 1) / 2)


SIMILARITY = kendall_similarity
