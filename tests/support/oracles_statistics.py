"""What tests use of `oracles.statistics`."""

from pytest_recsys_mt.oracles.statistics.betting import (
    Bets,
    log_capital,
    log_capital_of_any,
    p_of_any,
    p_of_some,
)
from pytest_recsys_mt.oracles.statistics.bounds import Certain, Rate
from pytest_recsys_mt.oracles.statistics.breaks import log_evidence
from pytest_recsys_mt.oracles.statistics.corrections import benjamini_hochberg, holm
from pytest_recsys_mt.oracles.statistics.jackknife import Jackknife, linearised
from pytest_recsys_mt.oracles.statistics.order import BLOCKS, QUARTERS, dependence
from pytest_recsys_mt.oracles.statistics.order_statistics import Quantile, fewest
from pytest_recsys_mt.verdict.answers.times import Times

__all__ = [
    "BLOCKS",
    "QUARTERS",
    "Bets",
    "Certain",
    "Jackknife",
    "Quantile",
    "Rate",
    "Times",
    "benjamini_hochberg",
    "dependence",
    "fewest",
    "holm",
    "linearised",
    "log_capital",
    "log_capital_of_any",
    "log_evidence",
    "p_of_any",
    "p_of_some",
]
