"""Serendipity: hits that a list of the most popular items would miss.

Source:
    The text and the code of https://arxiv.org/abs/2411.00331. Its Equations 6 and 13 leave the hit
    out; they define `unexpectedness`.
"""

from collections.abc import Collection, Sequence


def serendipity(
    items: Sequence[str], popular: Collection[str], relevant: Collection[str]
) -> float | None:
    """1 if a list contains a held-out item and the most popular items do not, else 0.

    So it is at most the hit rate, and 0 for a recommender of the most popular items.

    Args:
        items: The list.
        popular: The list of the most popular items, chosen from the same offer.
        relevant: The held-out items.

    Returns:
        0 or 1; None if nothing was held out.
    """
    if not relevant:
        return None
    wanted = set(relevant)
    return float(not wanted.isdisjoint(items) and wanted.isdisjoint(popular))


def unexpectedness(items: Sequence[str], popular: Collection[str], places: int) -> float:
    """The share of places with an item that is not among the most popular: Equation 6 as printed.

    Args:
        items: The list.
        popular: The list of the most popular items, chosen from the same offer.
        places: K, at least 1; missing items count as expected.

    Returns:
        In [0, 1].
    """
    return len(set(items[:places]) - set(popular)) / places
