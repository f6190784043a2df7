"""The order of rows by several keys, faster than by sorting their columns."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt


def row_order(*keys: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Positions of the rows in the order of the keys, the first key counting most; no
    two rows are equal.

    The rows of a dataset made from another are sorted already; to check that takes a
    tenth of the time of sorting. To sort one number a row takes a fifth of the time of
    sorting by three.
    """
    if _are_sorted(keys):
        return np.arange(len(keys[0]))
    lows = [int(key.min()) for key in keys]
    sizes = [int(key.max()) - low + 1 for key, low in zip(keys, lows, strict=True)]
    fitting = _keys_of_one_number(sizes)
    joined = np.zeros(len(keys[0]), dtype=np.int64)
    for place in range(fitting):
        joined = joined * sizes[place] + (keys[place] - lows[place])
    order = np.argsort(joined)
    if fitting == len(keys):
        return order
    # The other keys decide among the rows that are equal so far.
    same_as_next = joined[order[1:]] == joined[order[:-1]]
    is_tied = np.append(same_as_next, False) | np.append(False, same_as_next)
    tied_places = np.flatnonzero(is_tied)
    tied_rows = order[tied_places]
    other_keys = [key[tied_rows] for key in keys[fitting:]]
    other_keys.reverse()  # `lexsort` takes the key that counts most last
    order[tied_places] = tied_rows[np.lexsort((*other_keys, joined[tied_rows]))]
    return order


def _are_sorted(keys: Sequence[npt.NDArray[np.int64]]) -> bool:
    """Whether each row is greater than the one before it."""
    is_greater = np.zeros(len(keys[0]) - 1, dtype=np.bool_)
    for key in reversed(keys):
        before = key[:-1]
        after = key[1:]
        is_greater = (before < after) | ((before == after) & is_greater)
    return bool(is_greater.all())


def _keys_of_one_number(sizes: Sequence[int]) -> int:
    """The most leading keys of so many values each that fit one number of 64 bits."""
    fitting = len(sizes)
    while math.prod(sizes[:fitting]) > 2**63:
        fitting -= 1
    return fitting
