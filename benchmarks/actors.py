"""How the time of a run falls with the number of Ray's actors, and what they cost.

    python -m benchmarks.actors [--actors 1 2 4 8] [--seconds 0.05] [--rounds 1]

A node of Ray on this machine, of eight cores by name. A recommender takes
`--seconds` for each request, one at a time, and computes nothing: as one whose model
runs on a device of its own. A test asks all 400 users of the embedded data, and each
number of actors takes its turn, with none (the run's own process) last. Waiting is what
is measured, so seconds are by the clock, and the machine must be at rest. The ideal is
all calls at `--seconds` each, divided by the actors. Beginning is the time to the first
request: actors that start, import the package and fit the recommender.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

from benchmarks import tables

SLOW = """
import os, time
from pathlib import Path
from pytest_recsys_mt import Recommendation


class Slow:
    deterministic = True
    version = "1"

    def recommend(self, requests):
        answers = []
        for request in requests:
            time.sleep({seconds})
            with Path({log!r}).open("a") as log:
                log.write(f"{{os.getpid()}} {{time.time()}}\\n")
            answers.append(Recommendation(tuple(each.id for each in request.candidates[: request.k])))
        return answers
"""

TEST = """
from pytest_recsys_mt.oracles import complete_list


def test_all_are_asked(recsys):
    answers = recsys.run()
    assert len(answers.sample().asked) == 400
    assert complete_list(answers, margin=0.1)
"""

CORES = 8
"""Of the node, by name: actors that wait need none."""


class Run(NamedTuple):
    """One run of the test.

    Attributes:
        seconds: By the clock, of the whole run.
        beginning: Seconds to the first answer.
        processes: Those that answered.
    """

    seconds: float
    beginning: float
    processes: int


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--actors", type=int, nargs="+", default=[1, 2, 4, 8])
    parser.add_argument("--seconds", type=float, default=0.05)
    parser.add_argument("--rounds", type=int, default=1)
    given = parser.parse_args()
    cluster = _cluster()
    rows: dict[int, list[Run]] = {}
    try:
        for _ in range(given.rounds):
            for actors in [*given.actors, 0]:
                row = _run(cluster.address, actors, given.seconds)
                rows.setdefault(actors, []).append(row)
    finally:
        cluster.shutdown()
    print(_table(rows, given.seconds))


def _cluster() -> Any:
    from ray.cluster_utils import Cluster

    options: Any = {"num_cpus": CORES, "object_store_memory": 80_000_000}
    return Cluster(
        initialize_head=True,
        head_node_args={"include_dashboard": False, **options},
    )


def _run(address: str, actors: int, seconds: float) -> Run:
    """Run the test once; 0 actors stand for the run's own process."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        log = folder / "answers.log"
        (folder / "slow.py").write_text(SLOW.format(seconds=seconds, log=str(log)))
        (folder / "test_slow.py").write_text(TEST)
        spec = "slow.py:Slow"
        options = ["--recsys-users=400", "--recsys-json=record.json"]
        if actors:
            spec += f"?cpus={CORES // actors}"
            options += ["-o", "recsys_executor=ray"]
        environment = {
            **os.environ,
            "RAY_ADDRESS": address,
            "XDG_CACHE_HOME": str(folder / "cache"),
        }
        begun = time.time()
        done = subprocess.run(
            [sys.executable, "-m", "pytest", "-q", f"--recsys-model={spec}", *options],
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        taken = time.time() - begun
        if done.returncode:
            raise SystemExit(done.stdout + done.stderr)
        calls = json.loads((folder / "record.json").read_text())["calls"]
        assert calls["made"] == 400, calls
        lines = [line.split() for line in log.read_text().splitlines()]
        first = min(float(when) for _, when in lines) - begun
        return Run(taken, first, len({pid for pid, _ in lines}))


def _table(rows: dict[int, list[Run]], seconds: float) -> str:
    lines = []
    for actors, some in rows.items():
        taken = median(run.seconds for run in some)
        first = median(run.beginning for run in some)
        ideal = 400 * seconds / (actors or 1)
        name = str(actors) if actors else "none, in the run's process"
        used = str(max(run.processes for run in some))
        lines.append(
            [
                name,
                used,
                f"{taken:.1f}",
                f"{first:.1f}",
                f"{(taken - first) / ideal:.2f}",
                f"{taken / ideal:.2f}",
            ]
        )
    head = (
        "actors",
        "answered",
        "seconds",
        "to the first answer",
        "the rest, of the ideal",
        "all, of the ideal",
    )
    return "\n".join(tables.table(head, lines))


if __name__ == "__main__":
    main()
