"""Self-information: how surprising it is that a user has the recommended items.

Source:
    Equation 12 of https://arxiv.org/abs/2411.00331 (Zhou et al. 2010, PNAS 107(10)).
"""

import math
from collections.abc import Sequence
from typing import Literal

from pytest_recsys_mt.errors import OracleError

Unseen = Literal["drop", "cap", "paper"]
"""How to treat items that no user has: leave them out (``drop``), count them as if half a user had them
(``cap``), or count 0, the value of an item that all users have (``paper``, as in the paper's code)."""


def self_information(
    counts: Sequence[int], users: int, *, unseen: Unseen = "drop", places: int | None = None
) -> float | None:
    """Mean of ``log2(users / count)`` over the items of a list, in bits.

    Args:
        counts: How many users have each recommended item, ``(n,)``.
        users: Number of users, at least the largest count.
        unseen: How to treat items that no user has.
        places: The paper's K: ``paper`` divides by it instead of by the number of items.

    Returns:
        From 0 (all users have the items) to ``log2(users)``, one more with ``cap``; None if no item
        is left.

    Raises:
        OracleError: If an argument is invalid.
    """
    if unseen not in ("drop", "cap", "paper"):
        raise OracleError(
            f"self_information: unseen must be 'drop', 'cap' or 'paper', got {unseen!r}"
        )
    if users < 1 or any(not 0 <= count <= users for count in counts):
        raise OracleError(
            f"self_information: counts must lie between 0 and the number of users, {users}, got "
            f"{list(counts)!r}"
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
