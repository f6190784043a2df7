"""Overlap item coverage (OIC): how similar the lists of different users are.

Source:
    Equation 19 of https://arxiv.org/abs/2411.00331, over unordered pairs. Items that
    were not offered are removed from the lists first, so OIC stays within [0, 1]; the
    paper's code does not do that.
"""

from collections.abc import Collection, Sequence

import numpy as np

from pytest_recsys_mt.oracles import arguments
from pytest_recsys_mt.oracles.aggregates.aggregate import of_exposure
from pytest_recsys_mt.oracles.aggregates.exposure import Exposure
from pytest_recsys_mt.oracles.arrays import Floats, quotients

_CELLS = 4_000_000  # pairs of users in memory at a time


def oic(
    recommended: Sequence[Collection[str]],
    offered: Sequence[Collection[str]],
) -> float | None:
    """Mean of ``|R_u n R_v| / |C_u n C_v|`` over all pairs of users with an offer in
    common.

    Arguments are those of `item_coverage`.

    Example:
        >>> round(oic(recommended=[["a"], ["a", "b"]], offered=[["a", "b", "c"], ["a", "b", "d"]]), 2)
        0.5

    Returns:
        From 0 (no item offered to two users is recommended to both) to 1; None if no
        two users have an offered item in common.
    """
    arguments.as_many("oic", recommended, offered)
    offers = [set(offer) for offer in offered]
    lists = [set(mine) & offer for mine, offer in zip(recommended, offers, strict=True)]
    shares = [
        len(lists[u] & lists[v]) / len(both)
        for u in range(len(lists))
        for v in range(u)
        if (both := offers[u] & offers[v])
    ]
    return sum(shares) / len(shares) if shares else None


def _of(exposure: Exposure) -> float | None:
    shares, pairs = _by_user(exposure)
    return float(shares.sum() / pairs.sum()) if pairs.any() else None


def _without_each(exposure: Exposure) -> Floats:
    shares, pairs = _by_user(exposure)
    # Every pair is counted for both of its users, so half of each sum is the sum over
    # all pairs.
    return quotients(shares.sum() / 2 - shares, pairs.sum() / 2 - pairs)


def _by_user(exposure: Exposure) -> tuple[Floats, Floats]:
    users = len(exposure.all_but)
    shares, pairs = np.zeros(users), np.zeros(users)
    step = max(1, _CELLS // max(1, users))
    for start in range(0, users, step):
        rows = slice(start, min(start + step, users))
        recommended, offered = exposure.in_both(rows)
        within = np.arange(rows.start, rows.stop)
        offered[within - rows.start, within] = 0  # users are not paired with themselves
        ratio = np.divide(
            recommended,
            offered,
            out=np.zeros_like(offered),
            where=offered > 0,
        )
        shares[rows], pairs[rows] = ratio.sum(axis=1), (offered > 0).sum(axis=1)
    return shares, pairs


AGGREGATES = {
    "oic": of_exposure(
        _of,
        _without_each,
        "if no two users are offered an item in common",
    ),
}
