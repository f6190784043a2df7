"""Names for the types of arrays that oracles work on."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

PAD = -1
"""Fills the places after the end of a list. Every negative number counts as padding."""
