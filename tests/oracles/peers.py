"""Lists for the comparison with `ranx` and LensKit, and the numbers that these two give
for them.

`peers.json` holds the numbers, since neither package belongs to the tests' environment
(LensKit asks for pandas 2 and torch). To make it anew, from the root of the repository,
in one of its own::

    python -m venv peers && peers/bin/pip install ranx==0.3.21 lenskit==2025.8.1
    PYTHONPATH=. peers/bin/python -m tests.oracles.peers > tests/oracles/peers.json

It imports nothing of ours, so that the numbers are theirs alone.
"""

import json
import random
import sys
import warnings
from dataclasses import dataclass
from functools import partial
from importlib import import_module

import numpy as np

DEPTHS = (1, 3, 5, 10)
ITEMS = tuple(f"i{number:02}" for number in range(20))
EXPOSURES = ((1, 2, 3, 4), (0, 0, 0, 1), (5, 1, 1, 1, 1), (7,), (0, 0, 2, 2, 9, 1))


@dataclass(frozen=True)
class Listed:
    """One user's list and what was held out; some lists are short, some miss."""

    items: tuple[str, ...]
    relevant: tuple[str, ...]


def lists() -> list[Listed]:
    """Thirty users: lists of 1 to 10 of twenty items,
    popular ones first, one to four held out.
    """
    rng = random.Random(20)
    found = []
    for user in range(30):
        by_appeal = sorted(ITEMS, key=lambda item: int(item[1:]) + 8 * rng.random())
        length = 10 if user % 3 else rng.randint(1, 9)
        relevant = rng.sample(ITEMS, 1 if user % 2 else rng.randint(2, 4))
        found.append(Listed(tuple(by_appeal[:length]), tuple(sorted(relevant))))
    return found


def of_ranx() -> dict[str, list[float]]:
    """Hit, nDCG and reciprocal rank of every user."""
    ranx = import_module("ranx")
    users = lists()
    qrels = ranx.Qrels(
        {f"{n:02}": dict.fromkeys(one.relevant, 1) for n, one in enumerate(users)},
    )
    run = ranx.Run(
        {
            f"{n:02}": {item: 100.0 - rank for rank, item in enumerate(one.items)}
            for n, one in enumerate(users)
        },
    )
    names = {"hit": "hit_rate", "ndcg": "ndcg", "mrr": "mrr"}
    return {
        f"{ours}@{depth}": [
            float(value)
            for value in ranx.evaluate(
                qrels,
                run,
                f"{theirs}@{depth}",
                return_mean=False,
            )
        ]
        for ours, theirs in names.items()
        for depth in DEPTHS
    }


def of_lenskit() -> dict[str, list[float]]:
    """Hit, nDCG and reciprocal rank of every user, and Gini indices."""
    lists_of, metric_of = (
        import_module("lenskit.data"),
        import_module("lenskit.metrics"),
    )
    gini = import_module("lenskit.stats").gini
    users = [
        (
            lists_of.ItemList(item_ids=list(one.items), ordered=True),
            lists_of.ItemList(item_ids=list(one.relevant)),
        )
        for one in lists()
    ]
    # Its own discount, log2(rank) but at least 1, does not tell the first two places
    # apart.
    metrics = {
        "hit": metric_of.Hit,
        "ndcg": partial(metric_of.NDCG, discount=lambda ranks: np.log2(ranks + 1)),
        "mrr": metric_of.RecipRank,
    }
    found = {
        f"{name}@{depth}": [float(metric(depth).measure_list(*user)) for user in users]
        for name, metric in metrics.items()
        for depth in DEPTHS
    }
    for depth in DEPTHS:
        metric = metric_of.ListGini(depth, items=len(ITEMS))
        values = [metric.compute_list_data(*user) for user in users]
        found[f"exposure_gini@{depth}"] = [float(metric.global_aggregate(values))]
    found["gini"] = [float(gini(list(exposures))) for exposures in EXPOSURES]
    return found


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    json.dump({"ranx": of_ranx(), "lenskit": of_lenskit()}, sys.stdout, indent=1)
