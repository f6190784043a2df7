"""Names for the types of arrays that oracles work on, and a division of such arrays."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Lists = NDArray[np.int32]
"""Lists of numbered items, best first, of each user, ``(n, k)``, or of each user and
replicate, ``(n, replicates, k)``.
"""

PAD = -1
"""Fills the places after the end of a list. Every negative number counts as padding."""


def quotients(over: Floats | Integers, under: Floats | Integers) -> Floats:
    """`over` / `under`, both ``(n,)``; NaN where nothing is above 0 to divide by."""
    out = np.full(len(under), np.nan)
    np.divide(over, under, out=out, where=under > 0)
    return out
