"""Average percentage of long-tail items (APLT).

Source:
    Equations 5 and 15 of https://arxiv.org/abs/2411.00331 (Abdollahpouri, Burke and Mobasher 2019,
    https://arxiv.org/abs/1901.07555).
"""

from collections.abc import Collection, Sequence


def aplt(items: Sequence[str], tail: Collection[str], places: int) -> float:
    """The share of a list's places that hold an item of the long tail.

    Args:
        items: The list, without repeats.
        tail: The long tail of the catalogue; see `popularity_groups.long_tail`.
        places: K, at least 1; missing and unknown items do not count as long tail.

    Returns:
        In [0, 1].
    """
    return sum(item in tail for item in items[:places]) / places
