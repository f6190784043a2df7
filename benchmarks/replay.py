"""What a replay costs: the suite `metamorphic`, recorded once from a server on this machine.

    python -m benchmarks.replay [--users 400 2000] [--rounds 3] [--rows 1000000] [--python OTHER/python]

Users are drawn: each has rated 30 films of `mini`. Every verdict asks all of them (a policy), about 50
calls a user. The server ranks the candidates of a prompt by a digest of their titles and some noise.
Each Python records into a cache of its own; then they take turns. The time is the processor time of the
whole process of a replay in which every answer is found, less that of a replay with ten users, by calls.
Peak memory and the size of the folder are those of the larger replay.

With `--rows`, answers of about 2 kB with their calls are put into a cache, and an executor replays them.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import NamedTuple

import numpy as np

from benchmarks.ahead import start
from pytest_recsys_mt.datasets import load

FEW = 10
"""Users of the run that is taken off: start, imports, the data."""
RATINGS = 30

POLICY = """
[gate]
"""


class Run(NamedTuple):
    """One run of the suite.

    Attributes:
        calls: Distinct calls.
        cpu: Seconds of processor time.
        memory: Peak of the resident set, in MB.
        verdicts: The verdicts, as the record has them.
    """

    calls: int
    cpu: float
    memory: float
    verdicts: list[tuple[object, ...]]


def write_data(folder: Path, users: int) -> None:
    """Films of `mini` and drawn users, in the format of MovieLens."""
    rng = np.random.default_rng(0)
    films = list(load("mini").items.values())
    weights = 1 / np.arange(1, len(films) + 1) ** 0.5
    movies = [f'{n},"{film.label}",Drama' for n, film in enumerate(films)]
    (folder / "movies.csv").write_text("movieId,title,genres\n" + "\n".join(movies) + "\n")
    rows = []
    for user in range(users):
        chosen = rng.choice(len(films), RATINGS, replace=False, p=weights / weights.sum())
        values = rng.integers(1, 6, RATINGS)
        rows += [
            f"{user},{film},{value},{at}"
            for at, (film, value) in enumerate(zip(chosen, values, strict=True))
        ]
    (folder / "ratings.csv").write_text(
        "userId,movieId,rating,timestamp\n" + "\n".join(rows) + "\n"
    )


def run(python: Path, folder: Path, users: int, url: str, *options: str) -> Run:
    """The suite on `users` users, with the cache of `python`."""
    record = folder / "record.json"
    command = [
        str(python), "-m", "pytest", "--pyargs", "pytest_recsys_mt.suites.metamorphic",
        "-p", "no:cacheprovider", "-q", "--recsys-model=openai:slow?concurrency=64",
        f"--recsys-users={users}", f"--recsys-data={folder / 'data'}",
        f"--recsys-cache={cache_of(python, folder)}", f"--recsys-json={record}",
        "--recsys-policy=recsys.toml", *options,
    ]  # fmt: skip
    environment = {**os.environ, "OPENAI_BASE_URL": url, "OPENAI_API_KEY": "none-is-needed-here"}
    process = subprocess.Popen(command, cwd=folder, env=environment, stdout=subprocess.DEVNULL)
    _, _, used = os.wait4(process.pid, 0)
    found = json.loads(record.read_text())
    verdicts = [
        (row["nodeid"], row["status"], row["users"], row["estimate"]) for row in found["results"]
    ]
    calls = found["calls"]
    if "--recsys-mode=replay" in options and calls["made"]:
        raise SystemExit("a replay asked something; the figures would be of something else")
    return Run(
        calls["made"] + calls["cached"] + calls["again"],
        used.ru_utime + used.ru_stime,
        used.ru_maxrss / 1e3,
        verdicts,
    )


def cache_of(python: Path, folder: Path) -> Path:
    """The cache folder of one Python."""
    return folder / f"cache-{abs(hash(python))}"


def suite(pythons: Sequence[Path], users: int, rounds: int, url: str) -> None:
    """Print a row for each Python."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "data").mkdir()
        (folder / "recsys.toml").write_text(POLICY)
        write_data(folder / "data", users)
        recorded = [run(python, folder, users, url) for python in pythons]
        for python in pythons:
            run(python, folder, FEW, url)
        found: dict[Path, list[tuple[float, Run]]] = {python: [] for python in pythons}
        for _ in range(rounds):
            for python in pythons:
                few = run(python, folder, FEW, url, "--recsys-mode=replay")
                whole = run(python, folder, users, url, "--recsys-mode=replay")
                per_call = (whole.cpu - few.cpu) / (whole.calls - few.calls)
                found[python].append((1e6 * per_call, whole))
        same = (
            len(
                {json.dumps(each.verdicts) for each in recorded}
                | {json.dumps(each.verdicts) for runs in found.values() for _, each in runs}
            )
            == 1
        )
        for python, runs in found.items():
            size = sum(
                path.stat().st_size
                for path in cache_of(python, folder).rglob("*")
                if path.is_file()
            )
            calls = runs[0][1].calls
            print(
                f"| {python} | {users:,} | {calls:,} | {median(each for each, _ in runs):.0f} | "
                f"{median(one.cpu for _, one in runs):.1f} | {size / calls:.0f} | "
                f"{median(one.memory for _, one in runs):.0f} | {'equal' if same else 'DIFFERENT'} |",
                flush=True,
            )


def main() -> None:
    """Print Markdown."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--users", type=int, nargs="*", default=[400, 2000])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--python", type=Path, nargs="*", default=[])
    given = parser.parse_args()
    url = f"http://127.0.0.1:{start(0.0)}/v1"
    print(
        "| Python | users | calls | µs a call | whole run s | bytes a call on disk | peak MB | verdicts |"
    )
    print("|---|---:|---:|---:|---:|---:|---:|---|")
    for users in given.users:
        suite([*given.python, Path(sys.executable)], users, given.rounds, url)


if __name__ == "__main__":
    main()
