"""What stopping early saves and what it costs: users asked, and the error rates that remain.

    python benchmarks/looks.py [RUNS]

Users' effects are drawn, everything else is what a verdict does: the same looks, bounds and
decisions. The rule to compare with looks once, at all users, with the same error rate a claim.
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import math
import sys
import time
from collections import Counter
from collections.abc import Callable, Mapping

import numpy as np

from pytest_recsys_mt.oracles.bounds import mean_of
from pytest_recsys_mt.oracles.judge import Claim, decide, users_needed
from pytest_recsys_mt.oracles.kernel import Floats
from pytest_recsys_mt.oracles.looks import Look, Looks, Repeated
from pytest_recsys_mt.verdict import Status

ALPHA = 0.05
MARGIN = 0.05
SPREAD = 0.12
REACH = 1.0
CLAIM = Claim("same_ranking", "at most", MARGIN)

Draw = Callable[[np.random.Generator, int], Floats]

AT_THE_MARGIN: Mapping[str, Draw] = {
    "normal": lambda rng, users: rng.normal(MARGIN, SPREAD, users),
    "skewed to the right": lambda rng, users: rng.beta(0.5, 4.5, users) - 0.1 + MARGIN,
    "skewed to the left": lambda rng, users: 0.1 + MARGIN - rng.beta(0.5, 4.5, users),
    "10 % of users react by 0.5": lambda rng, users: reacting(rng, users, 0.1, 0.5),
    "5 % of users react by 1": lambda rng, users: reacting(rng, users, 0.05, 1.0),
}


def reacting(rng: np.random.Generator, users: int, share: float, size: float) -> Floats:
    """Effects of a recommender that few users make react, with some noise on all."""
    return rng.normal(0, 0.06, users) + size * (rng.random(users) < share)


def verdict(effects: Floats, looks: Looks) -> tuple[Status, int]:
    """The status that the looks lead to, and the users asked for it."""
    look = next(iter(looks))
    for look in looks:
        status = status_at(look, effects)
        if status != "inconclusive":
            return status, look.users
    return "inconclusive", look.users


def status_at(look: Look, effects: Floats) -> Status:
    """What the users of one look say."""
    seen = mean_of(effects[: look.users], -REACH, REACH, exact=False)
    status = decide(Repeated(seen, look, ALPHA), CLAIM, ALPHA)
    needed = users_needed(status, CLAIM, seen.estimate, REACH, ALPHA)
    return status if look.users >= needed else "inconclusive"


def simulate(draw: Draw, users: int, runs: int, *, single: bool) -> tuple[Counter[Status], Floats]:
    """How often each status comes out, and the users asked in each run, ``(runs,)``."""
    rng, looks = np.random.default_rng(users), Looks(users, single=single)
    results = [verdict(draw(rng, users), looks) for _ in range(runs)]
    return Counter(status for status, _ in results), np.array([asked for _, asked in results])


def savings(runs: int) -> None:
    """Users asked at effects of 0, 1, 2 and 4 margins."""
    print(
        f"Users asked: margin {MARGIN}, sd {SPREAD}, alpha {ALPHA} a claim, {runs} runs each\n\n"
        "| users | effect | holds | violated | the same in one look | users asked, mean "
        "(median) | saved |\n|---|---|---|---|---|---|---|"
    )
    for users in (100, 200):
        for times in (0, 1, 2, 4):

            def draw(rng: np.random.Generator, count: int, times: int = times) -> Floats:
                return rng.normal(times * MARGIN, SPREAD, count)

            found, asked = simulate(draw, users, runs, single=False)
            once, _ = simulate(draw, users, runs, single=True)
            print(
                f"| {users} | {times} margin{'s' if times - 1 else ''} | {share(found, 'holds', runs)} "
                f"| {share(found, 'violated', runs)} "
                f"| {share(once, 'holds', runs)} / {share(once, 'violated', runs)} "
                f"| {asked.mean():.0f} ({np.median(asked):.0f}) "
                f"| {1 - asked.mean() / users:.0%} |"
            )


def errors(runs: int) -> None:
    """Error rates of both claims at an effect of exactly the margin."""
    print(
        f"\nErrors at exactly the margin, {runs} runs each, standard error "
        f"{math.sqrt(ALPHA * (1 - ALPHA) / runs):.2%} (in brackets: one look)\n\n"
        "| effects | users | looks | violated | holds |\n|---|---|---|---|---|"
    )
    for name, draw in AT_THE_MARGIN.items():
        for users in (100, 60, 30):
            found, _ = simulate(draw, users, runs, single=False)
            once, _ = simulate(draw, users, runs, single=True)
            cells = " | ".join(
                f"{share(found, status, runs)} ({share(once, status, runs)})"
                for status in ("violated", "holds")
            )
            print(f"| {name} | {users} | {len(Looks(users).sizes)} | {cells} |")


def share(counts: Counter[Status], status: Status, runs: int) -> str:
    return f"{counts[status] / runs:.1%}"


if __name__ == "__main__":
    repeats = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    start = time.perf_counter()
    savings(repeats)
    errors(repeats)
    print(f"\n{time.perf_counter() - start:.0f} s")
