"""The tables of the popularity suite: bias, accuracy and validity of recommenders over folds.

    python -m benchmarks.popularity --data ml-latest-small --model random --model mostpop ...

Open recommendation over the whole catalogue, as in "Large Language Models as Recommender Systems: A
Study of Popularity Bias" (https://arxiv.org/abs/2406.01285, section 4): the users are dealt into
folds, a fifth of the ratings of each user of a fold is held out, everything else is for training, and
ten items are asked of the user's other ratings. Printed are means over the folds with the standard
error of the mean, as Markdown. ``--prompt`` names the templates for language models, one row each.
"""

import argparse
import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from scipy.stats import kendalltau

from benchmarks.promises import settings_of
from pytest_recsys_mt.datasets import load
from pytest_recsys_mt.datasets.dataset import Dataset
from pytest_recsys_mt.design import Design
from pytest_recsys_mt.engine.cases import ShareSplit
from pytest_recsys_mt.engine.run import Run
from pytest_recsys_mt.engine.sides import Side
from pytest_recsys_mt.oracles import popularity_fit
from pytest_recsys_mt.oracles.arrays import Floats
from pytest_recsys_mt.oracles.benchmark import score_values
from pytest_recsys_mt.oracles.scores.score import score_named
from pytest_recsys_mt.recommenders import describe, resolve
from pytest_recsys_mt.requests import TextModel

COLUMNS: Mapping[str, str] = {
    "hit@5": "HR@5",
    "hit@10": "HR@10",
    "log_popularity_difference": "log-popularity difference",
    "invalid": "invalid of 10",
}
CLASSES = ("malformed", "already_seen", "unknown_title", "outside_catalogue")
BIASES = (
    "log_popularity_difference",
    "popularity_lift",
    "gini_difference",
    "herfindahl_difference",
)
SCORES = (*COLUMNS, *CLASSES, *BIASES[1:])

Row = dict[str, Floats]
"""Means of each score, one a fold."""


class Fold(Run):
    """A run on one fold of the data."""

    def __init__(self, dataset: Dataset, fold: int, options: argparse.Namespace) -> None:
        design = Design(
            users=options.users, history=options.history, candidates=0, k=10, replicates=1
        )
        super().__init__(settings_of(design, options.seed, options.cache), name=f"fold {fold}")
        self.__dict__["split"] = ShareSplit(
            dataset, options.seed, fold, options.folds, most=options.users
        )


def measured(run: Run, spec: str, prompt: str | None) -> tuple[dict[str, float], int]:
    """The mean of each score over the users of one fold, and how many answered."""
    recommender = resolve(spec)
    design = run.settings.design
    runner = run.runner(recommender, spec, replace(design, prompt=prompt))
    context = runner.context(lambda verdict: verdict)
    sample = Side(runner, context).sample()
    means = {}
    for name in SCORES:
        values = score_values(sample, context, score_named(name)).effect
        means[name] = float(values.mean()) if len(values) else math.nan
        if name == "log_popularity_difference" and len(values) < len(sample.asked):
            print(f"{spec}, {prompt}: {len(values)} of {len(sample.asked)} users have a {name}")
    return means, len(sample.asked)


def table(rows: Mapping[str, Row]) -> str:
    """One line a recommender: mean plus or minus standard error over the folds."""
    lines = [
        f"| recommender | {' | '.join(COLUMNS.values())} | {' / '.join(CLASSES)} |",
        "|---" * (len(COLUMNS) + 2) + "|",
    ]
    for name, row in rows.items():
        cells = [_cell(row[score]) for score in COLUMNS]
        classes = " / ".join(f"{row[score].mean():.2f}" for score in CLASSES)
        lines.append(f"| {name} | {' | '.join(cells)} | {classes} |")
    return "\n".join(lines)


def biases(rows: Mapping[str, Row]) -> str:
    """One line a recommender and metric of bias, and how the metrics agree over recommenders."""
    lines = [f"| recommender | {' | '.join(BIASES)} |", "|---" * (len(BIASES) + 1) + "|"]
    for name, row in rows.items():
        cells = [_cell(row[score]) for score in BIASES]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    if len(rows) > 2:
        lines += [
            "",
            f"| Kendall's tau over {len(rows)} recommenders | {' | '.join(BIASES)} |",
            "|---" * (len(BIASES) + 1) + "|",
        ]
        means = {score: [row[score].mean() for row in rows.values()] for score in BIASES}
        for one in BIASES:
            cells = [f"{kendalltau(means[one], means[two])[0]:.2f}" for two in BIASES]
            lines.append(f"| {one} | {' | '.join(cells)} |")
    return "\n".join(lines)


def fitted(dataset: Dataset) -> str:
    """Which tail the popularity of the catalogue has, in a sentence."""
    fit = popularity_fit([count for count in dataset.popularity.values() if count])
    nearer = "Pareto" if fit.z > 0 else "log-normal"
    return (
        f"{fit.items:,} items with ratings: Pareto shape {fit.pareto_shape:.3f} (distance "
        f"{fit.pareto_distance:.3f}); log-normal of mean {fit.lognormal_mean:.3f} and deviation "
        f"{fit.lognormal_deviation:.3f} (distance {fit.lognormal_distance:.3f}). By Vuong's test the "
        f"{nearer} is nearer, z = {fit.z:.1f}, p = {fit.p_value:.2g}."
    )


def _cell(means: Floats) -> str:
    """The mean over folds and its standard error; a dash where no answer has such a score."""
    if np.isnan(means).any():
        return "–"
    if len(means) < 2:
        return f"{means[0]:.3f}"
    return f"{means.mean():.3f} ± {means.std(ddof=1) / math.sqrt(len(means)):.3f}"


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--data", default="mini")
    parser.add_argument("--model", action="append", required=True)
    parser.add_argument("--prompt", action="append", default=[])
    parser.add_argument("--users", type=int, default=1000, help="of a fold, at most")
    parser.add_argument("--history", type=int, default=10_000, help="items of a request, at most")
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--only", type=int, help="folds to ask, all by default")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--cache", type=Path, default=Path(".recsys_cache"))
    options = parser.parse_args(arguments)
    dataset = load(options.data)
    asked = options.only or options.folds
    runs = [Fold(dataset, fold, options) for fold in range(asked)]
    rows: dict[str, Row] = {}
    users = 0
    for spec in options.model:
        recommender = resolve(spec)
        text = isinstance(recommender, TextModel)
        for prompt in (options.prompt or ["wok"]) if text else [None]:
            found = [measured(run, spec, prompt) for run in runs]
            name = f"{describe(recommender)} ({prompt})" if prompt else spec
            users = sum(answered for _, answered in found)
            rows[name] = {score: np.array([means[score] for means, _ in found]) for score in SCORES}
    print(f"{dataset.name}: {asked} of {options.folds} folds, {users} users in all\n")
    print(table(rows), biases(rows), fitted(dataset), sep="\n\n")
    for run in runs:
        run.close()


if __name__ == "__main__":
    main()
