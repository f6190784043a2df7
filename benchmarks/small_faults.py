"""Which small faults of an own recommender a default run of all suites finds, and
whether its failure says why.

    python -m benchmarks.small_faults [--faults NAME ...] [--data mini shop]

Each fault of `benchmarks.zoo.small` is asked by the run that the README begins with, on
the data of the package and on a generated shop: 20,000 users, 5,000 items, half of the
titles not ASCII, and remakes whose titles differ in case alone. The sound ones come
first. A line has

* the colour, and in brackets the share of answers that the fault changed: a fault that changes none cannot be seen;
* the rows that are not green;
* whether the first 15 lines of the failures name the cause: *yes* if the words of
  `Sound.cause` are in those of the first failure, *later* if only in those of another;
* the seconds of processor. With a fault, they include the sound answers to compare with.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.zoo.small import COUNTS, FAULTS, SOUND, Sound

USERS, ITEMS, GENRES = 20_000, 5_000, 20
DAY = 86_400
LINES = 15
"""How much of a failure is read for its cause."""

MAKERS = {kind.__name__: kind for kind in (*SOUND, *FAULTS)}

_STARTER = """
import resource, sys, pytest
status = pytest.main(sys.argv[2:])
used = resource.getrusage(resource.RUSAGE_SELF)
children = resource.getrusage(resource.RUSAGE_CHILDREN)
with open(sys.argv[1], "w") as file:
    file.write(str(used.ru_utime + used.ru_stime + children.ru_utime + children.ru_stime))
sys.exit(status)
"""


@dataclass(frozen=True)
class Found:
    """What came of one run."""

    gate: str
    red: tuple[str, ...]
    causes: tuple[bool, ...]  # of each failure, whether its first lines name the cause
    seconds: float
    share: float  # of the answers that the fault changed


def make_shop(folder: Path) -> Path:
    """Write the ratings and the catalogue of a shop, and return the path of the
    ratings.

    A user likes two of 20 genres, rates 12 to 60 items in sessions on several days, and
    gives half stars.
    """
    rng = np.random.default_rng(0)
    genre = rng.integers(0, GENRES, ITEMS)
    weight = 1 / (rng.permutation(ITEMS) + 50)
    rows = []
    for user in range(USERS):
        liked = rng.choice(GENRES, 2, replace=False)
        drawn = weight * np.where(np.isin(genre, liked), 8, 1)
        # The largest of exponential variates, each times its weight: a draw without
        # replacement.
        most = rng.integers(12, 61)
        items = np.argpartition(rng.exponential(size=ITEMS) / drawn, most)[:most]
        stars = (
            np.where(np.isin(genre[items], liked), 4, 2.5)
            + rng.integers(-2, 3, most) / 2
        )
        days = np.sort(rng.integers(0, 6, most)) * 30
        times = (
            1_500_000_000 + DAY * (rng.integers(0, 300) + days) + 60 * np.arange(most)
        )
        rows.append(
            pd.DataFrame(
                {"user": user, "item": items, "rating": stars, "timestamp": times},
            ),
        )
    table = pd.concat(rows)
    table["rating"] = table["rating"].clip(0.5, 5)
    table["item"] = table["item"].map("i{:04}".format)
    path = folder / "shop.csv"
    table.to_csv(path, index=False)
    catalogue = {
        "id": [f"i{item:04}" for item in range(ITEMS)],
        "title": [_title(item) for item in range(ITEMS)],
        "year": 1950 + np.arange(ITEMS) % 70,
        "genres": [f"genre {each}" for each in genre],
    }
    pd.DataFrame(catalogue).to_csv(folder / "shop.items.csv", index=False)
    return path


def _title(item: int) -> str:
    """Every second is not ASCII; every tenth is that of
    the item two before, in capitals.
    """
    if item % 10 == 9:
        return _title(item - 2).upper()
    return f"Été à la mer {item}" if item % 2 else f"A Day in Town {item}"


def run(name: str, data: str, folder: Path) -> Found:
    """One default run of all suites.

    Args:
        name: Of the class.
        data: ``--recsys-data``.
        folder: For its files.
    """
    own = folder / f"{name}-{Path(data).stem}"
    own.mkdir()
    record, counts, used = own / "record.json", own / "counts.json", own / "seconds"
    command = [
        sys.executable, "-c", _STARTER, str(used), "-q", "-p", "no:cacheprovider", "--pyargs", "pytest_recsys_mt.suites",
        f"--recsys-model=benchmarks.zoo.small:{name}", f"--recsys-data={data}", f"--recsys-json={record}",
        f"--recsys-cache={own / 'cache'}", "--recsys-keep=no", f"--rootdir={own}",
    ]  # fmt: skip
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, COUNTS: str(counts)},
    )
    (own / "said.txt").write_text(done.stdout + done.stderr, encoding="utf-8")
    if not record.exists():
        raise RuntimeError(
            f"{name} on {data}: {done.stdout[-2000:]}{done.stderr[-2000:]}",
        )
    document = json.loads(record.read_text(encoding="utf-8"))
    red = [
        f"{row['nodeid'].partition('::')[2].partition('[')[0]} ({row['relation'] or row['oracle']}, {row['status']})"
        for row in document["results"]
        if row["status"] in ("violated", "inconclusive", "error")
    ]
    cause = re.compile(MAKERS[name].cause or "(?!)", re.IGNORECASE)
    # Without the name of the class, which says what is wrong with it.
    said = done.stdout.replace(name, "it")
    causes = tuple(cause.search(text) is not None for text in failures(said))
    counted = json.loads(counts.read_text(encoding="utf-8"))
    return Found(
        document["gate"]["status"],
        tuple(dict.fromkeys(red)),
        causes,
        float(used.read_text()),
        counted["differing"] / max(1, counted["answers"]),
    )


def failures(said: str) -> Iterator[str]:
    """The first lines of each failure that pytest printed, below its headline."""
    _, _, below = said.partition("= FAILURES =")
    below = re.split(
        r"^=+ (?:recsys-mt|short test summary|warnings)",
        below,
        maxsplit=1,
        flags=re.MULTILINE,
    )[0]
    for part in re.split(r"^_+ .*test_.* _+$", below, flags=re.MULTILINE)[1:]:
        yield "\n".join(part.strip().splitlines()[:LINES])


def row(name: str, data: str, found: Found) -> str:
    """One row of the table."""
    kind: type[Sound] = MAKERS[name]
    number = f"{FAULTS.index(kind) + 1} " if kind in FAULTS else "sound "
    colour = "green" if found.gate == "passed" else "red"
    named = "-"
    if kind in FAULTS and found.causes:
        named = "yes" if found.causes[0] else "later" if any(found.causes) else "no"
    red = "; ".join(found.red[:4]) + (
        f"; {len(found.red) - 4} more" if len(found.red) > 4 else ""
    )
    return f"| {number}{name} | {data} | {colour} ({found.share:.1%}) | {red or '-'} | {named} | {found.seconds:.0f} |"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--faults", nargs="+", choices=MAKERS, default=list(MAKERS))
    parser.add_argument(
        "--data",
        nargs="+",
        choices=("mini", "shop"),
        default=["mini", "shop"],
    )
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument(
        "--folder",
        type=Path,
        help="keep the files here (default: nowhere)",
    )
    given = parser.parse_args()
    with (
        tempfile.TemporaryDirectory() as temporary,
        ThreadPoolExecutor(given.processes) as pool,
    ):
        folder: Path = given.folder or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        paths = {"mini": "mini"}
        if "shop" in given.data:
            paths["shop"] = str(make_shop(folder))
        print(
            "| fault | data | colour (answers changed) | not green | cause named | s |",
        )
        print("|---|---|---|---|---|---|")
        cells = list(product(given.data, given.faults))
        waiting = [pool.submit(run, name, paths[data], folder) for data, name in cells]
        for (data, name), done in zip(cells, waiting, strict=True):
            print(row(name, data, done.result()), flush=True)


if __name__ == "__main__":
    main()
