"""Self-information: how surprising it is that a user knows the recommended items.

Source:
    Equation 12 of https://arxiv.org/abs/2411.00331 (Zhou et al. 2010, PNAS 107(10)).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal

from pytest_recsys_mt.errors import OracleError

Unseen = Literal["drop", "cap", "paper"]
"""What becomes of items that no user has: left out (``drop``), taken as had by half a user (``cap``),
or counted as 0, the value of an item that everybody has (``paper``, as its code has it)."""


def self_information(
    counts: Sequence[int], users: int, *, unseen: Unseen = "drop", places: int | None = None
) -> float | None:
    """Mean of ``log2(users / count)`` over the items of a list, in bits.

    Args:
        counts: How many users have each recommended item, ``(n,)``.
        users: How many there are, at least the largest count.
        unseen: How to treat items that nobody has.
        places: What ``paper`` divides by instead of the number of items; its K.

    Returns:
        From 0 (everybody has them) to ``log2(users)``, one more with ``cap``; None where no item is
        left.

    Raises:
        OracleError: If an argument is invalid.
    """
    if unseen not in ("drop", "cap", "paper"):
        raise OracleError(f"self_information: unseen is 'drop', 'cap' or 'paper', got {unseen!r}")
    if users < 1 or any(not 0 <= count <= users for count in counts):
        raise OracleError(
            f"self_information: of {users} users so many have an item: {list(counts)!r}; counts lie "
            f"between 0 and the number of users"
        )
    known = [count for count in counts if count > 0]
    bits = math.fsum(math.log2(users / count) for count in known)
    if unseen == "paper":
        divisor = len(counts) if places is None else places
    elif unseen == "cap":
        bits += (len(counts) - len(known)) * math.log2(2 * users)
        divisor = len(counts)
    else:
        divisor = len(known)
    return bits / divisor if divisor else None
