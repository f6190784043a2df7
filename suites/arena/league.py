"""Three or more recommenders: strengths from all
comparisons, next to the offline metrics.
"""

import dataclasses
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, permutations
from typing import Any

import numpy as np

from pytest_recsys_mt.oracles.arguments import share
from pytest_recsys_mt.oracles.arrays import Floats
from pytest_recsys_mt.oracles.judging.account import (
    Account,
    counted,
    too_many_unread,
    without_verdict,
)
from pytest_recsys_mt.requests.abilities import method_of
from pytest_recsys_mt.safety.errors import OracleError
from pytest_recsys_mt.suites.arena.absolute import rated
from pytest_recsys_mt.suites.arena.arena import Arena
from pytest_recsys_mt.suites.arena.judge_runner import JudgeRunner
from pytest_recsys_mt.suites.arena.judging import ASPECTS, OVERALL, Aspect
from pytest_recsys_mt.suites.arena.outcomes import Outcomes, outcomes
from pytest_recsys_mt.suites.arena.pairing import order_of
from pytest_recsys_mt.suites.arena.standings import (
    SCORE,
    Standings,
    Table,
    mean_known,
    offline_metrics,
)
from pytest_recsys_mt.suites.arena.trust import Trust, untrusted
from pytest_recsys_mt.verdict.answers import Answers, Context
from pytest_recsys_mt.verdict.verdict import Verdict


@dataclass(frozen=True)
class League:
    """Recommenders that one judge compares in pairs.

    Attributes:
        systems: The answers of each to the same requests, by name; three or more.
        design: As in `Arena`.
    """

    systems: Mapping[str, Answers]
    judge_runner: JudgeRunner
    aspects: tuple[Aspect, ...] = ASPECTS
    seed: int = 0
    design: Hashable = None

    def __post_init__(self) -> None:
        if len(self.systems) < 3:
            raise OracleError(
                f"a league needs three recommenders, got {list(self.systems)!r}",
            )

    @property
    def baseline(self) -> str:
        """The recommender that all others are compared with: the last one."""
        return list(self.systems)[-1]

    def arena(self, one: str, other: str) -> Arena:
        """Two of the recommenders, with the judge."""
        ours, theirs = self.systems[one], self.systems[other]
        names = (one, other)
        return Arena(
            ours,
            theirs,
            self.judge_runner,
            self.aspects,
            self.seed,
            names,
            self.design,
        )

    def order(
        self,
        aspect: str = OVERALL,
        *,
        calls: float = 0.5,
    ) -> tuple[list[str], int]:
        """The order of the recommenders, from the most informative pairs (see
        `pairing`).

        The judge is asked about a pair only where the order is not clear yet. There is
        no error rate and no test of the judge: for these, use `no_circle`, which
        compares all pairs.

        Args:
            aspect: Name of one of the aspects, or ``overall``.
            calls: Largest share of the comparisons of all pairs, in (0, 1).

        Returns:
            The names, the strongest first, and the number of comparisons.

        Raises:
            OracleError: If an argument is invalid, or the judge's calls fail.
        """
        calls = share("League.order", "calls", calls)
        names = list(self.systems)
        self.arena(*names[:2]).require("League.order", aspect)
        users = min(
            self.arena(one, other).users for one, other in combinations(names, 2)
        )

        def ask(one: int, other: int, start: int, end: int) -> tuple[Floats, Floats]:
            arena = self.arena(names[one], names[other])
            wins = np.zeros((2, len(names), len(names)))
            found = outcomes(arena, arena.pairs(end), aspect)
            if found.failed:
                errors = {error: len(rows) for error, rows in found.failed.items()}
                raise OracleError(
                    f"League.order: the judge's calls fail: {counted(errors)}",
                )
            for each in found.each[found.rows >= start]:
                _count(wins, one, other, each)
            return wins[0], wins[1]

        every = users * len(names) * (len(names) - 1)
        ranks, made = order_of(len(names), users, ask, most=int(calls * every))
        return [names[at] for at in ranks], made


def _count(wins: Floats, one: int, other: int, each: Floats) -> None:
    """Add a user's two comparisons of a pair to ``(2, m,
    m)``: shown first, and shown second.
    """
    for place, (win, tie, lose) in enumerate(each):
        wins[place, one, other] += win + tie / 2
        wins[1 - place, other, one] += lose + tie / 2


def no_circle(
    league: League,
    aspect: str = OVERALL,
    *,
    trusted: Trust | None = None,
) -> Verdict:
    """The judge's preferences among three or more recommenders do not form a circle.

    If A is preferred to B, B to C and C to A, no ranking describes the judge.
    ``violated`` if all three preferences of some circle are clear of 0 (an
    intersection-union test per circle, Bonferroni over the circles); ``holds`` if every
    possible circle has one preference that is clearly the other way round.

    Args:
        league: The recommenders and the judge; all users are judged.
        aspect: Name of one of its aspects, or ``overall``.
        trusted: As in `preferred`.

    Returns:
        A verdict, reported. ``details["figures"]`` has the Bradley-Terry strength of
        each recommender (with a term for the place, ties as half wins, one tie added to
        each pair) with its interval over users (95 %), the pairs that are not clear,
        mean AUC, nDCG and URD, and the Pearson and Spearman correlation of strengths
        with them. ``details["league"]`` has all of `standings`.

    Raises:
        OracleError: If there is no such aspect.
    """
    names = list(league.systems)
    first = league.arena(names[0], names[1])
    first.require("no_circle", aspect)
    table = compared(league, aspect)
    verdict = _judged(table, names, aspect, first.context)
    judged = verdict.status in ("holds", "violated", "inconclusive") and not table.lists
    judged &= table.unread <= first.context.error_limit
    if judged and len(table.users):
        tables = {name: compared(league, name) for name in first.judged}
        standings = Standings(
            table,
            tables,
            aspect,
            _offline(league),
            first.context.alpha,
        )
        reason = "; ".join(
            filter(None, (" > ".join(standings.ranking), verdict.reason)),
        )
        verdict = dataclasses.replace(
            verdict,
            reason=reason,
            details=standings.details(),
        )
    return first.context.report(untrusted(verdict, first, trusted, aspect=aspect))


def compared(league: League, aspect: str) -> Table:
    """All comparisons of a league in one aspect."""
    names = list(league.systems)
    users: dict[str, Floats] = {}
    pairs: dict[tuple[str, str], Outcomes] = {}
    errors, unasked, lists = Counter[str](), Counter[str](), ""
    for (at, one), (to, other) in combinations(enumerate(names), 2):
        arena = league.arena(one, other)
        asked = arena.pairs(arena.users)
        found = pairs[one, other] = outcomes(arena, asked, aspect)
        judged = Counter({error: len(rows) for error, rows in found.failed.items()})
        errors |= asked.errors + judged
        unasked |= Counter(asked.unasked)
        lists = lists or too_many_unread(asked, arena.context)
        for row, each in zip(found.rows, found.each, strict=True):
            empty = np.zeros((2, len(names), len(names)))
            _count(users.setdefault(asked.source[int(row)].user, empty), at, to, each)
    wins = np.array(list(users.values()), np.float64).reshape(
        -1,
        2,
        len(names),
        len(names),
    )
    return Table(tuple(names), pairs, wins, errors, unasked, lists)


def _judged(
    table: Table,
    names: Sequence[str],
    aspect: str,
    context: Context,
) -> Verdict:
    users = len(table.users)
    unasked = sum(table.unasked.values())
    account = Account(
        drawn=users + table.errors.total() + unasked,
        not_asked=unasked,
        answered=users,
        failed=table.errors,
    )

    def verdict(status: Any, reason: str = "", **numbers: Any) -> Verdict:
        return Verdict(
            status,
            f"no_circle:{aspect}",
            f"ranking by {aspect}",
            users=users,
            errors=account.errors.total(),
            account=account.plain,
            reason=reason,
            measures="weakest preference of the strongest circle",
            **numbers,
        )

    found = without_verdict(
        account,
        table.unasked,
        context,
        unread=table.lists,
        everybody=True,
    )
    if found is not None:
        return verdict(*found)
    if users < 2:
        return verdict("not-applicable", "fewer than two users could be judged")
    if table.unread > context.error_limit:
        return verdict(
            "inconclusive",
            f"{table.unread:.1%} of the judge's verdicts cannot be read",
        )
    circles = _circles(table, names, context.alpha)
    numbers: dict[str, Any] = {
        "p_value": circles.p_value,
        "estimate": circles.weakest_preference,
        "margin": 0.0,
    }
    if circles.p_value <= context.alpha:
        circle = " over ".join((*circles.strongest, circles.strongest[0]))
        return verdict("violated", f"the judge prefers {circle}", **numbers)
    if circles.all_refuted:
        return verdict("holds", **numbers)
    return verdict(
        "inconclusive",
        "not all preferences are clear; ask more users",
        **numbers,
    )


@dataclass(frozen=True)
class _Circles:
    """The result of the comparisons on all circles of three recommenders.

    Attributes:
        p_value: Of the hypothesis that there is no circle.
        strongest: The circle whose weakest preference is the strongest.
        weakest_preference: That preference.
        all_refuted: Whether each circle has one that is clearly the other way round.
    """

    p_value: float
    strongest: tuple[str, ...]
    weakest_preference: float
    all_refuted: bool


def _circles(table: Table, names: Sequence[str], alpha: float) -> _Circles:
    # Each circle once, from the first of its names on.
    circles = [
        each for each in permutations(names, 3) if each[0] == min(each, key=names.index)
    ]
    means = {}
    for (one, other), each in table.pairs.items():
        means[one, other], means[other, one] = each.mean, each.opposite
    p_values, strengths, refuted = [], [], []
    for one, two, three in circles:
        steps = [means[one, two], means[two, three], means[three, one]]
        p_values.append(max(step.p_at_most(0.0) for step in steps))
        strengths.append(min(step.estimate for step in steps))
        refuted.append(min(step.p_at_least(0.0) for step in steps) <= alpha / 3)
    return _Circles(
        p_value=min(1.0, len(circles) * min(p_values)),
        strongest=circles[int(np.argmax(strengths))],
        weakest_preference=max(strengths),
        all_refuted=all(refuted),
    )


def _offline(league: League) -> dict[str, list[float | None]]:
    each = [
        offline_metrics(given.sample(), given.context)
        for given in league.systems.values()
    ]
    metrics = {name: [means[name] for means in each] for name in each[0]}
    if method_of(league.judge_runner.judge, "rate") is None:
        return metrics
    means: list[float | None] = []
    names = list(league.systems)
    for at, name in enumerate(names):
        arena = league.arena(name, names[at - 1])
        given = rated(arena, league.systems[name].sample().asked)
        means.append(mean_known(each.score() for each in given))
    return {**metrics, SCORE: means}
