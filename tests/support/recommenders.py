"""What tests use of `recommenders`."""

from pytest_recsys_mt.recommenders import (
    BM25,
    EASE,
    NAMES,
    ItemKNN,
    Random,
    RP3Beta,
    UserKNN,
    describe,
    ease,
    http,
    http_contract,
    ials,
    knn,
    random_walk,
    scoring,
)
from pytest_recsys_mt.recommenders.baselines import MostPop
from pytest_recsys_mt.recommenders.http import HTTPRecommender
from pytest_recsys_mt.recommenders.http_contract import HEADER, ORIGIN
from pytest_recsys_mt.recommenders.http_fields import OF_BATCH, OF_RATING, OF_REQUEST
from pytest_recsys_mt.recommenders.http_key import authorization
from pytest_recsys_mt.recommenders.http_map import KEYS
from pytest_recsys_mt.recommenders.http_mapped import MappedRecommender
from pytest_recsys_mt.recommenders.ials import IALS
from pytest_recsys_mt.recommenders.knn import _unit_rows
from pytest_recsys_mt.recommenders.recorded import Recorded
from pytest_recsys_mt.recommenders.registry import BUILT_IN, TRAINED, resolve
from pytest_recsys_mt.recommenders.rerank import Reranker
from pytest_recsys_mt.recommenders.scoring import (
    LEAST_WEIGHT,
    Catalogue,
    Floats,
    Ints,
    ScoringRecommender,
    Sparse,
    Weights,
    keep_largest,
    largest,
    settle,
    weigh,
)

__all__ = [
    "BM25",
    "BUILT_IN",
    "EASE",
    "HEADER",
    "IALS",
    "KEYS",
    "LEAST_WEIGHT",
    "NAMES",
    "OF_BATCH",
    "OF_RATING",
    "OF_REQUEST",
    "ORIGIN",
    "TRAINED",
    "Catalogue",
    "Floats",
    "HTTPRecommender",
    "Ints",
    "ItemKNN",
    "MappedRecommender",
    "MostPop",
    "RP3Beta",
    "Random",
    "Recorded",
    "Reranker",
    "ScoringRecommender",
    "Sparse",
    "UserKNN",
    "Weights",
    "_unit_rows",
    "authorization",
    "describe",
    "ease",
    "http",
    "http_contract",
    "ials",
    "keep_largest",
    "knn",
    "largest",
    "random_walk",
    "resolve",
    "scoring",
    "settle",
    "weigh",
]
