"""Whether default runs of sound recommenders pass: those that answer with honest noise, and no fault.

    python -m benchmarks.sound --seeds 20

Each line is the number of runs whose gate passes, of so many seeds. The recommender is ``itemknn`` with Gumbel noise
on its scores, in units of their deviation over the catalogue.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import ClassVar

from pytest_recsys_mt.datasets.dataset import Dataset
from pytest_recsys_mt.recommenders.knn import ItemKNN
from pytest_recsys_mt.recommenders.ranking import Floats
from pytest_recsys_mt.requests import Request
from pytest_recsys_mt.seeds import generator

LEVELS = (0.0, 0.1, 0.3, 0.6, 1.0)


@dataclasses.dataclass(eq=False)
class NoisyKNN(ItemKNN):
    """`ItemKNN` whose scores have noise that is drawn anew for each request and replicate."""

    key: ClassVar[str] = "noisy"
    noise: float = 0.0

    def learn(self, dataset: Dataset, seed: int) -> None:
        """Find each item's nearest items, and take the seed of the noise."""
        self.seed = seed
        super().learn(dataset, seed)

    @property
    def deterministic(self) -> bool:  # type: ignore[override]
        """Whether it has no noise."""
        return not self.noise

    def score(self, requests: Sequence[Request]) -> Floats:
        """Weighted similarity to the history, with noise."""
        scores = super().score(requests)
        for row, request in enumerate(requests if self.noise else ()):
            said = [(rating.item.id, rating.value) for rating in request.history]
            offered = [item.id for item in request.candidates or ()]
            draw = generator(
                self.seed, "noise", request.user, request.k, f"{said} {offered}", request.replicate
            )
            scores[row] += draw.gumbel(size=scores.shape[1]) * self.noise * scores[row].std()
        return scores


def run(noise: float, seed: int, users: int, folder: Path) -> tuple[str, list[str]]:
    """The gate of one default run, and its rows that are not green.

    Args:
        noise: Of the recommender.
        seed: The seed of the run.
        users: ``--recsys-users``.
        folder: For its files.
    """
    model, record = folder / f"noise_{noise}.py", folder / f"{noise}-{seed}.json"
    source = f"from benchmarks.sound import NoisyKNN\n\ndef Model():\n    return NoisyKNN(noise={noise})\n"
    model.write_text(source, encoding="utf-8")
    command = [
        sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--pyargs", "pytest_recsys_mt.suites",
        f"--recsys-model={model}:Model", f"--recsys-seed={seed}", f"--recsys-users={users}", f"--recsys-json={record}",
        f"--recsys-cache={folder / 'cache'}", f"--rootdir={folder}",
    ]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if not record.exists():
        raise RuntimeError(done.stdout[-2000:] + done.stderr[-2000:])
    document = json.loads(record.read_text(encoding="utf-8"))
    red = [
        f"{row['status']} {row['relation'] or row.get('metric') or row['oracle']}"
        for row in document["results"]
        if row["status"] in ("violated", "inconclusive", "error")
    ]
    return document["gate"]["status"], red


def main() -> None:
    """Print a line per cell."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--users", type=int, default=200)
    parser.add_argument("--processes", type=int, default=2)
    given = parser.parse_args()
    with (
        tempfile.TemporaryDirectory() as folder,
        ThreadPoolExecutor(given.processes) as pool,
    ):
        for noise in LEVELS:
            found = list(
                pool.map(
                    lambda seed, noise=noise: run(noise, seed, given.users, Path(folder)),
                    range(given.seeds),
                )
            )
            passed = sum(gate == "passed" for gate, _ in found)
            red = Counter(row for _, rows in found for row in rows)
            print(f"noise {noise:g}: {passed} of {given.seeds} pass; {dict(red)}", flush=True)


if __name__ == "__main__":
    main()
