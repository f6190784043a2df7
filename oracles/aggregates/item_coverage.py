"""Item coverage: the share of offered items that are recommended to any user.

Source:
    Equation 18 of https://arxiv.org/abs/2411.00331. Its code counts all invented items
    as one more item; here, items that were not offered do not count.
"""

from collections.abc import Collection, Sequence

import numpy as np

from pytest_recsys_mt.oracles import arguments
from pytest_recsys_mt.oracles.aggregates.aggregate import of_exposure
from pytest_recsys_mt.oracles.aggregates.exposure import Exposure
from pytest_recsys_mt.oracles.arrays import Floats, quotients


def item_coverage(
    recommended: Sequence[Collection[str]],
    offered: Sequence[Collection[str]],
) -> float | None:
    """``|R_1 u R_2 u ...| / |C_1 u C_2 u ...|``, each list within its own offer.

    Example:
        >>> item_coverage(recommended=[["a"], ["a", "b"]], offered=[["a", "b", "c"], ["a", "b", "d"]])
        0.5

    Args:
        recommended: Item ids, one list per user.
        offered: The items that each user's list was chosen from.

    Returns:
        In [0, 1]; None if nothing was offered.
    """
    arguments.as_many("item_coverage", recommended, offered)
    everything = set[str]().union(*offered)
    seen = set[str]().union(
        *(
            set(mine) & set(offer)
            for mine, offer in zip(recommended, offered, strict=True)
        ),
    )
    return len(seen) / len(everything) if everything else None


def _of(exposure: Exposure) -> float | None:
    offered = np.count_nonzero(exposure.offered)
    return float(np.count_nonzero(exposure.shown) / offered) if offered else None


def _without_each(exposure: Exposure) -> Floats:
    shown = np.count_nonzero(exposure.shown) - exposure.shown_to_one
    offered = np.count_nonzero(exposure.offered) - exposure.offered_to_one
    return quotients(shown, offered)


AGGREGATES = {"item_coverage": of_exposure(_of, _without_each, "if nothing is offered")}
