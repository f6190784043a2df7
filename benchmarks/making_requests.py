"""What a request costs before a recommender sees it, for catalogues of several sizes.

    python -m benchmarks.making_requests [--items 350 9724 60000] [--rounds 5]

Simulated users with 60 ratings each. Measured are the sampled users' own requests (20
candidates, and the whole catalogue), what the shipped relations make of them, and the
keys of the calls: processor time a request, the median of rounds over the sizes in
turn, the first round left out.
"""

import argparse
import statistics
import time
from collections import defaultdict
from collections.abc import Iterator

import numpy as np
import pandas as pd

from pytest_recsys_mt import relations
from pytest_recsys_mt.calls.subject import RecommenderSubject
from pytest_recsys_mt.datasets.dataset import Dataset
from pytest_recsys_mt.engine.cases import Split
from pytest_recsys_mt.recommenders import MostPop
from pytest_recsys_mt.relations.transformation import usual_of
from pytest_recsys_mt.requests import Item, Request, Scale
from pytest_recsys_mt.requests.design import Design
from pytest_recsys_mt.safety.errors import NotApplicable

USERS, RATINGS, ASKED = 400, 60, 200


def dataset(items: int) -> Dataset:
    """Ratings of simulated users: items are chosen by popularity, as by Zipf's law."""
    rng = np.random.default_rng(0)
    weight = 1 / np.arange(10, items + 10)
    rows = []
    for user in range(USERS):
        chosen = rng.choice(items, RATINGS, replace=False, p=weight / weight.sum())
        rows += [
            (f"u{user}", f"i{item}", 1 + item % 5, at) for at, item in enumerate(chosen)
        ]
    frame = pd.DataFrame(rows, columns=["user", "item", "rating", "timestamp"])
    films = {
        f"i{item}": Item(
            f"i{item}",
            f"Film {item}",
            1950 + item % 70,
            {"genres": ("Drama",)},
        )
        for item in range(items)
    }
    return Dataset(f"{items} items", films, frame, Scale(1, 5))


def measured(data: Dataset) -> Iterator[tuple[str, float, int]]:
    """What is made, the seconds it takes, and the number of requests."""
    subject = RecommenderSubject(MostPop(), "most popular")
    subject.fit(data, 0)
    usual = [
        each
        for name in relations.__all__
        for each in usual_of(getattr(relations, name))
    ]
    usual = [each for each in usual if each.training is None]
    split = Split(data, 0)
    for name, design in (
        ("20 candidates", Design(users=ASKED)),
        ("20 candidates, another k", Design(users=ASKED, k=5)),
        ("whole catalogue", Design(users=ASKED, candidates=0)),
    ):
        start = time.process_time()
        cases = split.cases(design)
        yield f"own requests, {name}", time.process_time() - start, len(cases)
        if name.endswith("k"):
            continue
        start = time.process_time()
        world = split.world(cases)
        made: list[Request] = []
        for each in usual:
            for place, case in enumerate(cases):
                try:
                    changed = each(case.request, np.random.default_rng(place), world)
                    made.append(case.knowing(changed))
                except NotApplicable:
                    continue
        yield f"follow-ups, {name}", time.process_time() - start, len(made)
        start = time.process_time()
        for request in made:
            subject.call(request, repeat=False)
        yield f"keys, {name}", time.process_time() - start, len(made)


def main() -> None:
    parser = argparse.ArgumentParser(
        description="What a request costs before it is asked.",
    )
    parser.add_argument("--items", type=int, nargs="+", default=[350, 9724, 60000])
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    data = [dataset(items) for items in options.items]
    for each in data:  # all sizes share what is computed once a dataset
        _ = each.popularity, each.neighbours
    took: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for _ in range(options.rounds + 1):
        for each in data:
            for what, seconds, requests in measured(each):
                took[what][each.name].append(1e6 * seconds / max(requests, 1))
    print(f"| us a request | {' | '.join(each.name for each in data)} |")
    print(f"|---|{'---:|' * len(data)}")
    for what, by_size in took.items():
        row = [f"{statistics.median(each[1:]):.0f}" for each in by_size.values()]
        print(f"| {what} | {' | '.join(row)} |")


if __name__ == "__main__":
    main()
