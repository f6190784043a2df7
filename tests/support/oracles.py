"""What tests use of `oracles`."""

from pytest_recsys_mt.oracles.arguments import checked
from pytest_recsys_mt.oracles.arrays import Floats
from pytest_recsys_mt.oracles.constant_answer import entropy, uniform_p
from pytest_recsys_mt.oracles.different_ranking import chance_agreement
from pytest_recsys_mt.oracles.low_churn import _churn
from pytest_recsys_mt.oracles.monotone import _p_of_some
from pytest_recsys_mt.oracles.no_position_bias import GroupEffects
from pytest_recsys_mt.oracles.not_promoted import mean_height
from pytest_recsys_mt.oracles.popularity_metric import (
    DESIDERATA,
    SHAPE,
    Metric,
    counterexamples,
)
from pytest_recsys_mt.oracles.same_hits import mcnemar

__all__ = [
    "DESIDERATA",
    "SHAPE",
    "Floats",
    "GroupEffects",
    "Metric",
    "_churn",
    "_p_of_some",
    "chance_agreement",
    "checked",
    "counterexamples",
    "entropy",
    "mcnemar",
    "mean_height",
    "uniform_p",
]
