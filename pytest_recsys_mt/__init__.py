"""Metamorphic and property tests for recommender systems, as a pytest plugin."""

import os

from pytest_recsys_mt import former_names
from pytest_recsys_mt.metamorphic import metamorphic
from pytest_recsys_mt.requests import (
    Completion,
    Item,
    Message,
    Prompt,
    Rating,
    Recommendation,
    Request,
    Scale,
    World,
)
from pytest_recsys_mt.safety.errors import (
    CacheError,
    DataError,
    FaultError,
    LimitReachedError,
    MissingAnswerError,
    MissingExtraError,
    NotApplicable,
    OracleError,
    OwnCodeError,
    PolicyError,
    PriceError,
    RecommenderError,
    RecsysError,
    RelationError,
    UnreachableError,
)
from pytest_recsys_mt.verdict.thresholds import thresholds
from pytest_recsys_mt.verdict.verdict import (
    Verdict,
    annotate,
    dimension,
    expect_violated,
)

__all__ = [
    "CacheError",
    "Completion",
    "DataError",
    "FaultError",
    "Item",
    "LimitReachedError",
    "Message",
    "MissingAnswerError",
    "MissingExtraError",
    "NotApplicable",
    "OracleError",
    "OwnCodeError",
    "PolicyError",
    "PriceError",
    "Prompt",
    "Rating",
    "Recommendation",
    "RecommenderError",
    "RecsysError",
    "RelationError",
    "Request",
    "Scale",
    "UnreachableError",
    "Verdict",
    "World",
    "annotate",
    "dimension",
    "expect_violated",
    "metamorphic",
    "thresholds",
]

# An unpacked source distribution, and a checkout where links are text files, lack the
# links to the three folders that stand beside this one. An installation has the folders
# themselves.
if not os.path.isdir(os.path.join(__path__[0], "oracles")):
    __path__.append(os.path.dirname(__path__[0]))

former_names.install()
