"""Average recommendation popularity (ARP).

Source:
    Equation 14 of https://arxiv.org/abs/2411.00331 (Yin et al. 2012, PVLDB 5(9)).
"""

from collections.abc import Sequence


def arp(counts: Sequence[int | None]) -> float | None:
    """Mean number of training interactions of the items of a list.

    Args:
        counts: Number for each item; None for an item outside the catalogue, which is left out. The
            paper's code counts it as 0, so inventing items looks like recommending rare ones.

    Returns:
        At least 0; None if no item is known.
    """
    known = [count for count in counts if count is not None]
    return sum(known) / len(known) if known else None
