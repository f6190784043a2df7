"""Which skews between a trained recommender and its service `recsys-mt parity` finds,
and whether its report says what the changed lists share.

    python -m benchmarks.skews [--users 200] [--skews NAME ...]

Prints Markdown: of each skew of `benchmarks.zoo.served` the verdict, the calls that were
sent, the share of lists that changed, and whether the first three sentences on what the
changed lists share name the cause (the words of its class).
"""

import argparse
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.zoo.served import SKEWS, Trained

ROOT = Path(__file__).resolve().parents[1]


def run(name: str, users: int, folder: Path) -> tuple[str, int, str, str]:
    """The status, the calls, the summary and what the changed lists share."""
    kind = next(each for each in (Trained, *SKEWS) if each.__name__ == name)
    record = folder / f"{name}.json"
    command = "import sys; from pytest_recsys_mt.cli import main; sys.exit(main())"
    done = subprocess.run(
        [
            sys.executable, "-c", command, "parity", "benchmarks.zoo.served:Trained",
            f"benchmarks.zoo.served:{name}", f"--users={users}", *kind.asked,
            f"--recsys-json={record}", f"--recsys-cache={folder / name}", "-p", "no:cacheprovider",
        ],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )  # fmt: skip
    if not record.exists():
        raise RuntimeError(done.stdout + done.stderr)
    document = json.loads(record.read_text(encoding="utf-8"))
    (row,) = document["results"]
    shared = row["details"].get("shared", {}).get("text", "")
    (folder / f"{name}.txt").write_text(done.stdout, encoding="utf-8")
    calls = document["calls"]
    sent = sum(
        int(calls.get(name) or 0) for name in ("made", "again", "controls", "searched")
    )
    return row["status"], sent, str(row["estimate"]), shared


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--users", type=int, default=200)
    names = [kind.__name__ for kind in SKEWS]
    parser.add_argument("--skews", nargs="+", choices=names, default=names)
    given = parser.parse_args()
    found = named = 0
    print("| skew | verdict | changed | calls | named | what the report says |")
    print("|---|---|---:|---:|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for kind in SKEWS:
            if kind.__name__ not in given.skews:
                continue
            status, calls, mean, shared = run(kind.__name__, given.users, Path(folder))
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
