"""What the commands that read a large record take, beside reading its text as plain
objects.

    python -m benchmarks.big_records [--rows 18000] [--users 10000] [--rounds 3]

Prints Markdown. Two shapes of some 93 MB: many rows, of up to 66 users and with
answers, and few rows of many users. Each command is a process of its own, and the
commands take turns with `json.load` of the same files. Seconds are of the processor and
MB the largest resident set, medians of the rounds; "times" is the ratio of the seconds
to those of `json.load`.
"""

import argparse
import json
import random
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks import growth_rows, tables
from benchmarks.growth import PYTEST
from benchmarks.processes import Cost, cost_of
from pytest_recsys_mt.report.rows import lines_of

COMMAND = """
import sys
from pytest_recsys_mt.cli import main
main(sys.argv[1:])
"""
"""A comparison that found something ends with a status
of its own, which is no failure here.
"""

PLAIN = "import json, sys; [json.load(open(path, encoding='utf-8')) for path in sys.argv[1:]]"


def changed(path: Path, to: Path, rng: random.Random, users: int = 0) -> None:
    """Write a record again as that of a later night, with other values.

    Args:
        path: Of the record.
        to: Where the other one goes.
        rng: Draws the changes.
        users: If any, every row has values of so many users.
    """
    document: Any = json.loads(path.read_text(encoding="utf-8"))
    document["time"]["started"] = f"{document['time']['started']} {to.stem}"
    for row in document["results"]:
        if values := row["per_user"]:
            low, high = row["reach"]
            drawn = rng.choices([*values.values()], k=users or len(values))
            names = [f"user {number}" for number in range(users)] or [*values]
            moved = (min(high, max(low, value + 0.1 * rng.random())) for value in drawn)
            row["per_user"] = {
                name: round(value, 6) for name, value in zip(names, moved, strict=True)
            }
    with to.open("w", encoding="utf-8") as stream:
        stream.writelines(lines_of(document))


def made(folder: Path, rows: int, users: int) -> Mapping[str, tuple[Path, Path]]:
    """Two records of each shape."""
    base, many, rng = folder / "base.json", folder / "rows-1.json", random.Random(0)
    options = [f"--recsys-json={base}", f"--recsys-cache={folder / 'cache'}"]
    given = [*PYTEST, "--pyargs", "pytest_recsys_mt.suites.metamorphic", *options]
    subprocess.run(given, check=False, stdout=subprocess.DEVNULL)
    growth_rows.multiply(base, many, rows)
    few, wide = (
        folder / "few.json",
        [folder / f"users-{place}.json" for place in (1, 2)],
    )
    growth_rows.multiply(base, few, max(1, rows * 300 // users))
    changed(many, folder / "rows-2.json", rng)
    for path in wide:
        changed(few, path, rng, users)
    return {
        "many rows": (many, folder / "rows-2.json"),
        "many users": (wide[0], wide[1]),
    }


def works(first: Path, second: Path, folder: Path) -> Mapping[str, Sequence[str]]:
    """The command lines for two records, and what each is measured against."""
    program = (sys.executable, "-c", COMMAND)
    one, both = [str(first)], [str(first), str(second)]
    return {
        "json.load of one": (sys.executable, "-c", PLAIN, *one),
        "json.load of two": (sys.executable, "-c", PLAIN, *both),
        "report": (*program, "report", *one, "-o", str(folder / "page.html")),
        "compare": (*program, "compare", *both, "-o", str(folder / "compared.txt")),
        "monitor": (*program, "monitor", *both),
    }


def measured(
    shape: str,
    records: tuple[Path, Path],
    rounds: int,
) -> Iterator[Sequence[str]]:
    """The lines of a table: one a command."""
    commands = works(*records, records[0].parent)
    costs: dict[str, list[Cost]] = {name: [] for name in commands}
    for _ in range(rounds):
        for name, command in commands.items():
            costs[name].append(cost_of(command))
    seconds = {
        name: median(each.seconds for each in found) for name, found in costs.items()
    }
    for name, found in costs.items():
        plain = seconds["json.load of one" if name == "report" else "json.load of two"]
        megabytes = median(each.megabytes for each in found)
        times = "" if name.startswith("json") else f"{seconds[name] / plain:.1f}"
        yield shape, name, f"{seconds[name]:.2f}", times, f"{megabytes:.0f}"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument("--rows", type=int, default=18_000)
    parser.add_argument("--users", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        shapes = made(Path(folder), given.rows, given.users)
        lines = [
            line
            for name, of in shapes.items()
            for line in measured(name, of, given.rounds)
        ]
    for line in tables.table(("record", "command", "s", "times", "MB"), lines):
        print(line)


if __name__ == "__main__":
    main()
