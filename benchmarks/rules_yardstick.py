"""Association rules by mlxtend or pyfim, for an environment that has these and nothing
of ours.

    python rules_yardstick.py METHOD HISTORIES.npz RULES.npy

reads what `benchmarks.lrworld` wrote, mines all rules between two items with a support
and a confidence of `LEAST`, writes them as rows (antecedent, consequent, histories with
both), sorted, and prints one line of JSON: seconds of the processor, and the MiB by
which memory grew at its peak. METHOD is ``mlxtend.apriori``, ``mlxtend.fpgrowth`` or
``pyfim``; each gets its input in the form that it likes best, made before the clock
starts.
"""

from __future__ import annotations

import itertools
import json
import os

for library in ("OMP", "OPENBLAS", "MKL"):
    os.environ[f"{library}_NUM_THREADS"] = "1"

import sys
import time
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

LEAST = 0.01


def memory(name: str) -> float:
    """A line of the process's status, in MiB: ``VmRSS`` now, ``VmHWM`` at the peak."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(
        int(line.split()[1]) / 1024 for line in lines if line.startswith(f"{name}:")
    )


def measured(work: Callable[[], Any]) -> tuple[Any, dict[str, float]]:
    """What `work` gives, and what it took."""
    Path("/proc/self/clear_refs").write_text("5")  # the peak counts from here
    before, start = memory("VmRSS"), time.process_time()
    found = work()
    return found, {
        "seconds": time.process_time() - start,
        "mib": memory("VmHWM") - before,
    }


def of_mlxtend(
    method: str,
    columns: np.ndarray,
    starts: np.ndarray,
) -> tuple[Any, dict[str, float]]:
    import pandas as pd

    frequent_patterns = import_module("mlxtend.frequent_patterns")
    users = len(starts) - 1
    table = np.zeros((users, int(columns.max()) + 1), dtype=np.bool_)
    table[np.repeat(np.arange(users), np.diff(starts)), columns] = True
    frame = pd.DataFrame(table)

    def work() -> Any:
        mine = getattr(frequent_patterns, method)
        sets = mine(frame, min_support=LEAST, max_len=2)
        return frequent_patterns.association_rules(
            sets,
            metric="confidence",
            min_threshold=LEAST,
        )

    found, cost = measured(work)
    sides = [
        [next(iter(side)) for side in found[name].to_list()]
        for name in ("antecedents", "consequents")
    ]
    return np.column_stack([*sides, np.rint(found["support"] * users)]), cost


def of_pyfim(columns: np.ndarray, starts: np.ndarray) -> tuple[Any, dict[str, float]]:
    fim = import_module("fim")
    histories = [columns[a:b].tolist() for a, b in itertools.pairwise(starts)]

    def work() -> Any:
        # mode "o": support is that of both sides, as everywhere else, not that of one.
        return fim.fpgrowth(
            histories,
            target="r",
            supp=100 * LEAST,
            conf=100 * LEAST,
            zmin=2,
            zmax=2,
            report="a",
            mode="o",
        )

    found, cost = measured(work)
    rows = [
        (antecedent[0], consequent, count) for consequent, antecedent, count in found
    ]
    return np.array(rows), cost


def main(method: str, histories: str, rules: str) -> None:
    given = np.load(histories)
    columns, starts = given["columns"], given["starts"]
    if method == "pyfim":
        found, cost = of_pyfim(columns, starts)
    else:
        found, cost = of_mlxtend(method.removeprefix("mlxtend."), columns, starts)
    found = np.asarray(found, dtype=np.int64).reshape(-1, 3)
    np.save(rules, found[np.lexsort((found[:, 1], found[:, 0]))])
    print(json.dumps(cost))


if __name__ == "__main__":
    main(*sys.argv[1:])
