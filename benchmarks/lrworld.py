"""How long it takes to make all LRWorld questions, how that grows, and rules beside
other miners.

    python -m benchmarks.lrworld [--shapes small 1m 25m] [--count 1000]
        [--yardstick ../with-mlxtend-and-pyfim/bin/python] [--limit 900]

makes questions of every kind from simulated data of the shapes of MovieLens
latest-small, 1M and 25M, each in a process of its own. Items have every attribute that
a question can ask about. The exponent is the slope of log seconds over log interactions
between one shape and the next. ``--yardstick`` names the interpreter of an environment
that has mlxtend and pyfim, for the rules; a method that has not ended after ``--limit``
seconds is left out, and so is mlxtend where its table of candidates would not fit into
the memory there is. Seconds are those of the processor, on one thread.
"""

import argparse
import json
import os

for library in ("OMP", "OPENBLAS", "MKL"):
    os.environ[f"{library}_NUM_THREADS"] = "1"

import math
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.rules_yardstick import LEAST, measured, memory
from pytest_recsys_mt.datasets.dataset import Dataset
from pytest_recsys_mt.requests import Item, Scale
from pytest_recsys_mt.suites.lrworld import generate
from pytest_recsys_mt.suites.lrworld.histories import Histories
from pytest_recsys_mt.suites.lrworld.rules import mine

SHAPES = {
    "small": (610, 9_724, 100_836),
    "1m": (6_040, 3_706, 1_000_209),
    "25m": (162_541, 59_047, 25_000_095),
}
"""Users, items and interactions."""

METHODS = {"small": ("mlxtend.apriori", "mlxtend.fpgrowth", "pyfim"), "1m": ("pyfim",)}
"""Beside ours. mlxtend asks for 38 GiB for the shape of MovieLens 1M."""

YARDSTICK = Path(__file__).with_name("rules_yardstick.py")


def simulate(users: int, items: int, interactions: int) -> Dataset:
    """Histories with a Zipf-like popularity and a log-normal
    activity; items have every attribute.
    """
    rng = np.random.default_rng(0)
    activity = np.cumsum(rng.lognormal(0, 1, users))
    popularity = np.cumsum(1 / (np.arange(items) + 20) ** 0.9)
    pairs = np.empty(0, dtype=np.int64)
    while len(pairs) < interactions:
        size = 2 * (interactions - len(pairs)) + 1000
        user = np.searchsorted(activity, rng.random(size) * activity[-1])
        item = np.searchsorted(popularity, rng.random(size) * popularity[-1])
        pairs = np.unique(np.concatenate([pairs, user * items + item]))
    pairs = rng.permutation(pairs)[:interactions]
    names = [
        pd.Index([str(number) for number in range(count)]) for count in (users, items)
    ]
    frame = pd.DataFrame(
        {
            "user": pd.Categorical.from_codes(pairs // items, names[0]),
            "item": pd.Categorical.from_codes(pairs % items, names[1]),
            "rating": np.ones(interactions),
            "timestamp": np.arange(interactions),
        },
    )
    return Dataset(
        "simulated",
        {name: _item(name) for name in names[1]},
        frame,
        Scale(),
    )


def _item(name: str) -> Item:
    number = int(name)
    kind = (number % 18, number % 311, number % 494)
    attributes = {
        "genres": (f"genre {number % 20}", f"genre {number % 19}"),
        "directors": (f"director {number % 1853}",),
        "cast": tuple(f"actor {(number * step) % 11919}" for step in (1, 3, 7)),
        "brand": f"brand {number % 70}",
        "colour": f"colour {number % 385}",
        "categories": (f"root {kind[0]}", f"branch {kind[1]}", f"leaf {kind[2]}"),
        "logline": f"The sentence on film {number}.",
        "image_description": f"A picture of number {number}.",
        "image": f"{number}.png",
    }
    return Item(name, f"Title {number}", 1900 + number % 120, attributes)


def questions(shape: str, count: int) -> dict[str, Any]:
    """Make all questions of one shape, in this process."""
    dataset = simulate(*SHAPES[shape])
    with tempfile.TemporaryDirectory() as folder:
        start = time.process_time()
        made = generate(dataset, count=count, folder=Path(folder))
    return {
        "seconds": time.process_time() - start,
        "peak": memory("VmHWM"),
        "questions": Counter(question.measure for question in made.questions),
        "skipped": dict(made.skipped),
    }


def rules(scratch: str) -> dict[str, Any]:
    """Mine rules in this process, from histories on disk as the others do."""
    given = np.load(Path(scratch, "histories.npz"))
    items = tuple(Item(str(number)) for number in range(int(given["items"])))
    histories = Histories(items, given["columns"], given["starts"], 1)
    found, cost = measured(lambda: mine(histories, LEAST, LEAST))
    rows = np.column_stack([found.antecedent, found.consequent, found.together]).astype(
        np.int64,
    )
    np.save(Path(scratch, "ours.npy"), rows)
    return cost


def elsewhere(*command: str, limit: float | None = None) -> dict[str, Any] | str:
    """What a process prints as JSON, or why it did not."""
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            timeout=limit,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return f"not done after {limit:.0f} s"
    if done.returncode:
        return (done.stderr.strip() or f"ended with {done.returncode}").splitlines()[-1]
    result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return result


def compare(shape: str, yardstick: str, limit: float) -> None:
    """Print the rules of one shape by all methods, in turn."""
    with tempfile.TemporaryDirectory() as scratch:
        made = Histories.of(simulate(*SHAPES[shape]), 1)
        np.savez(
            Path(scratch, "histories.npz"),
            columns=made.columns,
            starts=made.starts,
            items=np.array(len(made.items)),
        )
        ours = elsewhere(
            sys.executable,
            "-m",
            "benchmarks.lrworld",
            "--only-rules",
            scratch,
        )
        if isinstance(ours, str):
            print(f"{shape:6} ours: {ours}")
            return
        expected = np.load(Path(scratch, "ours.npy"))
        print(
            f"{shape:6} {'ours':18} {ours['seconds']:8.2f} s {ours['mib']:8.0f} MiB",
            end="",
        )
        print(f"  {len(expected)} rules")
        for method in METHODS.get(shape, ()):
            places = [
                str(Path(scratch, name)) for name in ("histories.npz", "theirs.npy")
            ]
            cost = elsewhere(yardstick, str(YARDSTICK), method, *places, limit=limit)
            if isinstance(cost, str):
                print(f"{shape:6} {method:18} {cost}")
                continue
            same = np.array_equal(np.load(places[1]), expected)
            print(
                f"{shape:6} {method:18} {cost['seconds']:8.2f} s {cost['mib']:8.0f} MiB"
                f"  {'the same rules' if same else 'OTHER RULES'}, "
                f"{cost['seconds'] / ours['seconds']:.1f} times as long, "
                f"{cost['mib'] / ours['mib']:.1f} times as large",
                flush=True,
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument("--shapes", nargs="+", choices=SHAPES, default=["small", "1m"])
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--yardstick", metavar="PYTHON")
    parser.add_argument("--limit", type=float, default=900, metavar="SECONDS")
    parser.add_argument("--no-questions", action="store_true", help="rules alone")
    parser.add_argument("--only-questions", metavar="SHAPE", help=argparse.SUPPRESS)
    parser.add_argument("--only-rules", metavar="FOLDER", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.only_questions:
        print(json.dumps(questions(given.only_questions, given.count)))
        return
    if given.only_rules:
        print(json.dumps(rules(given.only_rules)))
        return
    last: tuple[int, float] | None = None
    for shape in () if given.no_questions else given.shapes:
        command = (
            sys.executable,
            "-m",
            "benchmarks.lrworld",
            "--only-questions",
            shape,
        )
        cost = elsewhere(*command, "--count", str(given.count))
        if isinstance(cost, str):
            raise SystemExit(f"{shape}: {cost}")
        size = SHAPES[shape][2]
        line = f"{shape:6} {sum(cost['questions'].values())} questions of "
        line += f"{len(cost['questions'])} kinds: {cost['seconds']:.1f} s, "
        line += f"{cost['peak']:.0f} MiB at the peak, data included"
        if last is not None:
            slope = math.log(cost["seconds"] / last[1]) / math.log(size / last[0])
            line += f"; exponent {slope:.2f}"
        last = (size, cost["seconds"])
        print(line, flush=True)
        for name, reason in cost["skipped"].items():
            print(f"       {name}: {reason}")
    if given.yardstick:
        for shape in given.shapes:
            compare(shape, given.yardstick, given.limit)


if __name__ == "__main__":
    main()
