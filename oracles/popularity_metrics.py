"""Metrics of popularity bias: how much more popular the recommended items are than a user's own.

All five metrics of Table 1 of Lichtenberg, Buchholz and Schwöbel (2024), Large Language Models as
Recommender Systems: A Study of Popularity Bias, https://arxiv.org/abs/2406.01285, each as the paper
defines it (section 3). Popularity is what the paper calls the raw score of an item: how many
interactions it has. The paper's verdicts apply to the difference forms, which are the ones here.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike

from pytest_recsys_mt.errors import OracleError
from pytest_recsys_mt.oracles.kernel import Floats


def log_popularity_difference(recommended: ArrayLike, consumed: ArrayLike) -> float:
    """Mean ln popularity of the recommended items less that of the consumed ones (equation 2).

    It does not depend on the unit of popularity: all scores times a constant give the same.

    Args:
        recommended: Popularity of each recommended item, above 0, ``(k,)``.
        consumed: Popularity of each item of the user, above 0, ``(n,)``.

    Raises:
        OracleError: If a side is empty, or holds anything that is no finite number above 0.
    """
    metric = "log_popularity_difference"
    ours, theirs = (
        _scores(metric, "recommended", recommended),
        _scores(metric, "consumed", consumed),
    )
    return float(np.log(ours).mean() - np.log(theirs).mean())


def popularity_lift(recommended: ArrayLike, consumed: ArrayLike) -> float:
    """Mean popularity of the recommended items, relative to that of the consumed ones, less 1
    (equation 1; Abdollahpouri et al. 2020, with all users as one group).

    Args:
        recommended: As of `log_popularity_difference`.
        consumed: As of `log_popularity_difference`.

    Raises:
        OracleError: As of `log_popularity_difference`.
    """
    ours = _scores("popularity_lift", "recommended", recommended).mean()
    theirs = _scores("popularity_lift", "consumed", consumed).mean()
    return float((ours - theirs) / theirs)


def gini(scores: ArrayLike) -> float:
    """Inequality of popularity within a list: ``sum (2i - n - 1) / n * share_i``, ascending.

    Args:
        scores: Popularity of each item, above 0, ``(n,)``.

    Returns:
        From 0 (all alike) up to, but below, ``(n - 1) / n``.

    Raises:
        OracleError: As of `log_popularity_difference`.
    """
    ascending = np.sort(_scores("gini", "scores", scores))
    n = len(ascending)
    weights = (2 * np.arange(1, n + 1) - n - 1) / n
    return float(weights @ ascending / ascending.sum())


def gini_difference(recommended: ArrayLike, consumed: ArrayLike) -> float:
    """`gini` of the recommended items less that of the consumed ones.

    Args:
        recommended: As of `log_popularity_difference`.
        consumed: As of `log_popularity_difference`.

    Raises:
        OracleError: As of `log_popularity_difference`.
    """
    return gini(recommended) - gini(consumed)


def herfindahl(scores: ArrayLike) -> float:
    """Concentration of popularity within a list: the sum of squared shares.

    Args:
        scores: Popularity of each item, above 0, ``(n,)``.

    Returns:
        From ``1 / n`` (all alike) to 1.

    Raises:
        OracleError: As of `log_popularity_difference`.
    """
    values = _scores("herfindahl", "scores", scores)
    return float(((values / values.sum()) ** 2).sum())


def herfindahl_difference(recommended: ArrayLike, consumed: ArrayLike) -> float:
    """`herfindahl` of the recommended items less that of the consumed ones.

    Args:
        recommended: As of `log_popularity_difference`.
        consumed: As of `log_popularity_difference`.

    Raises:
        OracleError: As of `log_popularity_difference`.
    """
    return herfindahl(recommended) - herfindahl(consumed)


def popularity_rank_correlation(
    recommended: Sequence[str], consumed: Sequence[str], popularity: Mapping[str, float]
) -> float | None:
    """Spearman correlation of popularity and rank, over the items that are in both lists.

    Args:
        recommended: Item ids, best first (rank 1), without repeats.
        consumed: Item ids of the user, in any order.
        popularity: By item id.

    Returns:
        From -1 (the most popular first) to 1; None where it is undefined: fewer than two items in
        both lists, or all of them equally popular. So it says nothing about a recommender that
        never repeats the history, as most are told to.

    Raises:
        OracleError: If `recommended` repeats an item, or a shared item has no popularity.
    """
    if len(set(recommended)) != len(recommended):
        raise OracleError(
            f"popularity_rank_correlation: an item has one rank, got repeats in {recommended!r}"
        )
    own = set(consumed)
    shared = [item for item in recommended if item in own]
    missing = [item for item in shared if item not in popularity]
    if missing:
        raise OracleError(f"popularity_rank_correlation: {missing[0]!r} has no popularity")
    scores = np.array([popularity[item] for item in shared], np.float64)
    if len(scores) < 2 or (scores == scores[0]).all():
        return None
    from scipy.stats import rankdata

    ranks = rankdata(scores) - (len(scores) + 1) / 2
    places = np.arange(len(scores)) - (len(scores) - 1) / 2
    return float(ranks @ places / math.sqrt((ranks @ ranks) * (places @ places)))


def _scores(metric: str, name: str, values: ArrayLike) -> Floats:
    """`values` as numbers.

    Raises:
        OracleError: If there are none, or one of them is no finite number above 0.
    """
    scores = np.asarray(values, np.float64)
    if scores.ndim != 1 or not len(scores):
        raise OracleError(
            f"{metric}: {name} needs the popularity of one item at least, as a flat list; a list "
            f"without items has no popularity"
        )
    wrong = scores[~(np.isfinite(scores) & (scores > 0))]
    if len(wrong):
        raise OracleError(
            f"{metric}: {name} holds {float(wrong[0])!r}; popularity is a finite number above 0, so "
            f"leave out items without interactions and say how many they were"
        )
    return scores
