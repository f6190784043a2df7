"""The recommender of docs/measured/other-tools.md, in plain Python, so that every
tool's environment can import it.

An item-kNN on 300 made-up users and 60 items ranks 20 candidates and answers with ten.
*exact* is deterministic. *noisy* adds noise of a standard deviation of 0.15 to each
score of each answer. *biased* adds the same noise, and a bonus for early candidates.
"""

import math
import random
from collections import Counter
from collections.abc import Sequence

USERS, ITEMS, OFFERED, K = 300, 60, 20, 10
NOISE, BONUS = 0.15, 0.75
KINDS = ("exact", "noisy", "biased")


class Shop:
    """Answers one kind of user question, with noise that a seed determines.

    Args:
        kind: One of `KINDS`.
        seed: Of the noise.
    """

    def __init__(self, kind: str, seed: int = 0) -> None:
        self.kind = kind
        self.draw = random.Random(f"{kind} {seed}")
        make = random.Random(0)
        self.histories = []
        for _ in range(USERS):
            group = make.randrange(4)
            weights = [3.0 if item % 4 == group else 1.0 for item in range(ITEMS)]
            chosen: set[int] = set()
            while len(chosen) < 12:
                chosen.update(make.choices(range(ITEMS), weights))
            self.histories.append(sorted(chosen))
        self.offers = [
            make.sample([item for item in range(ITEMS) if item not in history], OFFERED)
            for history in self.histories
        ]
        self.similarity = self._cosines()

    def _cosines(self) -> dict[tuple[int, int], float]:
        counts: Counter[int] = Counter()
        both: Counter[tuple[int, int]] = Counter()
        for history in self.histories:
            counts.update(history)
            both.update(
                (one, other) for one in history for other in history if one != other
            )
        return {
            pair: number / math.sqrt(counts[pair[0]] * counts[pair[1]])
            for pair, number in both.items()
        }

    def recommend(self, user: int, candidates: Sequence[int]) -> tuple[int, ...]:
        """The ids of ten candidates, best first."""
        return self.rank(self.histories[user], candidates)

    def rank(
        self,
        history: Sequence[int],
        candidates: Sequence[int],
    ) -> tuple[int, ...]:
        """The same for any history."""
        sums = [
            sum(self.similarity.get((each, item), 0) for each in history)
            for item in candidates
        ]
        low, high = min(sums), max(sums)
        scores = [(each - low) / (high - low or 1) for each in sums]
        if self.kind != "exact":
            scores = [each + self.draw.gauss(0, NOISE) for each in scores]
        if self.kind == "biased":
            last = max(1, len(scores) - 1)
            scores = [
                each + BONUS * (1 - place / last) for place, each in enumerate(scores)
            ]
        ranked = sorted(
            zip(scores, candidates, strict=True),
            key=lambda each: (-each[0], each[1]),
        )
        return tuple(item for _, item in ranked[:K])


def shared(one: Sequence[int], other: Sequence[int]) -> int:
    """How many of ten items two lists share."""
    return len(set(one) & set(other))


def shuffled(candidates: Sequence[int], seed: str) -> list[int]:
    """The same candidates in another order."""
    return random.Random(seed).sample(list(candidates), len(candidates))
