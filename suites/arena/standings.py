"""The results of the comparisons of a league: strengths,
pairs, and agreement with offline metrics.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from pytest_recsys_mt.oracles.arrays import Floats
from pytest_recsys_mt.oracles.judging.account import too_many_unread
from pytest_recsys_mt.oracles.scores.intra_list_diversity import intra_list_diversity
from pytest_recsys_mt.oracles.scores.metrics import auc, ndcg
from pytest_recsys_mt.oracles.statistics.bradley_terry import (
    most_likely,
    placed_bradley_terry,
)
from pytest_recsys_mt.oracles.statistics.corrections import holm
from pytest_recsys_mt.suites.arena.judging import genres_of
from pytest_recsys_mt.suites.arena.outcomes import ORDERS, Outcomes
from pytest_recsys_mt.verdict.answers import Context, Sample

PRIOR = 1.0
"""Ties added to each pair, so that a recommender that never lost has a strength."""

DRAWS = 499
"""Bootstrap samples of the users."""

CONFIDENCE = 0.95
"""Of the bounds of the strengths."""

SCORE = "score"
"""The mean score of single lists, next to the offline metrics."""


@dataclass(frozen=True)
class Table:
    """All comparisons of a league of m recommenders in one aspect.

    `users` says how often the recommender of the row beat that of the column, ties as
    halves, by user: the row's list shown first, then shown second; ``(users, 2, m,
    m)``.
    """

    names: tuple[str, ...]
    pairs: Mapping[tuple[str, str], Outcomes]  # for the first of each
    users: Floats
    errors: Counter[str]  # why other users were not judged
    unasked: Counter[str]
    lists: str  # why too many of the recommenders' lists could not be read; empty if few enough

    @property
    def unread(self) -> float:
        """Share of the verdicts that cannot be read."""
        missing = np.concatenate([found.unread for found in self.pairs.values()])
        return float(missing.mean()) if len(missing) else 0.0

    @cached_property
    def strength(self) -> tuple[Floats, float]:
        """The strengths, ``(m,)``, and the advantage of the list shown first."""
        first, second = self.users.sum(axis=0)
        return placed_bradley_terry(first, second, prior=PRIOR, names=self.names)

    def drawn(self) -> Floats:
        """Strengths and the advantage from bootstrap samples
        of the users, ``(draws, m + 1)``.
        """
        rng = np.random.default_rng(0)
        users = len(self.users)
        times = rng.multinomial(users, np.full(users, 1 / users), size=DRAWS)
        tables = np.tensordot(times, self.users, axes=1)
        met = (self.users.sum(axis=(0, 1)) > 0).astype(float)
        tables += PRIOR / 4 * np.maximum(met, met.T)
        return most_likely(tables[:, 0], tables[:, 1], place=True)


@dataclass(frozen=True)
class Standings:
    """The figures of a league."""

    table: Table  # of the aspect that was judged
    aspects: Mapping[str, Table]  # of all aspects
    aspect: str
    metrics: Mapping[
        str,
        Sequence[float | None],
    ]  # means over users, one per recommender
    alpha: float  # error rate at which a pair is called clear, over all pairs together

    @cached_property
    def ranking(self) -> list[str]:
        """The recommenders, the strongest first."""
        order = np.argsort(-self.table.strength[0], kind="stable")
        return [self.table.names[int(at)] for at in order]

    @cached_property
    def pairs(self) -> list[dict[str, Any]]:
        """Each pair: won, tied and lost by its first
        recommender, Q, and whether it is clear.
        """
        p_values: list[float] = []
        pairs: list[dict[str, Any]] = []
        for (one, other), found in self.table.pairs.items():
            mean = found.mean
            smaller = min(mean.p_at_most(0.0), mean.p_at_least(0.0))
            p_values.append(min(1.0, 2 * smaller))  # both ways
            pairs.append({"one": one, "other": other, **found.figures})
        for pair, p in zip(pairs, holm(p_values), strict=True):
            pair["clear"] = p <= self.alpha
        return pairs

    @cached_property
    def _bounds(self) -> tuple[Floats, Floats]:
        """The lower and the upper bounds of the strengths, then
        of the advantage, ``(m + 1,)`` each.
        """
        tail = (1 - CONFIDENCE) / 2
        low, high = np.quantile(self.table.drawn(), [tail, 1 - tail], axis=0)
        return low, high

    def details(self) -> dict[str, Any]:
        """``figures`` for every report, ``scatter``, and
        ``league`` with all of it as data.
        """
        low, high = self._bounds
        _, advantage = self.table.strength
        normalised = self._normalised()
        league = {
            "aspect": self.aspect,
            "systems": self._systems(),
            "baseline": self.table.names[-1],
            "first place": {
                "value": advantage,
                "low": float(low[-1]),
                "high": float(high[-1]),
            },
            "pairs": self.pairs,
            "aspects": self._by_aspect(),
            "normalised": normalised,
            "Q with AUC": _q_with_auc(normalised),
        }
        details = {"figures": self._figures(), "league": league}
        scatter = self._scatter()
        if scatter:
            details["scatter"] = scatter
        return details

    def _systems(self) -> list[dict[str, Any]]:
        """Each recommender with its strength, its bounds and
        its metrics, the strongest first.
        """
        strength, _ = self.table.strength
        low, high = self._bounds
        systems = []
        for name in self.ranking:
            place = self.table.names.index(name)
            system: dict[str, Any] = {
                "name": name,
                "strength": float(strength[place]),
                "low": float(low[place]),
                "high": float(high[place]),
            }
            for metric, values in self.metrics.items():
                system[metric] = values[place]
            systems.append(system)
        return systems

    def _figures(self) -> dict[str, float | str]:
        """The strengths, what is known of the pairs, and the metrics with their
        correlations, by what they are called.
        """
        strength, advantage = self.table.strength
        low, high = self._bounds
        figures: dict[str, float | str] = {}
        for rank, system in enumerate(self._systems(), 1):
            bounds = f"[{system['low']:.3f}, {system['high']:.3f}]"
            figures[f"{rank}. {system['name']}"] = f"{system['strength']:.3f} {bounds}"
        bounds = f"[{low[-1]:.3f}, {high[-1]:.3f}]"
        figures["advantage of the first place"] = f"{advantage:.3f} {bounds}"
        unclear = [pair for pair in self.pairs if not pair["clear"]]
        named = ", ".join(f"{pair['one']} and {pair['other']}" for pair in unclear)
        figures["pairs not clear"] = named or "none"
        users_of_pairs = sum(len(found.rows) for found in self.table.pairs.values())
        figures["comparisons made"] = ORDERS * users_of_pairs
        for metric, values in self._known().items():
            for name, value in zip(self.table.names, values, strict=True):
                figures[f"{metric} of {name}"] = float(value)
            figures |= correlations(metric, values, strength)
        return figures

    def _scatter(self) -> dict[str, Any]:
        """The strengths against the first metric that all
        recommenders have; empty without one.
        """
        strength, _ = self.table.strength
        for metric, values in self._known().items():
            points = [
                [float(x), float(y)] for x, y in zip(values, strength, strict=True)
            ]
            return {"x": metric, "y": f"strength in {self.aspect}", "points": points}
        return {}

    def _known(self) -> dict[str, Floats]:
        """The metrics that all recommenders have, ``(m,)`` each."""
        known = {}
        for metric, values in self.metrics.items():
            if None not in values:
                known[metric] = np.array(values, np.float64)
        return known

    def _by_aspect(self) -> dict[str, dict[str, Any]]:
        """The strengths in each aspect that users were asked about, and their
        correlations with the metrics.
        """
        by_aspect = {}
        for aspect, table in self.aspects.items():
            if not len(table.users):
                continue
            strength, _ = table.strength
            figures: dict[str, float | str] = {}
            for metric, values in self._known().items():
                figures |= correlations(metric, values, strength)
            strength_of = dict(zip(table.names, map(float, strength), strict=True))
            by_aspect[aspect] = {"strength": strength_of, "correlations": figures}
        return by_aspect

    def _normalised(self) -> dict[str, dict[str, float]]:
        """AUC, Q against the baseline and the score, each divided
        by the largest; without the baseline.
        """
        *others, baseline = self.table.names
        columns: dict[str, list[float]] = {}
        q = [pair["Q"] for pair in self.pairs if pair["other"] == baseline]
        if all(isinstance(value, float) for value in q):
            columns["Q"] = q
        for metric, values in self._known().items():
            if metric in ("AUC", SCORE):
                columns[metric] = [float(value) for value in values[:-1]]
        normalised = {}
        for column, numbers in columns.items():
            largest = max(numbers)
            if largest > 0:
                shares = [number / largest for number in numbers]
                normalised[column] = dict(zip(others, shares, strict=True))
        return normalised


def _q_with_auc(columns: Mapping[str, Mapping[str, float]]) -> dict[str, float]:
    """Pearson's correlation of the columns Q and AUC of
    `Standings`; empty if they have none.
    """
    from scipy.stats import pearsonr

    q, by_auc = (np.array([*columns.get(name, {}).values()]) for name in ("Q", "AUC"))
    if len(q) <= 2 or len(q) != len(by_auc):
        return {}
    if np.ptp(q) == 0 or np.ptp(by_auc) == 0:
        return {}
    found = pearsonr(by_auc, q)
    return {"correlation": float(found.statistic), "p-value": float(found.pvalue)}


def offline_metrics(sample: Sample, context: Context) -> dict[str, float | None]:
    """Means over users of AUC, nDCG and URD; None without any value."""
    values: dict[str, list[float | None]] = {"AUC": [], "nDCG": [], "URD": []}
    known = context.items
    is_readable = not too_many_unread(sample, context)
    for asked in sample.asked if is_readable else ():
        request = asked.request
        items = asked.answers[0].items
        offered = [item.id for item in request.candidates or ()]
        values["AUC"].append(auc(items, offered, asked.relevant))
        values["nDCG"].append(ndcg(items, asked.relevant, request.k))
        # User recommendation diversity: how different the genres within a list are.
        genres = [genres_of(known[item]) for item in items if item in known]
        values["URD"].append(intra_list_diversity(genres))
    return {metric: mean_known(of_users) for metric, of_users in values.items()}


def correlations(
    metric: str,
    values: Floats,
    strength: Floats,
) -> dict[str, float | str]:
    """Pearson's and Spearman's correlation of a metric with strengths, in words."""
    from scipy.stats import pearsonr, spearmanr

    if np.ptp(values) == 0 or np.ptp(strength) == 0:
        return {f"Pearson with {metric}": "undefined (all alike)"}
    pearson = pearsonr(values, strength)
    spearman = spearmanr(values, strength)
    linear = f"{float(pearson.statistic):.4f} (p = {float(pearson.pvalue):.4f})"
    # The p-value of the rank correlation is invalid for few recommenders: 0 for a
    # perfect one.
    return {
        f"Pearson with {metric}": linear,
        f"Spearman with {metric}": f"{float(spearman.statistic):.4f}",
    }


def mean_known(values: Iterable[float | None]) -> float | None:
    """The mean of the values that are not None; None without any."""
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None
