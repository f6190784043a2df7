"""What a run on data of the size of MovieLens 25M takes, from reading the files to the
verdicts.

    python -m benchmarks.large FOLDER [--model itemknn] [--make-only]

Makes a folder in the format of MovieLens where there is none (162,541 users, 59,047
items and 25,000,095 ratings, whose numbers fall off by rank as those of ml-25m do), and
prints processor time and peak memory: of reading, splitting and fitting one after the
other, and of a whole run of the metamorphic suite with open questions to 400 users,
each in a process of its own. `ask_elsewhere` is left out: it reads and fits a second
time.
"""

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd

USERS, ITEMS, RATINGS = 162_541, 59_047, 25_000_095


def make(folder: Path) -> None:
    """Write the files: users' numbers of ratings are
    log-normal, items' fall as a power of their rank.
    """
    rng = np.random.default_rng(0)
    activity = np.cumsum(rng.lognormal(0, 1.2, USERS))
    popularity = np.cumsum(1 / (np.arange(ITEMS) + 250) ** 1.8)
    pairs = np.empty(0, dtype=np.int64)
    while pairs.size < RATINGS:
        drawn = int((RATINGS - pairs.size) * 1.3) + 100_000
        users = np.searchsorted(activity / activity[-1], rng.random(drawn))
        items = np.searchsorted(popularity / popularity[-1], rng.random(drawn))
        pairs = np.unique(np.concatenate([pairs, users * ITEMS + items]))
    pairs = np.sort(rng.choice(pairs, RATINGS, replace=False, shuffle=False))
    names = rng.permutation(np.arange(1, ITEMS + 1) * 3)
    ratings = pd.DataFrame(
        {
            "userId": pairs // ITEMS + 1,
            "movieId": names[pairs % ITEMS],
            "rating": rng.integers(1, 11, RATINGS) / 2,
            "timestamp": rng.integers(900_000_000, 1_500_000_000, RATINGS),
        },
    )
    folder.mkdir(parents=True)
    ratings.sort_values(["userId", "movieId"]).to_csv(
        folder / "ratings.csv",
        index=False,
    )
    films = {
        "movieId": np.sort(names),
        "title": [f"Film {name} ({1950 + name % 70})" for name in np.sort(names)],
        "genres": ["Drama|Comedy" if name % 2 else "Action" for name in np.sort(names)],
    }
    pd.DataFrame(films).to_csv(folder / "movies.csv", index=False)


def steps(folder: Path, model: str) -> None:
    """Print what each step before the first question takes, in this process."""
    from pytest_recsys_mt.datasets import load
    from pytest_recsys_mt.engine.cases import Split
    from pytest_recsys_mt.recommenders.registry import resolve
    from pytest_recsys_mt.recommenders.scoring import ScoringRecommender

    recommender = resolve(model)
    if not isinstance(recommender, ScoringRecommender):
        raise SystemExit(
            f"{model!r} is not built in; choose itemknn, userknn, bm25 or mostpop",
        )

    def told(name: str, start: float) -> float:
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
        print(
            f"| {name} | {time.process_time() - start:.1f} | {peak:.2f} |",
            flush=True,
        )
        return time.process_time()

    start = time.process_time()
    data = load(folder)
    start = told("read", start)
    training = Split(data, 0).training
    start = told("split", start)
    recommender.fit(training, 0)
    told(f"fit {model}", start)


def run(folder: Path, model: str) -> None:
    """Print what a whole run takes."""
    with tempfile.TemporaryDirectory() as cache:
        command = [
            *(
                sys.executable,
                "-m",
                "pytest",
                "--pyargs",
                "pytest_recsys_mt.suites.metamorphic",
            ),
            *(
                "-q",
                "-p",
                "no:cacheprovider",
                "-k",
                "not elsewhere",
                "--recsys-users=400",
            ),
            *(
                f"--recsys-data={folder}",
                f"--recsys-model={model}",
                "--recsys-candidates=0",
            ),
            f"--recsys-cache={cache}",
        ]
        subprocess.run(
            command,
            check=False,
            stdout=subprocess.DEVNULL,
        )  # verdicts may not hold
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(
        f"| whole run | {used.ru_utime + used.ru_stime:.1f} | {used.ru_maxrss / 2**20:.2f} |",
    )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--model", default="itemknn")
    parser.add_argument(
        "--make-only",
        action="store_true",
        help="write the files, and stop",
    )
    options = parser.parse_args()
    folder: Path = options.folder.resolve()
    if not folder.exists():
        make(folder)
    if not options.make_only:
        print("| | processor s | peak GiB |\n|---|---|---|", flush=True)
        run(folder, options.model)
        steps(folder, options.model)


if __name__ == "__main__":
    main()
