"""Average recommendation popularity (ARP).

Source:
    Equation 14 of https://arxiv.org/abs/2411.00331 (Yin et al. 2012, PVLDB 5(9)).
"""

from collections.abc import Sequence

from pytest_recsys_mt.oracles import arguments
from pytest_recsys_mt.oracles.scores.makers import known_items, listed
from pytest_recsys_mt.oracles.scores.popularity_scores import Scored
from pytest_recsys_mt.verdict.answers import Asked, Context


def arp(counts: Sequence[int | None]) -> float | None:
    """Mean number of training interactions of the items of a list.

    Example:
        >>> arp([300, 100, None])
        200.0

    Args:
        counts: Number for each item, at least 0; None for an item outside the
            catalogue, which is left out. The paper's code counts it as 0, so inventing
            items looks like recommending rare ones.

    Returns:
        At least 0; None if no item is known.
    """
    known = arguments.flat(
        "arp",
        "counts",
        [count for count in counts if count is not None],
        0,
    )
    return float(known.mean()) if len(known) else None


def _arp(items: Sequence[str], asked: Asked, context: Context, depth: int) -> Scored:
    known = known_items(items, context)
    return arp([context.popularity.get(item, 0) for item in known]), len(items) - len(
        known,
    )


def _arp_paper(
    items: Sequence[str],
    asked: Asked,
    context: Context,
    depth: int,
) -> Scored:
    return sum(context.popularity.get(item, 0) for item in items) / depth, 0


def _counts(context: Context) -> tuple[float, float]:
    return 0.0, float(max(context.popularity.values(), default=0))


SCORES_AT = {"arp": listed(_arp, _counts), "arp_paper": listed(_arp_paper, _counts)}
"""``arp_paper`` counts 0 for items outside the catalogue."""
