"""Which skews between a trained recommender and its service `recsys-mt parity` finds,
and whether its report says what the changed lists share.

    python -m benchmarks.skews [--users 200] [--skews NAME ...]
    python -m benchmarks.skews --sound 100

Prints Markdown. With `--sound`, pairs that differ by noise alone, or not at all: how many
are called violated, and how many are red for another reason. Else, of each skew of `benchmarks.zoo.served` the verdict, the calls that were
sent, the share of lists that changed, and whether the first three sentences on what the
changed lists share name the cause (the words of its class).
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

from benchmarks.zoo.served import SKEWS, Trained

ROOT = Path(__file__).resolve().parents[1]


SOUND = {
    "exact": ("Trained", "Copy", 0.0, 0.0),
    "equal noise": ("Noisy", "NoisyCopy", 0.1, 0.1),
    "unequal noise": ("Noisy", "NoisyCopy", 0.05, 0.15),
    "one is noisy": ("Trained", "NoisyCopy", 0.0, 0.02),
}
"""Both sides of a sound pair, and the standard deviations of their noise."""


def parity(
    both: tuple[str, str],
    users: int,
    folder: Path,
    *options: str,
    **environment: str,
) -> dict[str, Any]:
    """The record of one run of the command."""
    record = folder / "record.json"
    record.unlink(missing_ok=True)
    command = "import sys; from pytest_recsys_mt.cli import main; sys.exit(main())"
    done = subprocess.run(
        [
            sys.executable, "-c", command, "parity",
            *(f"benchmarks.zoo.served:{name}" for name in both), f"--users={users}", *options,
            f"--recsys-json={record}", f"--recsys-cache={folder / 'cache'}", "--recsys-mode=refresh",
            "-p", "no:cacheprovider",
        ],
        cwd=ROOT,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )  # fmt: skip
    if not record.exists():
        raise RuntimeError(done.stdout + done.stderr)
    found: dict[str, Any] = json.loads(record.read_text(encoding="utf-8"))
    return found


def skew(kind: type[Trained], users: int, folder: Path) -> tuple[str, int, str, str]:
    """The status, the calls, the share of changed lists, and what these share."""
    both = ("Trained", kind.__name__)
    document = parity(both, users, folder, *kind.asked)
    (row,) = document["results"]
    shared = row["details"].get("shared", {}).get("text", "")
    calls = document["calls"]
    sent = sum(
        int(calls.get(name) or 0) for name in ("made", "again", "controls", "searched")
    )
    return row["status"], sent, str(row["estimate"]), shared


def sound(pairs: int, users: int) -> None:
    """Print what is said of sound pairs."""
    print("| pair | runs | violated | red for another reason |")
    print("|---|---:|---:|---:|")
    for number, (name, (one, other, ours, theirs)) in enumerate(SOUND.items()):
        runs = len(range(number, pairs, len(SOUND)))
        states: Counter[str] = Counter()
        for seed in range(runs):
            with tempfile.TemporaryDirectory() as folder:
                document = parity(
                    (one, other),
                    users,
                    Path(folder),
                    f"--recsys-seed={seed}",
                    SKEWS_SEED=str(seed),
                    SKEWS_NOISE_A=str(ours),
                    SKEWS_NOISE_B=str(theirs),
                )
            (row,) = document["results"]
            is_red = document["gate"]["status"] != "passed"
            states[
                "violated" if row["status"] == "violated" else "red" if is_red else ""
            ] += 1
        print(
            f"| {name} | {runs} | {states['violated']} | {states['red']} |", flush=True
        )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--users", type=int, default=200)
    names = [kind.__name__ for kind in SKEWS]
    parser.add_argument("--skews", nargs="+", choices=names, default=names)
    parser.add_argument("--sound", type=int, metavar="PAIRS")
    given = parser.parse_args()
    if given.sound:
        sound(given.sound, given.users)
        return
    found = named = 0
    print("| skew | verdict | changed | calls | named | what the report says |")
    print("|---|---|---:|---:|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for kind in SKEWS:
            if kind.__name__ not in given.skews:
                continue
            status, calls, mean, shared = skew(kind, given.users, Path(folder))
            is_named = bool(re.search(kind.cause, shared, re.IGNORECASE))
            found += status == "violated"
            named += is_named
            print(
                f"| {kind.__name__} | {status} | {mean} | {calls} | "
                f"{'yes' if is_named else 'no'} | {shared or '-'} |",
                flush=True,
            )
    print(f"\n{found} found, {named} named, of {len(given.skews)}")


if __name__ == "__main__":
    main()
