"""Short lists: answers with fewer items than were asked for.

`complete_list` promises that there are none; this score counts them.
"""

from collections.abc import Sequence

from pytest_recsys_mt.oracles import arguments
from pytest_recsys_mt.oracles.scores.makers import of_format

__all__ = ["short_list"]


def short_list(items: Sequence[str], demanded: int) -> bool:
    """Whether a list has fewer different items than demanded.

    Example:
        >>> short_list(["a", "b", "b"], demanded=3)
        True

    Args:
        items: The list.
        demanded: How many were asked for, or the number of offered items if that is
            smaller.
    """
    arguments.whole("short_list", "demanded", demanded, 0)
    return len(set(items)) < demanded


SCORES_AT = {
    "short_lists": of_format(
        lambda answer, asked, context, demanded: short_list(answer.items, demanded),
    ),
}
