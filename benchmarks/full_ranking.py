"""How well the built-in recommenders rank the whole catalogue, by the two usual splits.

    python -m benchmarks.full_ranking --recsys-data=ml-100k --split=random
        [--split=latest] [--seeds 3] [--recsys-model=ease ...]

``random`` holds out a quarter of each user's interactions, drawn evenly; ``latest`` the
last one of each user. A recommender knows all others, and ranks what the user has not.
NDCG@10 is the gain of those of the first ten that were held out, each counting 1 /
log2(1 + rank), over the most that there could be; HR@10 is the share of users with at
least one of them. Both are means over users, then over seeds; after ± stands the
standard deviation between seeds. A seed draws the split, if it is random, and what the
recommender draws. So with ``latest`` only those that draw have one.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.quality import UNSEEDED
from pytest_recsys_mt.datasets import load
from pytest_recsys_mt.datasets.dataset import Dataset
from pytest_recsys_mt.recommenders import NAMES, resolve
from pytest_recsys_mt.recommenders.scoring import ScoringRecommender
from pytest_recsys_mt.recommenders.trained import Trained
from pytest_recsys_mt.requests import Recommendation, Request

CUT = 10
SHARE = 0.25
DISCOUNTS = 1 / np.log2(np.arange(2, CUT + 2))


@dataclass(frozen=True)
class Quality:
    """How well one fit ranks.

    Attributes:
        ndcg: Mean NDCG@`CUT`.
        hits: Share of users with a hit among the first `CUT`.
        seconds: Of the processor, of the fit.
    """

    ndcg: float
    hits: float
    seconds: float


def held_out(dataset: Dataset, split: str, seed: int) -> dict[str, list[str]]:
    """The items to find, by user; nobody loses all."""
    rng = np.random.default_rng(seed)
    found = {}
    for user, history in sorted(dataset.histories.items()):
        items = [rating.item.id for rating in history]
        if len(items) < 2:
            continue
        if split == "latest":
            found[user] = items[-1:]
        elif count := round(SHARE * len(items)):
            found[user] = [
                items[place] for place in rng.permutation(len(items))[:count]
            ]
    return found


def gain(answer: Recommendation, wanted: Sequence[str]) -> float:
    """NDCG@`CUT` of one answer."""
    hits = [
        place for place, item in enumerate(answer.items[:CUT]) if item in set(wanted)
    ]
    return float(DISCOUNTS[hits].sum() / DISCOUNTS[: len(wanted)].sum())


def measured(
    spec: str,
    training: Dataset,
    wanted: Mapping[str, Sequence[str]],
    seed: int,
    models: Path,
) -> Quality:
    """Fit a recommender and ask it for every user."""
    recommender = resolve(spec)
    if not isinstance(recommender, ScoringRecommender):
        raise SystemExit(
            f"{spec!r} is none of the built-in recommenders: {', '.join(NAMES)}",
        )
    if isinstance(recommender, Trained):
        recommender.folder = models
    start = time.process_time()
    recommender.fit(training, seed)
    seconds = time.process_time() - start
    histories = training.histories
    answers = recommender.recommend(
        [Request(user, histories[user], training.scale, None, CUT) for user in wanted],
    )
    gains = [
        gain(answer, items)
        for answer, items in zip(answers, wanted.values(), strict=True)
    ]
    return Quality(float(np.mean(gains)), float(np.mean(np.array(gains) > 0)), seconds)


def over_seeds(
    spec: str,
    dataset: Dataset,
    split: str,
    seeds: int,
    models: Path,
) -> list[Quality]:
    """One measurement a seed, or one alone if nothing is drawn."""
    drawn = split == "random" or spec.partition("?")[0] not in UNSEEDED
    found = []
    for seed in range(seeds if drawn else 1):
        wanted = held_out(dataset, split, seed)
        found.append(measured(spec, dataset.without(wanted), wanted, seed, models))
    return found


def cell(values: Sequence[float]) -> str:
    """Mean and standard deviation."""
    spread = f" ± {statistics.stdev(values):.3f}" if len(values) > 1 else ""
    return f"{statistics.mean(values):.3f}{spread}"


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table, a line as soon as it is known."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument("--recsys-data", default="ml-100k")
    parser.add_argument(
        "--recsys-model",
        action="append",
        help="all built-in ones by default",
    )
    parser.add_argument(
        "--split",
        action="append",
        choices=("random", "latest"),
        help="both by default",
    )
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--models", type=Path, default=Path(".recsys_cache/models"))
    options = parser.parse_args(arguments)
    dataset = load(options.recsys_data)
    print(
        f"{dataset.name}: {len(dataset.histories)} users, {len(dataset.items)} items, "
        f"{len(dataset.interactions)} interactions\n",
    )
    print(f"| | split | NDCG@{CUT} | HR@{CUT} | fit, s |\n|---|---|---|---|---:|")
    for spec in options.recsys_model or NAMES:
        for split in options.split or ("random", "latest"):
            found = over_seeds(spec, dataset, split, options.seeds, options.models)
            cells = [
                cell([one.ndcg for one in found]),
                cell([one.hits for one in found]),
            ]
            seconds = statistics.mean(one.seconds for one in found)
            print(
                f"| {spec} | {split} | {' | '.join(cells)} | {seconds:.1f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
