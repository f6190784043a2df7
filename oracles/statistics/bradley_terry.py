"""Strengths of more than two recommenders from pairwise comparisons."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pytest_recsys_mt.oracles.arrays import Floats
from pytest_recsys_mt.safety.errors import OracleError

STEPS = 100
"""Most steps of Newton's method; it takes about seven."""

CLOSE = 1e-10
"""Largest gradient for one comparison at which it ends."""

__all__ = ["bradley_terry", "placed_bradley_terry"]


def bradley_terry(
    wins: ArrayLike,
    *,
    prior: float = 0.0,
    names: Sequence[str] | None = None,
) -> Floats:
    """The maximum likelihood strengths of the players.

    Player i beats player j with probability ``1 / (1 + exp(s_j - s_i))`` (Bradley and
    Terry 1952, Biometrika 39, 324-345). A tie counts as half a win for both. At these
    strengths every player's expected wins equal its wins. Exchanging wins and losses
    reverses the signs.

    Example:
        >>> bradley_terry([[0, 8], [2, 0]]).round(3).tolist()  # 8 of 10 comparisons won
        [0.693, -0.693]

    Args:
        wins: How often the player of the row beat the player of the column, ties as
            halves, ``(m, m)``; the diagonal does not count.
        prior: Number of ties added to each pair that met. Without them, a player that
            never lost has no finite strength.
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
    first: ArrayLike,
    second: ArrayLike,
    *,
    prior: float = 0.0,
    names: Sequence[str] | None = None,
) -> tuple[Floats, float]:
    """The strengths of the players, and the advantage of the one shown first.

    Player i, shown first, beats player j with probability ``1 / (1 + exp(s_j - s_i -
    p))`` (Davidson and Beaver 1977, Biometrics 33, 693-702). Without the term p, a
    judge that likes the first place makes all strengths smaller than they are, even if
    each pair is shown in both orders.

    Example:
        >>> strengths, advantage = placed_bradley_terry([[0, 9], [4, 0]], [[0, 6], [1, 0]])
        >>> strengths.round(2).tolist(), round(float(advantage), 2)
        ([0.65, -0.65], 0.9)

    Args:
        first: How often the player of the row, shown first, beat the player of the
            column, ties as halves, ``(m, m)``.
        second: How often the player of the row, shown second, beat the player of the
            column.
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
            f"{other.shape}",
        )
    both = won + other
    met = (both + both.T) > 0
    won = won + prior / 4 * met
    other = other + prior / 4 * met
    _connected(won + other, names)
    if not (won.any() and other.any()):
        place = "second" if other.any() else "first"
        raise OracleError(
            f"placed_bradley_terry: no finite advantage of a place, because the {place} one always "
            f"won; pass prior=1 to add a tie to each pair that met",
        )
    found = most_likely(won, other, place=True)
    return found[:-1], float(found[-1])


def most_likely(first: Floats, second: Floats, *, place: bool) -> Floats:
    """The strengths with mean 0, then the advantage of the first place, ``(..., m +
    1)``; for many tables at once.

    `first` and `second` are those of `placed_bradley_terry`, with its prior, ``(..., m,
    m)``. Without a `place`, the advantage is 0.
    """
    lost = np.swapaxes(second, -1, -2)  # by the one shown first
    met = first + lost
    many = first.shape[:-2]
    players = first.shape[-1]
    scale = np.maximum(1.0, met.sum(axis=(-1, -2)))[..., None]
    found = np.zeros((*many, players + 1))

    def loss(at: Floats) -> Floats:
        """The negative log-likelihood of each table."""
        log_odds = _log_odds(at)
        terms = first * np.logaddexp(0.0, -log_odds) + lost * np.logaddexp(
            0.0,
            log_odds,
        )
        total: Floats = terms.sum(axis=(-1, -2))
        return total

    for _ in range(STEPS):
        chance = 0.5 * (1 + np.tanh(_log_odds(found) / 2))
        unexplained = first - met * chance
        of_strengths = unexplained.sum(-1) - unexplained.sum(-2)
        of_place = place * unexplained.sum(axis=(-1, -2))[..., None]
        slope = np.concatenate([of_strengths, of_place], -1)
        if (np.abs(slope) <= CLOSE * scale).all():
            return found
        curve = _curvature(met * chance * (1 - chance), place=place)
        try:
            step = np.linalg.solve(curve, slope[..., None])[..., 0]
        except np.linalg.LinAlgError:
            break
        size = _step_size(loss, found, step)
        found = found + size[..., None] * step
        found[..., :-1] -= found[..., :-1].mean(-1, keepdims=True)
    raise OracleError(
        "bradley_terry: these comparisons determine no finite strengths; compare more, or pass prior=1 "
        "to add a tie to each pair that met",
    )


def _log_odds(found: Floats) -> Floats:
    """The log odds that the player of the row, shown first,
    beats that of the column, ``(..., m, m)``.
    """
    strengths = found[..., :-1]
    advantage = found[..., -1]
    apart = strengths[..., :, None] - strengths[..., None, :]
    log_odds: Floats = apart + advantage[..., None, None]
    return log_odds


def _curvature(weight: Floats, *, place: bool) -> Floats:
    """The second derivatives of the loss, ``(..., m + 1, m + 1)``,
    from those of each pair, ``(..., m, m)``.
    """
    many = weight.shape[:-2]
    players = weight.shape[-1]
    curve = np.zeros((*many, players + 1, players + 1))
    both = weight + np.swapaxes(weight, -1, -2)
    curve[..., :-1, :-1] = -both + 1.0  # the ones keep the mean at 0
    diagonal = np.arange(players)
    curve[..., diagonal, diagonal] += both.sum(-1)
    cross = place * (weight.sum(-1) - weight.sum(-2))
    curve[..., :-1, -1] = cross
    curve[..., -1, :-1] = cross
    curve[..., -1, -1] = weight.sum(axis=(-1, -2)) if place else 1.0
    return curve


def _step_size(
    loss: Callable[[Floats], Floats],
    found: Floats,
    step: NDArray[np.floating],
) -> Floats:
    """The part of Newton's step of each table that does not increase its loss: 1, or a
    half as often as it takes.
    """
    before = loss(found)
    size = np.ones(found.shape[:-1])
    while True:
        is_worse = loss(found + size[..., None] * step) > before + 1e-9
        too_long = is_worse & (size > 1e-6)
        if not too_long.any():
            return size
        # Those that are too small already are halved too, as long as any table goes on.
        size = np.where(is_worse, size / 2, size)


def _table(oracle: str, name: str, given: ArrayLike, prior: float) -> Floats:
    """A copy of the table, checked, with an empty diagonal."""
    table = np.array(given, np.float64)
    if table.ndim != 2 or table.shape[0] != table.shape[1] or len(table) < 2:
        raise OracleError(
            f"{oracle}: {name} must be a square table of at least two players, got an array of shape "
            f"{table.shape}",
        )
    np.fill_diagonal(table, 0.0)
    are_counts = np.isfinite(table).all() and (table >= 0).all()
    if not are_counts or not 0 <= prior < np.inf:
        raise OracleError(
            f"{oracle}: {name} and prior must be at least 0, got prior={prior!r}",
        )
    return table


def _connected(table: Floats, names: Sequence[str] | None) -> None:
    """Check that each player beat each other one, if only over others."""
    from scipy.sparse.csgraph import connected_components

    count, group_of = connected_components(
        table > 0,
        directed=True,
        connection="strong",
    )
    if count < 2:
        return
    names = names or [str(number) for number in range(len(table))]
    groups: list[list[str]] = [[] for _ in range(count)]
    for name, group in zip(names, group_of, strict=True):
        groups[group].append(name)
    in_words = "; ".join(", ".join(group) for group in groups)
    raise OracleError(
        f"bradley_terry: no finite strengths, because one of the groups [{in_words}] never lost to "
        f"another, or they never met; compare more, or pass prior=1 to add a tie to each pair that met",
    )
