"""The judgements: functions of source and follow-up answers that return a verdict."""

from pytest_recsys_mt.oracles.average_overlap import average_overlap
from pytest_recsys_mt.oracles.different_ranking import different_ranking
from pytest_recsys_mt.oracles.direction import decreases, increases
from pytest_recsys_mt.oracles.fagin import fagin
from pytest_recsys_mt.oracles.faults import complete_list, no_repeats, only_candidates
from pytest_recsys_mt.oracles.jaccard import jaccard
from pytest_recsys_mt.oracles.kendall import kendall
from pytest_recsys_mt.oracles.overlap import overlap
from pytest_recsys_mt.oracles.rbo import rbo
from pytest_recsys_mt.oracles.same_order import same_order
from pytest_recsys_mt.oracles.same_ranking import same_ranking
from pytest_recsys_mt.oracles.same_set import same_set

__all__ = [
    "average_overlap",
    "complete_list",
    "decreases",
    "different_ranking",
    "fagin",
    "increases",
    "jaccard",
    "kendall",
    "no_repeats",
    "only_candidates",
    "overlap",
    "rbo",
    "same_order",
    "same_ranking",
    "same_set",
]
