"""Short lists: answers with fewer items than were asked for.

`complete_list` promises that there are none; this score counts them.
"""

from collections.abc import Sequence


def short_list(items: Sequence[str], demanded: int) -> bool:
    """Whether a list has fewer different items than demanded.

    Args:
        items: The list.
        demanded: How many were asked for, or the number of offered items if that is smaller.
    """
    return len(set(items)) < demanded
