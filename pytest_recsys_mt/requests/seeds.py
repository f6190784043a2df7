"""Seeds that depend only on their purpose."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from numpy.random import Generator


def generator(*parts: str | int) -> Generator:
    """A generator seeded only by `parts`: never by order, worker, process or the clock."""
    import numpy as np

    digest = hashlib.sha256(json.dumps(parts).encode()).digest()
    return np.random.default_rng(int.from_bytes(digest[:16], "big"))
