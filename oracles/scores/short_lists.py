"""Short lists: answers with fewer items than were asked for.

`complete_list` promises that there are none; this is how many there are.
"""

from __future__ import annotations

from collections.abc import Sequence


def short_list(items: Sequence[str], demanded: int) -> bool:
    """Whether a list has fewer different items than demanded.

    Args:
        items: The list.
        demanded: How many were asked for, or all that were offered where they are fewer.
    """
    return len(set(items)) < demanded
