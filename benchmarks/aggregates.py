"""How often the bounds of an aggregate miss the number of as many other users.

    python benchmarks/aggregates.py [RUNS]

Users are drawn with a history, twenty candidates of 120 items and one of them held out; a ranker
that likes popular items, and knows the held-out one a little, recommends five. In the second world it
knows it better for users with a long history. Each of the two bounds may miss in 0.05 of the runs.
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import sys

import numpy as np

from pytest_recsys_mt.answers import Asked, Context, Sample
from pytest_recsys_mt.oracles import AGGREGATES
from pytest_recsys_mt.oracles.aggregate_effects import aggregate_value
from pytest_recsys_mt.requests import Item, Rating, Recommendation, Request, Scale

ALPHA = 0.05
USERS = (40, 100, 300)
ITEMS = tuple(Item(f"i{number:03}") for number in range(120))
POPULARITY = {item.id: 2000 // (rank + 1) for rank, item in enumerate(ITEMS)}
CONTEXT = Context(items={item.id: item for item in ITEMS}, popularity=POPULARITY, users=2000)
SEEN = tuple(Rating(Item(f"h{number}"), 5) for number in range(60))
LONG = 10


def draw(users: int, rng: np.random.Generator, long_history_helps: float) -> tuple[Asked, ...]:
    """The answers to so many users."""
    appeal = np.log(np.array(list(POPULARITY.values()), np.float64))
    wanted = np.exp(appeal / 2) / np.exp(appeal / 2).sum()
    asked = []
    for user in range(users):
        target = int(rng.choice(len(ITEMS), p=wanted))
        others = rng.permutation(len(ITEMS))
        offered = np.array([target, *others[others != target][:19]])
        history = min(1 + int(rng.exponential(15)), len(SEEN))
        utility = appeal[offered] / 2 + rng.gumbel(size=len(offered))
        utility[0] += 1 + long_history_helps * (history > LONG)
        best = [ITEMS[place].id for place in offered[np.argsort(-utility)[:5]]]
        candidates = tuple(ITEMS[place] for place in offered)
        request = Request(f"u{user}", SEEN[:history], Scale(), candidates, 5)
        asked.append(Asked(request, (Recommendation(tuple(best)),), frozenset({ITEMS[target].id})))
    return tuple(asked)


def main(runs: int) -> None:
    """Print the share of runs in which each bound misses."""
    print(f"{runs} runs each; the number of as many users, and the bounds that miss it\n")
    print(f"{'world':<16}{'users':>6}  {'aggregate':<16}{'number':>8}{'lower':>8}{'upper':>8}")
    for world, helps in (("even", 0.0), ("long is better", 2.0)):
        for users in USERS:
            rng = np.random.default_rng(users)
            populations = [draw(users, rng, helps) for _ in range(runs)]
            for kind, make in AGGREGATES.items():
                means = [aggregate_value(Sample(p), CONTEXT, make(kind)).mean for p in populations]
                known = [mean for mean in means if mean is not None]
                truth = float(np.mean([mean.estimate for mean in known]))
                lower = np.mean([mean.lower(ALPHA) > truth for mean in known])
                upper = np.mean([mean.upper(ALPHA) < truth for mean in known])
                print(f"{world:<16}{users:>6}  {kind:<16}{truth:>8.3f}{lower:>8.3f}{upper:>8.3f}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 400)
