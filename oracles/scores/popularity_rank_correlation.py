"""Popularity rank correlation."""

import math
from collections.abc import Mapping, Sequence

import numpy as np

from pytest_recsys_mt.oracles.scores.popularity_scores import (
    Scored,
    own_items,
    recommended,
    signed_unit,
)
from pytest_recsys_mt.requests import Recommendation
from pytest_recsys_mt.safety.errors import NotApplicable, OracleError
from pytest_recsys_mt.verdict.answers import Asked, Context, offer_of


def popularity_rank_correlation(
    recommended: Sequence[str],
    consumed: Sequence[str],
    popularity: Mapping[str, float],
) -> float | None:
    """Spearman correlation of popularity and rank over the items in both lists.

    Source:
        Zhu et al. (2021, WSDM), as in section 3.2 of https://arxiv.org/abs/2406.01285.

    Example:
        >>> counts = {"a": 9, "b": 5, "c": 1}
        >>> popularity_rank_correlation(["a", "b", "c"], consumed=["c", "a", "b"], popularity=counts)
        -1.0

    Args:
        recommended: Item ids, best first (rank 1), without repeats.
        consumed: Item ids of the user, in any order.
        popularity: Of every item in both lists, by id.

    Returns:
        From -1 (the most popular first) to 1. None if fewer than two items are in both
        lists or all of them are equally popular. So it says nothing about a recommender
        that never repeats the history, as most recommenders must not.
    """
    if len(set(recommended)) != len(recommended):
        raise OracleError(
            f"popularity_rank_correlation: an item must have one rank, got repeats in {recommended!r}",
        )
    own = set(consumed)
    shared = [item for item in recommended if item in own]
    missing = [item for item in shared if item not in popularity]
    if missing:
        raise OracleError(
            f"popularity_rank_correlation: {missing[0]!r} has no popularity",
        )
    scores = np.array([popularity[item] for item in shared], np.float64)
    if len(scores) < 2 or (scores == scores[0]).all():
        return None
    from scipy.stats import rankdata

    ranks = rankdata(scores) - (len(scores) + 1) / 2
    places = np.arange(len(scores)) - (len(scores) - 1) / 2
    return float(ranks @ places / math.sqrt((ranks @ ranks) * (places @ places)))


def _rank_correlation(answer: Recommendation, asked: Asked, context: Context) -> Scored:
    items = [item for item in recommended(answer, asked) if item in context.popularity]
    own = own_items(asked)
    value = popularity_rank_correlation(items, own, context.popularity)
    offered = {
        context.popularity.get(item)
        for item in set(offer_of(asked, context.items)) & set(own)
    }
    if value is None and len(offered) < 2:
        raise NotApplicable(
            "the request offers no two of the user's own items that differ in popularity",
        )
    return value, 0


SCORES = {"popularity_rank_correlation": (_rank_correlation, signed_unit)}
