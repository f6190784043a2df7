"""gemtest: one relation by equality and one by "7 of 10 agree", each a test for each of
40 users.

All runs are in one session of pytest, because gemtest takes seconds to start.
"""

import functools
import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

from experiment import KINDS

SEEDS = 20

CASES = """
import json
import os
from functools import cache
import gemtest as gmt
from experiment import Shop, shared, shuffled

# Not tuples, which gemtest takes for several arguments.
OFFERS = Shop("exact").offers
CASES = [
    {"kind": kind, "seed": seed, "user": user, "candidates": OFFERS[user]}
    for kind, seed in json.loads(os.environ["ASKED"])
    for user in range(40)
]
equality = gmt.create_metamorphic_relation(name="equality", data=CASES)
most = gmt.create_metamorphic_relation(name="7 of 10", data=CASES)
shop = cache(Shop)


def noted(relation, source, agree):
    with open(os.environ["NOTES"], "a") as notes:
        notes.write(json.dumps([relation, source["kind"], source["seed"], agree]) + "\\n")
    return agree


@gmt.transformation(equality, most)
def shuffle(case):
    return {**case, "candidates": shuffled(case["candidates"], f"{case['seed']} {case['user']}")}


@gmt.relation(equality)
def equal(source, followup):
    return noted("equality", source, source["items"] == followup["items"])


@gmt.relation(most)
def alike(source, followup):
    return noted("7 of 10", source, shared(source["items"], followup["items"]) >= 7)


@gmt.system_under_test(equality, most)
def test_order(case):
    items = list(shop(case["kind"], case["seed"]).recommend(case["user"], case["candidates"]))
    return {**case, "items": items}
"""


@functools.cache
def failures() -> Counter[tuple[str, str, int]]:
    """How many users fail, by relation, kind and seed."""
    asked = [(kind, 0) for kind in KINDS] + [
        ("noisy", seed) for seed in range(1, SEEDS)
    ]
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "test_order.py").write_text(CASES, encoding="utf-8")
        notes = Path(folder, "notes")
        given = {
            "ASKED": json.dumps(asked),
            "NOTES": str(notes),
            "PYTHONPATH": str(Path(__file__).parent),
        }
        done = subprocess.run(
            [sys.executable, "-m", "pytest", "-q", "--tb=no", "-p", "no:cacheprovider", folder],
            env={**os.environ, **given}, capture_output=True, text=True, check=False,
        )  # fmt: skip
        rows = [
            json.loads(line) for line in notes.read_text(encoding="utf-8").splitlines()
        ]
    failed = Counter(
        (name, kind, seed) for name, kind, seed, agree in rows if not agree
    )
    if (
        len(rows) != 80 * len(asked)
        or f"{sum(failed.values())} failed" not in done.stdout
    ):
        raise RuntimeError(done.stdout + done.stderr)
    return failed


def ask(kind: str, seed: int) -> dict[str, Any]:
    """Of 40 tests, with each relation, how many failed."""
    numbers = {name: failures()[name, kind, seed] for name in ("equality", "7 of 10")}
    return {
        name: {"red": number > 0, "users": number} for name, number in numbers.items()
    }
