"""How many calls two promises take, and how many more show what is read.

    python -m benchmarks.calls_of_verdicts [--seeds 5]

Ten recommenders are held to two promises, `scale_ratings(2)` and `shuffle_candidates`:
five that always answer alike, and five whose answers vary, two of which read ratings.
The calls that a run sends are counted: those of the verdicts, and those of the controls
of verdicts that hold. Printed are medians over the seeds.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.controls import Reader
from benchmarks.promises import recsys_of
from benchmarks.zoo.taste import Sound
from pytest_recsys_mt import Recommendation, Request, oracles, relations
from pytest_recsys_mt.recommenders import resolve

MODELS: dict[str, Callable[[], object]] = {
    "itemknn": lambda: resolve("itemknn"),
    "userknn": lambda: resolve("userknn"),
    "ease": lambda: resolve("ease"),
    "bm25": lambda: resolve("bm25"),
    "sound": lambda: Sound(0),
    "noise .1": lambda: Sound(0.1),
    "noise .5, reads ratings": lambda: Reader(1.0, 0.5, 0),
    "noise .3": lambda: Sound(0.3),
    "noise 1, reads ratings": lambda: Reader(1.0, 1.0, 0),
    "noise .6": lambda: Sound(0.6),
}


@dataclass
class Counting:
    """A recommender that counts the requests it answers."""

    own: object
    answered: int = 0

    def __getattr__(self, name: str) -> object:
        return getattr(self.own, name)

    def recommend(self, requests: Sequence[Request]) -> list[Recommendation]:
        self.answered += len(requests)
        answers: list[Recommendation] = self.own.recommend(requests)  # type: ignore[attr-defined]
        return answers


def calls(make: Callable[[], object], seed: int) -> tuple[int, int, str]:
    """The calls of the verdicts, those of the controls, and the verdicts."""
    changes = (relations.scale_ratings(2), relations.shuffle_candidates)
    statuses = []
    asked = 0
    for controls in (0, None):
        counting = Counting(make())
        with tempfile.TemporaryDirectory() as folder:
            recsys = recsys_of(
                counting, "m", seed, 200, Path(folder), controls=controls
            )
            statuses = [
                oracles.same_ranking(recsys.run(), recsys.run(change), "rbo", 0.1)
                for change in changes
            ]
        if controls == 0:
            asked = counting.answered
    said = ", ".join(verdict.status for verdict in statuses)
    return asked, counting.answered - asked, said


def main() -> None:
    """Print a line for each recommender, and the medians of both kinds."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument("--seeds", type=int, default=5)
    given = parser.parse_args()
    medians: list[tuple[float, float]] = []
    for name, make in MODELS.items():
        found = [calls(make, seed) for seed in range(given.seeds)]
        verdicts = statistics.median([asked for asked, _, _ in found])
        controls = statistics.median([more for _, more, _ in found])
        medians.append((verdicts, controls))
        said = sorted({each[2] for each in found})
        print(f"{name}: {verdicts:g} + {controls:g} calls; {'; '.join(said)}")
    for kind, part in (("alike", medians[:5]), ("varying", medians[5:])):
        verdicts, controls = (
            statistics.median(column) for column in zip(*part, strict=True)
        )
        print(f"{kind}, median: {verdicts:g} + {controls:g} calls")


if __name__ == "__main__":
    main()
