"""How long an epoch of training takes, and scoring, beside implicit, cornac and
RecTools.

    python -m benchmarks.training [--epochs 2] [--rounds 3] [--yardstick
    ../with-others/bin/python ...]

The data are simulated, of the size and the skew of MovieLens 1M, and the same for all;
every model has 64 dimensions, histories of 50 where it reads sequences, and one thread.
``--yardstick`` names the interpreter of an environment with implicit, cornac or
RecTools (each is left out where it is missing; RecTools cannot be with implicit), and
can be given more than once. Seconds are of the processor, which with one thread are
those of a quiet machine by the clock, and on a busy one can still be compared: all are
measured in turn, and the table has the medians of the rounds.

An epoch shows every interaction once, in each of them, but for what says otherwise in
its name.
"""

import argparse
import json
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from statistics import median

import numpy as np

from benchmarks.knn import simulate
from pytest_recsys_mt.datasets.dataset import Dataset
from pytest_recsys_mt.recommenders import resolve
from pytest_recsys_mt.recommenders.trained.base import TrainedRecommender
from pytest_recsys_mt.requests import Request

CANDIDATES = 20
YARDSTICK = Path(__file__).with_name("training_yardstick.py")


def timed(work: Callable[[], object]) -> float:
    """Seconds of the processor."""
    start = time.process_time()
    work()
    return time.process_time() - start


def ours(
    name: str,
    dataset: Dataset,
    requests: list[Request],
    epochs: int,
) -> tuple[float, float]:
    """Seconds of one epoch, and of scoring all requests as one batch.

    What is done once is in two fits of different length alike, and falls out of their
    difference.
    """
    spec = f"{name}{'&' if '?' in name else '?'}dim=64&patience=0&device=cpu"

    def fit(count: int) -> float:
        with tempfile.TemporaryDirectory() as folder:
            recommender = resolve(f"{spec}&epochs={count}")
            assert isinstance(recommender, TrainedRecommender)
            recommender.folder = Path(folder)
            fitted.append(recommender)
            return timed(lambda: recommender.fit(dataset, 0))

    fitted: list[TrainedRecommender] = []
    once, more = fit(1), fit(1 + epochs)
    return (more - once) / epochs, timed(lambda: fitted[-1].recommend(requests))


def theirs(python: str, dataset: Dataset, epochs: int) -> Mapping[str, float]:
    """Seconds of one epoch of each yardstick, as its own environment measures it."""
    frame = dataset.interactions
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "interactions.npz"
        np.savez(
            path,
            users=frame["user"].factorize()[0],
            items=frame["item"].astype(int).to_numpy(),
            times=frame["timestamp"].to_numpy(),
        )
        # Outside this folder, where it would find modules of ours.
        command = [str(Path(python).absolute()), str(YARDSTICK), str(path), str(epochs)]
        done = subprocess.run(
            command,
            check=True,
            stdout=subprocess.PIPE,
            text=True,
            cwd=folder,
        )
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def questions(dataset: Dataset) -> list[Request]:
    """Every user's, with `CANDIDATES` items drawn from the catalogue."""
    rng = np.random.default_rng(1)
    items = list(dataset.items.values())
    return [
        Request(
            user,
            history,
            dataset.scale,
            tuple(items[n] for n in rng.choice(len(items), CANDIDATES, replace=False)),
            CANDIDATES,
        )
        for user, history in dataset.histories.items()
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--users", type=int, default=6040)
    parser.add_argument("--items", type=int, default=3706)
    parser.add_argument("--ratings", type=int, default=1_000_209)
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument(
        "--models",
        nargs="+",
        default=["bprmf", "sasrec"],
        help="specs",
    )
    parser.add_argument("--yardstick", metavar="PYTHON", action="append", default=[])
    given = parser.parse_args()
    dataset = simulate(given.users, given.items, given.ratings)
    requests = questions(dataset)
    little = simulate(100, 100, 2000)
    for (
        name
    ) in given.models:  # imports and first calls, which the first round would count
        ours(name, little, questions(little), 1)
    epoch: dict[str, list[float]] = {}
    scoring: dict[str, list[float]] = {}
    for _ in range(given.rounds):
        for name in given.models:
            training, answering = ours(name, dataset, requests, given.epochs)
            epoch.setdefault(name, []).append(training)
            scoring.setdefault(name, []).append(answering)
        for python in given.yardstick:
            for name, seconds in theirs(python, dataset, given.epochs).items():
                epoch.setdefault(name, []).append(seconds)
    print(
        f"{'seconds':32}{'an epoch':>12}{f'{len(requests)} x {CANDIDATES} scored':>20}",
    )
    for name, found in epoch.items():
        scored = f"{median(scoring[name]):20.2f}" if name in scoring else ""
        print(f"{name:32}{median(found):12.2f}{scored}")


if __name__ == "__main__":
    main()
