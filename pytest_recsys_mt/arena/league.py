"""Three or more recommenders: strengths from all comparisons, beside the offline metrics."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, permutations
from typing import Any

import numpy as np

from pytest_recsys_mt.answers import Answers, Asked, Context
from pytest_recsys_mt.arena.arena import Arena
from pytest_recsys_mt.arena.bench import Bench
from pytest_recsys_mt.arena.judging import ASPECTS, OVERALL, Aspect, genres_of
from pytest_recsys_mt.arena.outcomes import outcomes
from pytest_recsys_mt.arena.trust import Trust, untrusted
from pytest_recsys_mt.errors import OracleError
from pytest_recsys_mt.oracles.arrays import Floats
from pytest_recsys_mt.oracles.judging.ladder import without_verdict
from pytest_recsys_mt.oracles.scores.intra_list_diversity import intra_list_diversity
from pytest_recsys_mt.oracles.scores.metrics import auc, ndcg
from pytest_recsys_mt.oracles.statistics.betting import Bets
from pytest_recsys_mt.oracles.statistics.bradley_terry import bradley_terry
from pytest_recsys_mt.verdict import Verdict

PRIOR = 1.0
"""Ties added to each pair, so that a recommender that never lost has a strength."""

DRAWS = 499
CONFIDENCE = 0.95

Metric = Callable[[Asked, Context], float | None]


@dataclass(frozen=True)
class League:
    """Recommenders that one judge compares in pairs.

    Attributes:
        systems: The answers of each to the same requests, by name; three or more.
        bench: Sends the comparisons.
        aspects: Judged besides the overall quality.
        seed: The seed of the run.
        design: As in `Arena`.
    """

    systems: Mapping[str, Answers]
    bench: Bench
    aspects: tuple[Aspect, ...] = ASPECTS
    seed: int = 0
    design: Hashable = None

    def __post_init__(self) -> None:
        if len(self.systems) < 3:
            raise OracleError(f"a league needs three recommenders, got {list(self.systems)!r}")

    def arena(self, one: str, other: str) -> Arena:
        """Two of the recommenders, with the judge."""
        return Arena(
            self.systems[one],
            self.systems[other],
            self.bench,
            self.aspects,
            self.seed,
            (one, other),
            self.design,
        )


@dataclass(frozen=True)
class _Table:
    """All comparisons of a league.

    Attributes:
        preference: Preference for the first recommender of a pair over the second, one number per
            user.
        wins: How often the recommender of the row beat that of the column, ties as halves, by user;
            ``(users, m, m)``.
        errors: Why other users were not judged, with their number.
        unread: Share of the verdicts that cannot be read.
    """

    preference: Mapping[tuple[str, str], Floats]
    wins: Floats
    errors: Counter[str]
    unasked: Counter[str]
    unread: float


def no_circle(league: League, aspect: str = OVERALL, *, trusted: Trust | None = None) -> Verdict:
    """The judge's preferences among three or more recommenders do not form a circle.

    If A is preferred to B, B to C and C to A, no ranking describes the judge. ``violated`` if all
    three preferences of some circle are clear of 0 (an intersection-union test per circle,
    Bonferroni over the circles); ``holds`` if every possible circle has one preference that is
    clearly the other way round.

    Args:
        league: The recommenders and the judge; all users are judged.
        aspect: Name of one of its aspects, or ``overall``.
        trusted: As in `preferred`.

    Returns:
        A verdict, reported. ``details["figures"]`` has the Bradley-Terry strength of each recommender
        (ties as half wins, one tie added to each pair) with its interval over users (95 %), mean AUC,
        nDCG and URD, and the Pearson and Spearman correlation of strengths with them.

    Raises:
        OracleError: If there is no such aspect.
    """
    names = list(league.systems)
    first = league.arena(names[0], names[1])
    first.require("no_circle", aspect)
    table = _compared(league, aspect)
    verdict = _judged(table, names, aspect, first.context)
    if verdict.status in ("holds", "violated", "inconclusive") and len(table.wins):
        ranking, details = _details(league, table, aspect)
        reason = "; ".join(filter(None, (ranking, verdict.reason)))
        verdict = dataclasses.replace(verdict, reason=reason, details=details)
    return first.context.report(untrusted(verdict, first, trusted))


def _compared(league: League, aspect: str) -> _Table:
    names = list(league.systems)
    users: dict[str, Floats] = {}
    preference: dict[tuple[str, str], Floats] = {}
    errors, unasked = Counter[str](), Counter[str]()
    unread: list[Floats] = []
    for one, other in combinations(names, 2):
        arena = league.arena(one, other)
        pairs = arena.pairs(arena.users)
        found = outcomes(arena, pairs, aspect)
        preference[one, other] = found.preference
        unread.append(found.unread)
        errors |= Counter(pairs.errors) + Counter(found.errors)
        unasked |= Counter(pairs.unasked)
        at, to = names.index(one), names.index(other)
        for row, (win, tie, lose) in zip(found.rows, found.shares, strict=True):
            own = users.setdefault(pairs.source[int(row)].user, np.zeros((len(names), len(names))))
            own[at, to] += 2 * win + tie
            own[to, at] += 2 * lose + tie
    wins = np.array(list(users.values()), np.float64).reshape(-1, len(names), len(names))
    missing = np.concatenate(unread)
    return _Table(preference, wins, errors, unasked, float(missing.mean()) if len(missing) else 0.0)


def _judged(table: _Table, names: Sequence[str], aspect: str, context: Context) -> Verdict:
    users, failed = len(table.wins), table.errors.total()

    def verdict(status: Any, reason: str = "", **numbers: Any) -> Verdict:
        return Verdict(
            status,
            f"no_circle:{aspect}",
            f"ranking by {aspect}",
            users=users,
            errors=failed,
            reason=reason,
            measures="weakest preference of the strongest circle",
            **numbers,
        )

    found = without_verdict(users, table.errors, table.unasked, {}, context, everybody=True)
    if found is not None:
        return verdict(*found)
    if users < 2:
        return verdict("not-applicable", "fewer than two users could be judged")
    if table.unread > context.error_limit:
        return verdict("inconclusive", f"{table.unread:.1%} of the judge's verdicts cannot be read")
    alpha = context.alpha
    circles = [
        (one, two, three)
        for one, two, three in permutations(names, 3)
        if one == min(one, two, three, key=names.index)
    ]
    means = {}
    for (one, other), values in table.preference.items():
        means[one, other] = Bets(values, -1.0, 1.0)
        means[other, one] = Bets(-values, -1.0, 1.0)
    p_values, strengths, refuted = [], [], []
    for circle in circles:
        steps = [means[circle[at], circle[(at + 1) % 3]] for at in range(3)]
        p_values.append(max(step.p_at_most(0.0) for step in steps))
        strengths.append(min(step.estimate for step in steps))
        refuted.append(min(step.p_at_least(0.0) for step in steps) <= alpha / 3)
    p = min(1.0, len(circles) * min(p_values))
    strongest = circles[int(np.argmax(strengths))]
    told = " over ".join((*strongest, strongest[0]))
    numbers: dict[str, Any] = {"p_value": p, "estimate": max(strengths), "margin": 0.0}
    if p <= alpha:
        return verdict("violated", f"the judge prefers {told}", **numbers)
    if all(refuted):
        return verdict("holds", **numbers)
    return verdict("inconclusive", "not all preferences are clear; ask more users", **numbers)


def _details(league: League, table: _Table, aspect: str) -> tuple[str, dict[str, Any]]:
    """The ranking in words, and the figures."""
    names = list(league.systems)
    strength = bradley_terry(table.wins.sum(axis=0), prior=PRIOR, names=names)
    drawn = _drawn(table.wins)
    tail = (1 - CONFIDENCE) / 2
    low, high = np.quantile(drawn, [tail, 1 - tail], axis=0)
    figures: dict[str, float | str] = {}
    order = [int(place) for place in np.argsort(-strength, kind="stable")]
    for rank, at in enumerate(order, 1):
        figures[f"{rank}. {names[at]}"] = f"{strength[at]:.3f} [{low[at]:.3f}, {high[at]:.3f}]"
    scatter: dict[str, Any] = {}
    for metric, values in _offline(league).items():
        known = [value for value in values if value is not None]
        if len(known) < len(names):
            continue
        for name, value in zip(names, known, strict=True):
            figures[f"{metric} of {name}"] = value
        figures |= _correlations(metric, np.array(known), strength)
        if not scatter:
            points = [[x, float(y)] for x, y in zip(known, strength, strict=True)]
            scatter = {"scatter": {"x": metric, "y": f"strength in {aspect}", "points": points}}
    ranking = " > ".join(names[at] for at in order)
    return ranking, {"figures": figures, **scatter}


def _drawn(wins: Floats) -> Floats:
    """Strengths from bootstrap samples of the users, ``(draws, m)``."""
    rng = np.random.default_rng(0)
    users = len(wins)
    times = rng.multinomial(users, np.full(users, 1 / users), size=DRAWS)
    tables = np.tensordot(times, wins, axes=1)
    return np.array([bradley_terry(each, prior=PRIOR) for each in tables])


def _offline(league: League) -> dict[str, list[float | None]]:
    """Means over users of the offline metrics, one per recommender; None without any value."""
    metrics: dict[str, Metric] = {"AUC": _auc, "nDCG": _ndcg, "URD": _urd}
    return {
        name: [_mean_of(metric, answers) for answers in league.systems.values()]
        for name, metric in metrics.items()
    }


def _mean_of(metric: Metric, answers: Answers) -> float | None:
    values = [metric(asked, answers.context) for asked in answers.sample().asked]
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


def _auc(asked: Asked, context: Context) -> float | None:
    if asked.request.candidates is None:
        return None
    offered = [item.id for item in asked.request.candidates]
    return auc(asked.answers[0].items, offered, asked.relevant)


def _ndcg(asked: Asked, context: Context) -> float | None:
    return ndcg(asked.answers[0].items, asked.relevant, asked.request.k)


def _urd(asked: Asked, context: Context) -> float | None:
    """User recommendation diversity: how different the genres within a list are."""
    items = [context.items[item] for item in asked.answers[0].items if item in context.items]
    return intra_list_diversity([genres for item in items if (genres := genres_of(item))])


def _correlations(metric: str, values: Floats, strength: Floats) -> dict[str, float | str]:
    from scipy.stats import pearsonr, spearmanr

    if np.ptp(values) == 0 or np.ptp(strength) == 0:
        return {f"Pearson with {metric}": "undefined (all alike)"}
    pearson, spearman = pearsonr(values, strength), spearmanr(values, strength)
    # The p-value of the rank correlation is invalid for few recommenders: 0 for a perfect one.
    return {
        f"Pearson with {metric}": f"{float(pearson.statistic):.4f} (p = {float(pearson.pvalue):.4f})",
        f"Spearman with {metric}": f"{float(spearman.statistic):.4f}",
    }
