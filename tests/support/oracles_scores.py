"""What tests use of `oracles.scores`."""

from pytest_recsys_mt.oracles.scores.intra_list_diversity import (
    Likeness,
    intra_list_diversity,
)
from pytest_recsys_mt.oracles.scores.metrics import METRICS, auc, metric_named, ndcg
from pytest_recsys_mt.oracles.scores.popularity_differences import gini, herfindahl
from pytest_recsys_mt.oracles.scores.popularity_groups import (
    by_popularity,
    long_tail,
    popularity_groups,
)
from pytest_recsys_mt.oracles.scores.score import (
    SCORES,
    SCORES_AT,
    mean_score,
    score_named,
    span_of,
)
from pytest_recsys_mt.oracles.scores.self_information import self_information
from pytest_recsys_mt.oracles.scores.serendipity import serendipity, unexpectedness
from pytest_recsys_mt.oracles.scores.slots import slots_of

__all__ = [
    "METRICS",
    "SCORES",
    "SCORES_AT",
    "Likeness",
    "auc",
    "by_popularity",
    "gini",
    "herfindahl",
    "intra_list_diversity",
    "long_tail",
    "mean_score",
    "metric_named",
    "ndcg",
    "popularity_groups",
    "score_named",
    "self_information",
    "serendipity",
    "slots_of",
    "span_of",
    "unexpectedness",
]
