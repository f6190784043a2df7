"""How often a recommender is said not to read ratings, by how much it reads them.

    python -m benchmarks.controls [--seeds 100] [--users 200]

"It does not read ratings" is a claim about all users: less than 5 % of the answers of a
deterministic recommender change under `invert_ratings`, or those of another one lose
less than 0.05 of agreement beyond noise. Where a share of the users is read that makes
this untrue, the claim may be made in at most a share alpha of all runs.
"""

import argparse
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

from benchmarks.promises import recsys_of
from pytest_recsys_mt import Recommendation, Request
from pytest_recsys_mt.engine.controls import unread
from pytest_recsys_mt.relations import scale_ratings


@dataclass(frozen=True)
class Reader:
    """Answers by the items of a history, and for a share of the users by its ratings
    too.

    Attributes:
        share: Share of the users whose ratings it reads.
        heat: Standard deviation of its noise, in standard deviations of its scores; 0
            for none.
        seed: Decides whose ratings it reads.
    """

    share: float
    heat: float
    seed: int

    @property
    def deterministic(self) -> bool:
        """Whether it has no noise."""
        return not self.heat

    def recommend(self, requests: Sequence[Request], /) -> list[Recommendation]:
        """A list for each request."""
        return [Recommendation(self._answer(request)) for request in requests]

    def _answer(self, request: Request) -> tuple[str, ...]:
        history = [
            (rating.item.id, round(request.scale.unit(rating.value), 6))
            for rating in request.history
        ]
        read = Random(f"{self.seed} {request.user}").random() < self.share
        taste = Random(repr(history if read else [item for item, _ in history]))
        noise = Random(f"{request.replicate} {request.user} {request.scale} {history}")
        scores = {
            item: taste.gauss() + self.heat * noise.gauss()
            for item in sorted(item.id for item in request.candidates or ())
        }
        return tuple(
            sorted(scores, key=lambda item: (-scores[item], item))[: request.k],
        )


def called_unread(share: float, heat: float, seed: int, users: int) -> bool:
    """Whether one run says that the reader does not read ratings."""
    with tempfile.TemporaryDirectory() as folder:
        recsys = recsys_of(
            Reader(share, heat, seed),
            "reader",
            seed,
            users,
            Path(folder),
        )
        return unread(recsys.run(), recsys.run(scale_ratings(2))) is not None


def main() -> None:
    """Print a line for each reader."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument("--seeds", type=int, default=100)
    parser.add_argument("--users", type=int, default=200)
    given = parser.parse_args()
    for heat in (0.0, 0.5):
        for share in (0.0, 0.05, 0.1, 0.15, 0.2):
            told = sum(
                called_unread(share, heat, seed, given.users)
                for seed in range(given.seeds)
            )
            print(
                f"heat {heat:g}, reads {share:.0%} of users: unread in {told} of {given.seeds}",
                flush=True,
            )


if __name__ == "__main__":
    main()
