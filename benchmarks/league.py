"""How often a league's intervals cover the true strengths, and what an adaptive choice
of pairs saves.

    python -m benchmarks.league [--runs 200] [--users 100] [--gaps 0.25 0.5 1 2]

Coverage: four systems, their true strengths half a logit apart, are compared by a judge
that likes the list shown first by one logit. Intervals of 95 % come from a bootstrap
over users, with and without a term for the place.

Order: eight systems of equal gaps are put in order from all pairs, and from pairs
chosen one after another. How often is the whole order right, after how many calls?
"""

import argparse
from itertools import combinations

import numpy as np

from pytest_recsys_mt.oracles.arrays import Floats
from pytest_recsys_mt.oracles.statistics.bradley_terry import most_likely
from pytest_recsys_mt.suites.arena.pairing import order_of

DRAWS = 499
PRIOR = 1.0


def judged(
    strength: Floats,
    place: float,
    users: int,
    rng: np.random.Generator,
) -> Floats:
    """All pairs of all users in both orders, ``(users, 2, m, m)``, as
    `arena.standings.Table.users`.
    """
    players = len(strength)
    out = np.zeros((users, 2, players, players))
    for one, other in combinations(range(players), 2):
        for first, second in ((one, other), (other, one)):
            chance = 1 / (1 + np.exp(-(strength[first] - strength[second] + place)))
            won = rng.random(users) < chance
            out[:, 0, first, second] += won
            out[:, 1, second, first] += ~won
    return out


def covered(
    strength: Floats,
    bias: float,
    users: int,
    seed: int,
    *,
    place: bool,
) -> Floats:
    """Which of the true strengths lie in their intervals."""
    rng = np.random.default_rng(seed)
    wins = judged(strength, bias, users, rng)
    times = rng.multinomial(users, np.full(users, 1 / users), size=DRAWS)
    tables = np.tensordot(times, wins, axes=1)
    tables += PRIOR / 4 * (1 - np.eye(len(strength)))
    drawn = most_likely(tables[:, 0], tables[:, 1], place=place)[:, :-1]
    low, high = np.quantile(drawn, [0.025, 0.975], axis=0)
    inside: Floats = ((low <= strength) & (strength <= high)).astype(float)
    return inside


def by_pairs(
    strength: Floats,
    users: int,
    seed: int,
    *,
    adaptive: bool,
) -> tuple[bool, int]:
    """Whether the order of all systems is right, and how many calls it took."""
    rng = np.random.default_rng(seed)
    wins = judged(strength, 0.0, users, rng)
    players = len(strength)
    every = users * players * (players - 1)
    if not adaptive:
        first, second = wins.sum(axis=0) + PRIOR / 4 * (1 - np.eye(players))
        found = np.argsort(-most_likely(first, second, place=True)[:-1])
        return bool((found == np.argsort(-strength)).all()), every

    def ask(one: int, other: int, start: int, end: int) -> tuple[Floats, Floats]:
        own = wins[start:end].sum(axis=0)
        mask = np.zeros((players, players))
        mask[one, other] = mask[other, one] = 1
        return own[0] * mask, own[1] * mask

    order, calls = order_of(players, users, ask, most=every // 2)
    return order == [int(at) for at in np.argsort(-strength)], calls


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--users", type=int, default=100)
    parser.add_argument("--gaps", type=float, nargs="*", default=[0.25, 0.5, 1.0, 2.0])
    given = parser.parse_args()
    strength = np.array([0.75, 0.25, -0.25, -0.75])
    for bias in (0.0, 1.0):
        for place in (False, True):
            inside = [
                covered(strength, bias, given.users, seed, place=place)
                for seed in range(given.runs)
            ]
            told = "with" if place else "without"
            print(
                f"bias {bias:g}, {told} the term: coverage {np.mean(inside):.3f}",
                flush=True,
            )
    rng = np.random.default_rng(0)
    for gap in given.gaps:
        strength = gap * (rng.permutation(8) - 3.5)
        for adaptive in (False, True):
            runs = [
                by_pairs(strength, given.users, seed, adaptive=adaptive)
                for seed in range(given.runs)
            ]
            right, calls = (np.mean(each) for each in zip(*runs, strict=True))
            told = "adaptive" if adaptive else "all pairs"
            print(
                f"gap {gap:g}, {told}: right {right:.3f}, calls {calls:,.0f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
