"""A judge's verdicts on the lists of each user, as numbers."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pytest_recsys_mt.oracles.arrays import Floats
from pytest_recsys_mt.oracles.judging.effect import Effects, places_of
from pytest_recsys_mt.oracles.statistics.betting import Bets
from pytest_recsys_mt.oracles.statistics.q_score import q_in_words, q_interval, q_score
from pytest_recsys_mt.suites.arena.arena import Arena
from pytest_recsys_mt.suites.arena.judging import Winner
from pytest_recsys_mt.verdict.answers import Pairs

ORDERS = 2
"""Each pair of lists is shown in both orders."""

POINTS: Mapping[Winner | None, float] = {"A": 1.0, "tie": 0.0, None: 0.0, "B": -1.0}
"""How far a verdict prefers the list shown first; an unreadable one prefers none."""

WAYS = ("won", "tied", "lost")


@dataclass(frozen=True)
class Outcomes:
    """Comparisons of two recommenders in one aspect, each pair of lists shown in both
    orders.

    `each` says whether a user's two judgements were won, tied and lost, ``(n, 2, 3)``:
    ours shown first, then shown second; nothing if it could not be read.
    """

    rows: NDArray[
        np.intp
    ]  # positions of the judged users among the given ones, ``(n,)``
    each: Floats
    unread: Floats  # share of the two that could not be read, ``(n,)``
    first: Floats  # how far the two prefer the list shown first, ``(n,)`` in [-1, 1]
    # By error, the positions of the users of whom the judge's calls failed.
    failed: Mapping[str, Sequence[int]]
    unclear: tuple[str, ...]  # the judged users of whom a judgement could not be read
    # Before which clear user each one stands who is unclear or has no list.
    unknown: tuple[int, ...]

    @property
    def mean(self) -> Bets:
        """The estimate of the mean preference of all users."""
        return Bets(self.preference[self.unread == 0], -1.0, 1.0, self.unknown)

    @property
    def opposite(self) -> Bets:
        """That of the other recommender."""
        return Bets(-self.preference[self.unread == 0], -1.0, 1.0, self.unknown)

    @property
    def shares(self) -> Floats:
        """Shares of each user's two judgements that were
        won, tied and lost, ``(n, 3)``.
        """
        shares: Floats = self.each.mean(axis=1)
        return shares

    @property
    def preference(self) -> Floats:
        """Won minus lost, ``(n,)`` in [-1, 1]."""
        return self.shares[:, 0] - self.shares[:, 2]

    @property
    def figures(self) -> dict[str, float | str]:
        """The numbers of wins, ties and losses, and Q with its bounds."""
        win, tie, lose = counts = self.shares.sum(axis=0) * ORDERS
        percent = 100 * counts / (ORDERS * len(self.rows) or 1)
        low, high = q_interval(self.shares)
        return {
            "won": float(win),
            "tied": float(tie),
            "lost": float(lose),
            "not read": float(self.unread.sum() * ORDERS),
            "Q": q_in_words(q_score(win, tie, lose)),
            "Q, lower bound": q_in_words(low),
            "Q, upper bound": q_in_words(high),
            **{
                f"{kind}, percent": float(x)
                for kind, x in zip(WAYS, percent, strict=True)
            },
        }

    def effects(self, error_limit: float) -> Effects:
        """The effects from which a verdict is made."""
        unread = float(self.unread.mean()) if len(self.rows) else 0.0
        obstacle, note = "", ""
        if unread > error_limit:
            obstacle = unread_verdicts(unread, error_limit)
        elif unread:
            note = f"{unread:.1%} of the verdicts could not be read and count against every claim"
        read = self.unread == 0 if not obstacle else np.ones(len(self.rows), np.bool_)
        return Effects(
            rows=self.rows[read],
            effect=self.preference[read],
            reach=(-1.0, 1.0),
            failed=self.failed,
            obstacle=obstacle,
            note=note,
        )


def unread_verdicts(unread: float, limit: float) -> str:
    """Why nothing is claimed if this share of a judge's
    verdicts cannot be read, above the limit.
    """
    return (
        f"{unread:.1%} of the judge's verdicts cannot be read, the limit is {limit:.1%}; a judge that answers by "
        f"choosing, or an endpoint that takes a JSON schema, leaves none"
    )


def outcomes(arena: Arena, pairs: Pairs, aspect: str) -> Outcomes:
    """Have the lists of each user judged in both orders."""
    both = [
        order
        for one, two in zip(pairs.source, pairs.followup, strict=True)
        for order in arena.orders(one, arena.items(one), arena.items(two))
    ]
    judgements = arena.judge_runner.judged(both)
    rows, each, unread, first = [], [], [], []
    clear, unclear = list[str](), list[str]()
    failed = defaultdict[str, list[int]](list)
    for row, (one, two) in enumerate(
        zip(judgements[::2], judgements[1::2], strict=True),
    ):
        error = one.error or two.error
        if error:
            failed[error].append(row)
            continue
        rows.append(row)
        own = [one.winner(aspect), two.turned.winner(aspect)]
        each.append(
            [[float(said == winner) for winner in ("A", "tie", "B")] for said in own],
        )
        unread.append(own.count(None) / 2)
        first.append((POINTS[one.winner(aspect)] + POINTS[two.winner(aspect)]) / 2)
        (unclear if None in own else clear).append(pairs.source[row].user)
    unanswered = {pairs.source[row].user for each in failed.values() for row in each}
    lost = {each.user for each in pairs.lost}
    unknown = {*unclear, *pairs.unread_users, *unanswered, *lost}
    return Outcomes(
        np.array(rows, np.intp),
        np.array(each, np.float64).reshape(-1, 2, 3),
        np.array(unread, np.float64),
        np.array(first, np.float64),
        failed,
        tuple(unclear),
        tuple(places_of(unknown, clear, pairs.order)),
    )
