"""How often the promises of the training suite are kept by sound recommenders, over
many seeds of a run.

    python -m benchmarks.learning [--seeds 100] [--users 200] [RELATION ...]

Prints Markdown, one line for each recommender and relation: how many seeds gave each
verdict, and the largest effect. The seed of a run draws its users, the changes of the
data, and the seeds of the fits.
"""

import argparse
import os
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

for _threads in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(_threads, "1")

import numpy as np

from benchmarks.promises import recsys_of
from pytest_recsys_mt import oracles, relations, thresholds
from pytest_recsys_mt.datasets.dataset import Dataset
from pytest_recsys_mt.recommenders import ItemKNN
from pytest_recsys_mt.relations import Transformation
from pytest_recsys_mt.requests import Recommendation, Request
from pytest_recsys_mt.verdict.verdict import Verdict

_SUITE = (
    Path(__file__).resolve().parents[1] / "suites" / "training" / "test_same_data.py"
)
_MARGIN = thresholds(str(_SUITE), "margin")

SAME = (
    relations.permute_rows,
    relations.other_form,
    relations.renumber_users,
    relations.renumber_items,
    relations.rescale_training(2),
    relations.jitter_ratings(1e-9),
    relations.shift_times(520),
)
LITTLE = (
    relations.duplicate_user(5),
    relations.split_user(5),
    relations.add_unconnected_user(5),
    relations.add_unconnected_item(5),
    relations.invalid_ratings("zero"),
)


class Plain:
    """ItemKNN, whose fit draws nothing."""

    deterministic = True

    def fit(self, dataset: Dataset, seed: int) -> None:
        """Learn from all rows."""
        self._inner = ItemKNN()
        self._inner.fit(dataset, seed)

    def recommend(self, requests: Sequence[Request]) -> list[Recommendation]:
        """As ItemKNN does."""
        return self._inner.recommend(requests)


class Sampling(Plain):
    """ItemKNN on half of the rows, drawn by the seed and the place
    of a row: another order draws other rows.
    """

    def fit(self, dataset: Dataset, seed: int) -> None:
        """Learn from half of the rows."""
        frame = dataset.interactions
        kept = frame[np.random.default_rng(seed).random(len(frame)) < 0.5]
        super().fit(dataset.replace(interactions=kept), seed)


def verdict_of(
    make: type[Plain],
    relation: Transformation,
    seed: int,
    users: int,
) -> Verdict:
    """The verdict of one run.

    Args:
        make: The recommender.
        relation: Of `SAME` or `LITTLE`.
        seed: Of the run.
        users: Most users to ask.
    """
    margin = _MARGIN["same_data" if relation in SAME else "little"]
    with tempfile.TemporaryDirectory() as folder:
        recsys = recsys_of(make, make.__name__, seed, users, Path(folder)).using(
            refits=True,
        )
        return oracles.same_ranking(recsys.run(), recsys.run(relation), margin=margin)


def lines(chosen: Sequence[Transformation], seeds: int, users: int) -> Iterator[str]:
    """The table."""
    yield "| recommender | relation | holds | inconclusive | violated | largest effect | floor |"
    yield "|---|---|---|---|---|---|---|"
    for make in (Sampling, Plain):
        for relation in chosen:
            found = [verdict_of(make, relation, seed, users) for seed in range(seeds)]
            count = Counter(one.status for one in found)
            largest = max(one.estimate or 0.0 for one in found)
            floor = float(
                np.mean([1.0 if one.floor is None else one.floor for one in found]),
            )
            numbers = " | ".join(
                str(count[s]) for s in ("holds", "inconclusive", "violated")
            )
            yield f"| {make.__name__} | `{relation.name}` | {numbers} | {largest:.3f} | {floor:.2f} |"


def main() -> None:
    parser = argparse.ArgumentParser(
        description="How sound recommenders fare in the training suite.",
    )
    parser.add_argument("--seeds", type=int, default=100, help="runs of each")
    parser.add_argument("--users", type=int, default=200, help="most users of a run")
    parser.add_argument("relations", nargs="*", help="names; all without any")
    options = parser.parse_args()
    every = (*SAME, *LITTLE)
    chosen = [
        each
        for each in every
        if not options.relations or each.name in options.relations
    ]
    for line in lines(chosen, options.seeds, options.users):
        print(line, flush=True)


if __name__ == "__main__":
    main()
