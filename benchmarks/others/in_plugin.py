"""This plugin: `same_ranking` by overlap under `shuffle_candidates` with a margin of
0.05, on the histories as data.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from experiment import Shop

TEST = """
from pytest_recsys_mt import metamorphic
from pytest_recsys_mt.oracles import same_ranking
from pytest_recsys_mt.relations import shuffle_candidates


@metamorphic(shuffle_candidates)
def test_order(source, followup):
    assert same_ranking(source, followup, similarity="overlap", margin=0.05)
"""


def ask(kind: str, seed: int) -> dict[str, Any]:
    """The verdict, with the users that were asked."""
    here = Path(__file__).parent
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "test_order.py").write_text(TEST, encoding="utf-8")
        rows = [
            f"{user},{item}"
            for user, had in enumerate(Shop("exact").histories)
            for item in had
        ]
        (folder / "sales.csv").write_text(
            "\n".join(["user,item", *rows]),
            encoding="utf-8",
        )
        done = subprocess.run(
            [
                sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_order.py",
                f"--recsys-model={here / 'shop.py'}:Asked", "--recsys-data=sales.csv", f"--recsys-seed={seed}",
                "--recsys-json=record.json", "--recsys-cache=cache", "--recsys-keep=no", "--recsys-shrink=0",
            ],
            env={**os.environ, "KIND": kind, "SEED": str(seed), "PYTHONPATH": f"{here}:{os.environ['PYTHONPATH']}"},
            capture_output=True, text=True, check=False, cwd=folder,
        )  # fmt: skip
        if not (folder / "record.json").exists():
            raise RuntimeError(done.stdout + done.stderr)
        record = json.loads((folder / "record.json").read_text(encoding="utf-8"))
    (row,) = record["results"]
    return {
        "verdict": {
            "red": row["status"] != "holds",
            "status": row["status"],
            "users": row["users"],
        },
    }
