"""Strengths of more than two recommenders from pairwise comparisons."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike

from pytest_recsys_mt.errors import OracleError
from pytest_recsys_mt.oracles.arrays import Floats


def bradley_terry(
    wins: ArrayLike, *, prior: float = 0.0, names: Sequence[str] | None = None
) -> Floats:
    """The maximum likelihood strengths of the players.

    Player i beats player j with probability ``1 / (1 + exp(s_j - s_i))`` (Bradley and Terry 1952,
    Biometrika 39, 324-345). A tie counts as half a win for both. At these strengths every player's
    expected wins equal its wins. Exchanging wins and losses reverses the signs.

    Args:
        wins: How often the player of the row beat the player of the column, ties as halves,
            ``(m, m)``; the diagonal does not count.
        prior: Number of ties added to each pair that met. Without them, a player that never lost has
            no finite strength.
        names: Names of the players, for messages; by default their numbers.

    Returns:
        Strengths in natural logarithms of odds, with mean 0, ``(m,)``.

    Raises:
        OracleError: If an argument is invalid, or the comparisons determine no finite strengths: the
            players form groups, and one group never lost to the others (Ford 1957).
    """
    table = np.array(wins, np.float64)
    if table.ndim != 2 or table.shape[0] != table.shape[1] or len(table) < 2:
        raise OracleError(
            f"bradley_terry: wins must be a square table of at least two players, got an array of shape "
            f"{table.shape}"
        )
    np.fill_diagonal(table, 0.0)
    if not (np.isfinite(table).all() and (table >= 0).all()) or not 0 <= prior < np.inf:
        raise OracleError(f"bradley_terry: wins and prior must be at least 0, got prior={prior!r}")
    called = [str(number) for number in range(len(table))] if names is None else list(names)
    table += prior / 2 * ((table + table.T) > 0)
    _connected(table, called)
    return _most_likely(table)


def _connected(table: Floats, names: Sequence[str]) -> None:
    from scipy.sparse.csgraph import connected_components

    count, group = connected_components(table > 0, directed=True, connection="strong")
    if count > 1:
        told = "; ".join(
            ", ".join(name for name, own in zip(names, group, strict=True) if own == each)
            for each in range(count)
        )
        raise OracleError(
            f"bradley_terry: no finite strengths, because one of the groups [{told}] never lost to "
            f"another, or they never met; compare more, or pass prior=1 to add a tie to each pair that met"
        )


def _most_likely(table: Floats) -> Floats:
    from scipy.optimize import minimize
    from scipy.special import expit

    met = table + table.T
    won = table.sum(axis=1)
    scale = max(1.0, float(met.sum()))

    def loss(strength: Floats) -> float:
        apart = strength[:, None] - strength[None, :]
        return float((table * np.logaddexp(0.0, -apart)).sum()) / scale

    def slope(strength: Floats) -> Floats:
        apart = strength[:, None] - strength[None, :]
        out: Floats = ((met * expit(apart)).sum(axis=1) - won) / scale
        return out

    found: Any = minimize(
        cast("Any", loss), np.zeros(len(table)), jac=slope, method="BFGS", options={"gtol": 1e-10}
    )
    strength: Floats = found.x - found.x.mean()
    return strength
