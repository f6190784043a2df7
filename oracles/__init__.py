"""The judgements: functions of source and follow-up answers that return a verdict."""

from pytest_recsys_mt.oracles.accuracy_gap import accuracy_gap
from pytest_recsys_mt.oracles.average_overlap import average_overlap
from pytest_recsys_mt.oracles.benchmark import at_least, at_most, within
from pytest_recsys_mt.oracles.better_than_chance import better_than_chance
from pytest_recsys_mt.oracles.choices_kept import accuracy_kept, relative_change, same_choices
from pytest_recsys_mt.oracles.constant_answer import constant_answer
from pytest_recsys_mt.oracles.different_ranking import different_ranking
from pytest_recsys_mt.oracles.direction import decreases, increases
from pytest_recsys_mt.oracles.fagin import fagin
from pytest_recsys_mt.oracles.faults import complete_list, no_repeats, only_candidates
from pytest_recsys_mt.oracles.gini import (
    gini_difference,
    gini_ratio,
    gini_relative_difference,
)
from pytest_recsys_mt.oracles.herfindahl import (
    herfindahl_difference,
    herfindahl_ratio,
    herfindahl_relative_difference,
)
from pytest_recsys_mt.oracles.intervals import cluster_bootstrap, rate_interval
from pytest_recsys_mt.oracles.jaccard import jaccard
from pytest_recsys_mt.oracles.kendall import kendall
from pytest_recsys_mt.oracles.log_popularity_difference import log_popularity_difference
from pytest_recsys_mt.oracles.not_increased import not_increased
from pytest_recsys_mt.oracles.not_lifted import not_lifted
from pytest_recsys_mt.oracles.not_worse import not_worse
from pytest_recsys_mt.oracles.overlap import overlap
from pytest_recsys_mt.oracles.paper import paper_t_test, t_from_summary
from pytest_recsys_mt.oracles.popularity_fit import PopularityFit, popularity_fit
from pytest_recsys_mt.oracles.popularity_lift import popularity_lift
from pytest_recsys_mt.oracles.popularity_rank_correlation import popularity_rank_correlation
from pytest_recsys_mt.oracles.rbo import rbo
from pytest_recsys_mt.oracles.rbo_bounds import rbo_min, rbo_residual
from pytest_recsys_mt.oracles.same_answer import same_answer
from pytest_recsys_mt.oracles.same_hits import same_hits
from pytest_recsys_mt.oracles.same_order import same_order
from pytest_recsys_mt.oracles.same_ranking import same_ranking
from pytest_recsys_mt.oracles.same_score import same_score
from pytest_recsys_mt.oracles.same_set import same_set
from pytest_recsys_mt.oracles.scores import Score
from pytest_recsys_mt.oracles.self_agreement import self_agreement
from pytest_recsys_mt.oracles.sign_flips import sign_flip_test

__all__ = [
    "PopularityFit",
    "Score",
    "accuracy_gap",
    "accuracy_kept",
    "at_least",
    "at_most",
    "average_overlap",
    "better_than_chance",
    "cluster_bootstrap",
    "complete_list",
    "constant_answer",
    "decreases",
    "different_ranking",
    "fagin",
    "gini_difference",
    "gini_ratio",
    "gini_relative_difference",
    "herfindahl_difference",
    "herfindahl_ratio",
    "herfindahl_relative_difference",
    "increases",
    "jaccard",
    "kendall",
    "log_popularity_difference",
    "no_repeats",
    "not_increased",
    "not_lifted",
    "not_worse",
    "only_candidates",
    "overlap",
    "paper_t_test",
    "popularity_fit",
    "popularity_lift",
    "popularity_rank_correlation",
    "rate_interval",
    "rbo",
    "rbo_min",
    "rbo_residual",
    "relative_change",
    "same_answer",
    "same_choices",
    "same_hits",
    "same_order",
    "same_ranking",
    "same_score",
    "same_set",
    "self_agreement",
    "sign_flip_test",
    "t_from_summary",
    "within",
]
