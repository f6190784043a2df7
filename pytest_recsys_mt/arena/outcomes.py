"""What a judge made of the lists of each user, as numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pytest_recsys_mt.answers import Pairs
from pytest_recsys_mt.arena.arena import Arena
from pytest_recsys_mt.arena.judging import Judgement, Winner
from pytest_recsys_mt.oracles.arrays import Floats
from pytest_recsys_mt.oracles.judging.effect import Effects

POINTS: Mapping[Winner | None, float] = {"A": 1.0, "tie": 0.0, None: 0.0, "B": -1.0}
"""How far a verdict prefers the list shown first; one that cannot be read prefers none."""


@dataclass(frozen=True)
class Outcomes:
    """Comparisons of two recommenders in one aspect, each pair of lists shown in both orders.

    Attributes:
        rows: Which of the users handed in were judged, ``(n,)``.
        shares: Of each user's two judgements those won, tied and lost, ``(n, 3)``.
        unread: Of each user's two judgements those that could not be read, ``(n,)``.
        first: Of the two, how far the list shown first was preferred, ``(n,)`` in [-1, 1].
        errors: Why further users were not judged, with how many.
    """

    rows: NDArray[np.intp]
    shares: Floats
    unread: Floats
    first: Floats
    errors: Mapping[str, int]

    @property
    def preference(self) -> Floats:
        """Won less lost, ``(n,)`` in [-1, 1]."""
        return self.shares[:, 0] - self.shares[:, 2]

    def effects(self, error_limit: float) -> Effects:
        """As a verdict is made from them.

        Args:
            error_limit: The largest share of judgements that may not be read. They count for neither
                side, so that many of them would make any two recommenders look alike.
        """
        unread = float(self.unread.mean()) if len(self.rows) else 0.0
        obstacle, note = "", ""
        if unread > error_limit:
            obstacle = (
                f"{unread:.1%} of the judge's verdicts cannot be read, the limit is "
                f"{error_limit:.1%}; a judge that answers by choosing, or an endpoint that takes a "
                f"JSON schema, leaves none"
            )
        elif unread:
            note = f"{unread:.1%} of the verdicts could not be read and count for neither"
        return Effects(
            rows=self.rows,
            effect=self.preference,
            reach=(-1.0, 1.0),
            errors=self.errors,
            obstacle=obstacle,
            note=note,
        )


def outcomes(arena: Arena, pairs: Pairs, aspect: str) -> Outcomes:
    """Have the lists of each user judged in both orders.

    Args:
        arena: The judge and the lists.
        pairs: The answers of both recommenders.
        aspect: Of the arena, or `judging.OVERALL`.
    """
    shown = [
        arena.comparison(one, arena.items(one), arena.items(two))
        for one, two in zip(pairs.source, pairs.followup, strict=True)
    ]
    both = [each for comparison in shown for each in (comparison, comparison.turned)]
    judgements = arena.bench.judged(both)
    rows, shares, unread, first = [], [], [], []
    errors = Counter[str]()
    for row, (one, two) in enumerate(zip(judgements[::2], judgements[1::2], strict=True)):
        failed = one.error or two.error
        if failed:
            errors[failed] += 1
            continue
        rows.append(row)
        own = [one.winner(aspect), two.turned.winner(aspect)]
        shares.append([own.count(winner) / 2 for winner in ("A", "tie", "B")])
        unread.append(own.count(None) / 2)
        first.append((_points(one, aspect) + _points(two, aspect)) / 2)
    return Outcomes(
        np.array(rows, np.intp),
        np.array(shares, np.float64).reshape(-1, 3),
        np.array(unread, np.float64),
        np.array(first, np.float64),
        errors,
    )


def _points(judgement: Judgement, aspect: str) -> float:
    return POINTS[judgement.winner(aspect)]
