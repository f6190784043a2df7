"""Strengths of more than two recommenders from pairwise comparisons."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse.csgraph import connected_components

from pytest_recsys_mt.errors import OracleError
from pytest_recsys_mt.oracles.arrays import Floats

STEPS = 100
"""Most steps of Newton's method; it takes about seven."""

CLOSE = 1e-10
"""Largest gradient for one comparison at which it ends."""

__all__ = ["bradley_terry", "placed_bradley_terry"]


def bradley_terry(
    wins: ArrayLike, *, prior: float = 0.0, names: Sequence[str] | None = None
) -> Floats:
    """The maximum likelihood strengths of the players.

    Player i beats player j with probability ``1 / (1 + exp(s_j - s_i))`` (Bradley and Terry 1952,
    Biometrika 39, 324-345). A tie counts as half a win for both. At these strengths every player's
    expected wins equal its wins. Exchanging wins and losses reverses the signs.

    Example:
        >>> bradley_terry([[0, 8], [2, 0]]).round(3).tolist()  # 8 of 10 comparisons won
        [0.693, -0.693]

    Args:
        wins: How often the player of the row beat the player of the column, ties as halves,
            ``(m, m)``; the diagonal does not count.
        prior: Number of ties added to each pair that met. Without them, a player that never lost has
            no finite strength.
        names: Names of the players, for messages; by default their numbers.

    Returns:
        Strengths in natural logarithms of odds, with mean 0, ``(m,)``.

    Raises:
        OracleError: If the comparisons determine no finite strengths: the
            players form groups, and one group never lost to the others (Ford 1957).
    """
    table = _table("bradley_terry", "wins", wins, prior)
    table += prior / 2 * ((table + table.T) > 0)
    _connected(table, names)
    return most_likely(table / 2, table / 2, place=False)[..., :-1]


def placed_bradley_terry(
    first: ArrayLike, second: ArrayLike, *, prior: float = 0.0, names: Sequence[str] | None = None
) -> tuple[Floats, float]:
    """The strengths of the players, and the advantage of the one shown first.

    Player i, shown first, beats player j with probability ``1 / (1 + exp(s_j - s_i - p))`` (Davidson
    and Beaver 1977, Biometrics 33, 693-702). Without the term p, a judge that likes the first place
    makes all strengths smaller than they are, even if each pair is shown in both orders.

    Example:
        >>> strengths, advantage = placed_bradley_terry([[0, 9], [4, 0]], [[0, 6], [1, 0]])
        >>> strengths.round(2).tolist(), round(float(advantage), 2)
        ([0.65, -0.65], 0.9)

    Args:
        first: How often the player of the row, shown first, beat the player of the column, ties as halves, ``(m, m)``.
        second: How often the player of the row, shown second, beat the player of the column.
        prior: Number of ties added to each pair that met, half in each order.
        names: As in `bradley_terry`.

    Returns:
        Strengths with mean 0, ``(m,)``, and p; natural logarithms of odds.

    Raises:
        OracleError: If the comparisons determine no finite numbers.
    """
    won = _table("placed_bradley_terry", "first", first, prior)
    other = _table("placed_bradley_terry", "second", second, prior)
    if won.shape != other.shape:
        raise OracleError(
            f"placed_bradley_terry: first and second must have one shape, got {won.shape} and "
            f"{other.shape}"
        )
    both = won + other
    met = (both + both.T) > 0
    won, other = won + prior / 4 * met, other + prior / 4 * met
    _connected(won + other, names)
    if not (won.any() and other.any()):
        place = "second" if other.any() else "first"
        raise OracleError(
            f"placed_bradley_terry: no finite advantage of a place, because the {place} one always "
            f"won; pass prior=1 to add a tie to each pair that met"
        )
    found = most_likely(won, other, place=True)
    return found[:-1], float(found[-1])


def most_likely(first: Floats, second: Floats, *, place: bool) -> Floats:
    """The strengths with mean 0, then the advantage of the first place, ``(..., m + 1)``; for many tables at once.

    `first` and `second` are those of `placed_bradley_terry`, with its prior, ``(..., m, m)``. Without a `place`, the
    advantage is 0.
    """
    lost = np.swapaxes(second, -1, -2)  # by the one shown first
    met = first + lost
    many, players = first.shape[:-2], first.shape[-1]
    scale = np.maximum(1.0, met.sum(axis=(-1, -2)))[..., None]
    found = np.zeros((*many, players + 1))

    def loss(at: Floats) -> Floats:
        apart = at[..., :-1, None] - at[..., None, :-1] + at[..., -1, None, None]
        terms = first * np.logaddexp(0.0, -apart) + lost * np.logaddexp(0.0, apart)
        total: Floats = terms.sum(axis=(-1, -2))
        return total

    for _ in range(STEPS):
        apart = found[..., :-1, None] - found[..., None, :-1] + found[..., -1, None, None]
        chance = 0.5 * (1 + np.tanh(apart / 2))
        left = first - met * chance
        slope = np.concatenate(
            [left.sum(-1) - left.sum(-2), place * left.sum(axis=(-1, -2))[..., None]], -1
        )
        if (np.abs(slope) <= CLOSE * scale).all():
            return found
        weight = met * chance * (1 - chance)
        curve = np.zeros((*many, players + 1, players + 1))
        both = weight + np.swapaxes(weight, -1, -2)
        curve[..., :-1, :-1] = -both + 1.0  # the ones keep the mean at 0
        at = np.arange(players)
        curve[..., at, at] += both.sum(-1)
        cross = weight.sum(-1) - weight.sum(-2)
        curve[..., :-1, -1] = curve[..., -1, :-1] = place * cross
        curve[..., -1, -1] = weight.sum(axis=(-1, -2)) if place else 1.0
        try:
            step = np.linalg.solve(curve, slope[..., None])[..., 0]
        except np.linalg.LinAlgError:
            break
        before, size = loss(found), np.ones(many)
        while (
            (worse := loss(found + size[..., None] * step) > before + 1e-9) & (size > 1e-6)
        ).any():
            size = np.where(worse, size / 2, size)
        found = found + size[..., None] * step
        found[..., :-1] -= found[..., :-1].mean(-1, keepdims=True)
    raise OracleError(
        "bradley_terry: these comparisons determine no finite strengths; compare more, or pass prior=1 "
        "to add a tie to each pair that met"
    )


def _table(oracle: str, name: str, given: ArrayLike, prior: float) -> Floats:
    table = np.array(given, np.float64)
    if table.ndim != 2 or table.shape[0] != table.shape[1] or len(table) < 2:
        raise OracleError(
            f"{oracle}: {name} must be a square table of at least two players, got an array of shape "
            f"{table.shape}"
        )
    np.fill_diagonal(table, 0.0)
    if not (np.isfinite(table).all() and (table >= 0).all()) or not 0 <= prior < np.inf:
        raise OracleError(f"{oracle}: {name} and prior must be at least 0, got prior={prior!r}")
    return table


def _connected(table: Floats, names: Sequence[str] | None) -> None:
    count, group = connected_components(table > 0, directed=True, connection="strong")
    if count > 1:
        names = names or [str(number) for number in range(len(table))]
        told = "; ".join(
            ", ".join(name for name, own in zip(names, group, strict=True) if own == each)
            for each in range(count)
        )
        raise OracleError(
            f"bradley_terry: no finite strengths, because one of the groups [{told}] never lost to "
            f"another, or they never met; compare more, or pass prior=1 to add a tie to each pair that met"
        )
