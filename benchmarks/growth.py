"""How the processor time and the memory of a run grow with users, items, tests, and
rows of its record.

    python -m benchmarks.growth [--quick] [--rounds 3] [--curves users items tests rows]

Prints Markdown. Each size is a process of its own, and the sizes take turns. Seconds
are of the processor and MB the largest resident set, both of that process with its
children; medians of the rounds. What a run costs at any size falls out of the
exponents: they are fitted, by least squares on logarithms, to what a size takes more
than the smallest one (1 is linear, 2 quadratic). "flat" means that the largest size
takes less than a tenth more than the smallest.

* users: all of them asked, for two relations and a policy, which asks everybody, on
  simulated ratings of 1,000 items, 30 of each user.
* items: the same of 200 users, with as many interactions whatever the size of the catalogue.
* tests: one relation with as many factors, 50 users of the embedded data, and all reports.
* rows: a record of 10 recommenders and as many tests as it takes, of up to 200 users:
  what is done with it, each alone, as `benchmarks.growth_rows` does it. Its seconds are
  those of the work, without reading the file.
"""

import argparse
import math
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import linear_regression, median

import numpy as np
import pandas as pd

from benchmarks import growth_rows, tables
from benchmarks.processes import cost_of

FITTED = 4
"""The exponent is of so many largest sizes."""
PYTEST = (
    sys.executable,
    "-m",
    "pytest",
    "-q",
    "-p",
    "no:cacheprovider",
    "-c",
    os.devnull,
)
PER_USER = 30

RELATIONS = """
from pytest_recsys_mt import metamorphic
from pytest_recsys_mt.oracles import same_ranking
from pytest_recsys_mt.relations import scale_ratings, shuffle_candidates

@metamorphic({relations})
def test_promise(source, followup):
    assert same_ranking(source, followup, similarity="rbo", margin=0.1)
"""


@dataclass(frozen=True)
class Curve:
    """Something that grows.

    Attributes:
        sizes: From the smallest; the last is left out of a quick look.
        command: From a size and a folder with nothing of an earlier round in it to a
            command line.
        timed: Whether the command prints its own seconds.
    """

    sizes: Sequence[int]
    command: Callable[[int, Path], Sequence[str]]
    timed: bool = False


def exponent(sizes: Sequence[int], costs: Sequence[float]) -> str:
    """How the cost beyond that of the smallest size grows."""
    if costs[-1] < 1.1 * costs[0]:
        return "flat"
    more = [
        (size - sizes[0], cost - costs[0])
        for size, cost in zip(sizes, costs, strict=True)
        if cost > costs[0]
    ][-FITTED:]
    if len(more) < 2:
        return "–"
    fitted = linear_regression(
        *([math.log(one) for one in side] for side in zip(*more, strict=True)),
    )
    return f"{fitted.slope:.2f}"


def data(folder: Path, users: int, items: int) -> Path:
    """Ratings with a Zipf-like popularity, `PER_USER` of each user, and a catalogue."""
    path = folder / f"ratings-{users}-{items}" / "ratings.csv"
    if not path.exists():
        path.parent.mkdir()
        rng = np.random.default_rng(0)
        popularity = 1 / (np.arange(items) + 20) ** 0.9
        # The first by weighted keys of an exponential are a draw without replacement
        # (Efraimidis and Spirakis 2006).
        rows = [
            np.argpartition(rng.exponential(size=items) / popularity, PER_USER)[
                :PER_USER
            ]
            for _ in range(users)
        ]
        count = users * PER_USER
        pd.DataFrame(
            {
                "user": np.repeat(np.arange(users), PER_USER),
                "item": np.concatenate(rows),
                "rating": rng.integers(1, 6, count),
                "timestamp": np.arange(count),
            },
        ).to_csv(path, index=False)
        catalogue = pd.DataFrame(
            {"id": range(items), "title": [f"Film {i}" for i in range(items)]},
        )
        catalogue.to_csv(path.with_name("items.csv"), index=False)
    return path


def run(folder: Path, relations: str, *options: str) -> Sequence[str]:
    """A run of one test for each of `relations`, which
    asks everybody and writes all reports.
    """
    made = Path(tempfile.mkdtemp(dir=folder))
    (made / "test_promises.py").write_text(
        RELATIONS.format(relations=relations),
        encoding="utf-8",
    )
    (made / "policy.toml").write_text("[gate]\n", encoding="utf-8")
    return (
        *PYTEST,
        str(made),
        f"--rootdir={made}",
        f"--recsys-cache={made / 'cache'}",
        f"--recsys-policy={made / 'policy.toml'}",
        f"--recsys-json={made / 'record.json'}",
        f"--recsys-html={made / 'report.html'}",
        f"--junitxml={made / 'junit.xml'}",
        *options,
    )


TWO = "scale_ratings(2), shuffle_candidates"


def of_users(size: int, folder: Path) -> Sequence[str]:
    """A run that asks `size` of the users of one data set."""
    path = data(folder, 10_000, 1_000)
    return run(folder, TWO, f"--recsys-data={path}", f"--recsys-users={size}")


def of_items(size: int, folder: Path) -> Sequence[str]:
    """A run on a catalogue of `size` items."""
    path = data(folder, 1_000, size)
    return run(folder, TWO, f"--recsys-data={path}", "--recsys-users=200")


def of_tests(size: int, folder: Path) -> Sequence[str]:
    """A run of `size` tests."""
    factors = ", ".join(
        f"scale_ratings({1 + place / 100:g})" for place in range(1, size + 1)
    )
    return run(folder, factors, "--recsys-model=mostpop", "--recsys-users=50")


def of_rows(work: str) -> Callable[[int, Path], Sequence[str]]:
    """One of the works of `benchmarks.growth_rows`, on a record of a size."""

    def command(size: int, folder: Path) -> Sequence[str]:
        path = folder / f"record-{size}.json"
        if not path.exists():
            base = folder / "base.json"
            if not base.exists():
                options = [f"--recsys-json={base}", f"--recsys-cache={folder / 'rows'}"]
                given = [
                    *PYTEST,
                    "--pyargs",
                    "pytest_recsys_mt.suites.metamorphic",
                    *options,
                ]
                subprocess.run(given, check=False, stdout=subprocess.DEVNULL)
            growth_rows.multiply(base, path, size)
        return (sys.executable, "-m", "benchmarks.growth_rows", work, str(path))

    return command


CURVES: Mapping[str, Mapping[str, Curve]] = {
    "users": {"users asked": Curve((100, 300, 1_000, 3_000, 10_000), of_users)},
    "items": {"items": Curve((350, 1_000, 9_724, 30_000, 60_000), of_items)},
    "tests": {"tests": Curve((10, 30, 100, 300), of_tests)},
    "rows": {
        f"rows, {work}": Curve((100, 1_000, 10_000, 100_000), of_rows(work), timed=True)
        for work in growth_rows.WORKS
    },
}


def grown(
    name: str,
    curve: Curve,
    folder: Path,
    rounds: int,
    *,
    quick: bool,
) -> Iterator[Sequence[str]]:
    """The lines of a table: one a size."""
    sizes = curve.sizes[:-1] if quick else curve.sizes
    taken: dict[int, list[float]] = {size: [] for size in sizes}
    held: dict[int, list[float]] = {size: [] for size in sizes}
    for _ in range(rounds):
        for size in sizes:
            cost = cost_of(curve.command(size, folder))
            taken[size].append(
                float(cost.said.split()[-1]) if curve.timed else cost.seconds,
            )
            held[size].append(cost.megabytes)
    seconds, memory = (
        [median(found[size]) for size in sizes] for found in (taken, held)
    )
    ends = exponent(sizes, seconds), exponent(sizes, memory)
    for size, second, megabyte in zip(sizes, seconds, memory, strict=True):
        last = ends if size == sizes[-1] else ("", "")
        yield name, f"{size:,}", f"{second:.2f}", last[0], f"{megabyte:.0f}", last[1]


def main() -> None:
    """Print a table for each curve."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument(
        "--quick",
        action="store_true",
        help="one round, without the largest size",
    )
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument(
        "--curves",
        nargs="+",
        choices=list(CURVES),
        default=list(CURVES),
    )
    given = parser.parse_args()
    rounds = 1 if given.quick else given.rounds
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for each in given.curves:
            head = ("what grows", "size", "seconds", "exponent", "MB", "exponent")
            lines = (
                line
                for what, curve in CURVES[each].items()
                for line in grown(what, curve, folder, rounds, quick=given.quick)
            )
            for text in tables.table(head, lines):
                print(text, flush=True)
        if "rows" in given.curves:
            print(
                "\n".join(
                    growth_rows.bytes_a_row(sorted(folder.glob("record-*.json"))),
                ),
            )


if __name__ == "__main__":
    main()
