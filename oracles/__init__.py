"""The oracles: functions that judge source and follow-up answers and return a verdict."""

import pkgutil
from importlib import import_module
from inspect import isfunction

from pytest_recsys_mt.oracles.accuracy_gap import accuracy_gap
from pytest_recsys_mt.oracles.aggregates.aggregate import AGGREGATES, Aggregate
from pytest_recsys_mt.oracles.aggregates.dpd import dpd
from pytest_recsys_mt.oracles.aggregates.exposure import Answered
from pytest_recsys_mt.oracles.aggregates.exposure_gini import exposure_gini
from pytest_recsys_mt.oracles.aggregates.item_coverage import item_coverage
from pytest_recsys_mt.oracles.aggregates.jain import jain
from pytest_recsys_mt.oracles.aggregates.oic import oic
from pytest_recsys_mt.oracles.aggregates.popreo import popreo
from pytest_recsys_mt.oracles.benchmark import at_least, at_most, within
from pytest_recsys_mt.oracles.better_than_chance import better_than_chance
from pytest_recsys_mt.oracles.cand_dif import cand_dif, cand_dif_within
from pytest_recsys_mt.oracles.choices_kept import accuracy_kept, relative_change, same_choices
from pytest_recsys_mt.oracles.constant_answer import constant_answer
from pytest_recsys_mt.oracles.curve import curve
from pytest_recsys_mt.oracles.different_ranking import different_ranking
from pytest_recsys_mt.oracles.direction import decreases, increases
from pytest_recsys_mt.oracles.faults import complete_list, no_repeats, only_candidates
from pytest_recsys_mt.oracles.low_churn import low_churn
from pytest_recsys_mt.oracles.monotone import monotone
from pytest_recsys_mt.oracles.never_differs import never_differs
from pytest_recsys_mt.oracles.no_position_bias import no_position_bias
from pytest_recsys_mt.oracles.not_behind import ahead_when_cold, not_behind
from pytest_recsys_mt.oracles.not_increased import not_increased
from pytest_recsys_mt.oracles.not_lifted import not_lifted
from pytest_recsys_mt.oracles.not_worse import not_worse
from pytest_recsys_mt.oracles.paper import paper_t_test, t_from_summary
from pytest_recsys_mt.oracles.representative import representative
from pytest_recsys_mt.oracles.same_answer import same_answer
from pytest_recsys_mt.oracles.same_hits import same_hits
from pytest_recsys_mt.oracles.same_order import same_order
from pytest_recsys_mt.oracles.same_ranking import same_ranking
from pytest_recsys_mt.oracles.same_score import same_score
from pytest_recsys_mt.oracles.same_set import same_set
from pytest_recsys_mt.oracles.scores.aplt import aplt
from pytest_recsys_mt.oracles.scores.arp import arp
from pytest_recsys_mt.oracles.scores.compliance import complies
from pytest_recsys_mt.oracles.scores.duplicates import duplicates
from pytest_recsys_mt.oracles.scores.gini import (
    gini_difference,
    gini_ratio,
    gini_relative_difference,
)
from pytest_recsys_mt.oracles.scores.hallucination import hallucination
from pytest_recsys_mt.oracles.scores.herfindahl import (
    herfindahl_difference,
    herfindahl_ratio,
    herfindahl_relative_difference,
)
from pytest_recsys_mt.oracles.scores.history_repeats import history_repeats
from pytest_recsys_mt.oracles.scores.intra_list_diversity import intra_list_diversity
from pytest_recsys_mt.oracles.scores.log_popularity_difference import log_popularity_difference
from pytest_recsys_mt.oracles.scores.out_of_candidate import out_of_candidate
from pytest_recsys_mt.oracles.scores.popularity_groups import long_tail, popularity_groups
from pytest_recsys_mt.oracles.scores.popularity_lift import popularity_lift
from pytest_recsys_mt.oracles.scores.popularity_rank_correlation import popularity_rank_correlation
from pytest_recsys_mt.oracles.scores.score import Score
from pytest_recsys_mt.oracles.scores.self_information import self_information
from pytest_recsys_mt.oracles.scores.serendipity import serendipity, unexpectedness
from pytest_recsys_mt.oracles.scores.short_lists import short_list
from pytest_recsys_mt.oracles.scores.slots import Slot, slots_of
from pytest_recsys_mt.oracles.self_agreement import self_agreement
from pytest_recsys_mt.oracles.similarities.average_overlap import average_overlap
from pytest_recsys_mt.oracles.similarities.fagin import fagin
from pytest_recsys_mt.oracles.similarities.jaccard import jaccard
from pytest_recsys_mt.oracles.similarities.kendall import kendall
from pytest_recsys_mt.oracles.similarities.overlap import overlap
from pytest_recsys_mt.oracles.similarities.rbo import rbo
from pytest_recsys_mt.oracles.similarities.rbo_bounds import rbo_min, rbo_residual
from pytest_recsys_mt.oracles.statistics.bradley_terry import bradley_terry
from pytest_recsys_mt.oracles.statistics.crossing_point import CrossingPoint, crossing_point
from pytest_recsys_mt.oracles.statistics.intervals import cluster_bootstrap, rate_interval
from pytest_recsys_mt.oracles.statistics.paired_difference import (
    PairedDifference,
    paired_difference,
)
from pytest_recsys_mt.oracles.statistics.popularity_fit import PopularityFit, popularity_fit
from pytest_recsys_mt.oracles.statistics.position_bias import chosen_places_test, position_test
from pytest_recsys_mt.oracles.statistics.q_score import q_in_words, q_interval, q_score
from pytest_recsys_mt.oracles.statistics.same_distribution import same_distribution
from pytest_recsys_mt.oracles.statistics.sign_flips import sign_flip_test
from pytest_recsys_mt.oracles.within_noise import within_noise

__all__ = [
    "AGGREGATES",
    "Aggregate",
    "Answered",
    "CrossingPoint",
    "PairedDifference",
    "PopularityFit",
    "Score",
    "Slot",
    "accuracy_gap",
    "accuracy_kept",
    "ahead_when_cold",
    "aplt",
    "arp",
    "at_least",
    "at_most",
    "average_overlap",
    "better_than_chance",
    "bradley_terry",
    "cand_dif",
    "cand_dif_within",
    "chosen_places_test",
    "cluster_bootstrap",
    "complete_list",
    "complies",
    "constant_answer",
    "crossing_point",
    "curve",
    "decreases",
    "different_ranking",
    "dpd",
    "duplicates",
    "exposure_gini",
    "fagin",
    "gini_difference",
    "gini_ratio",
    "gini_relative_difference",
    "hallucination",
    "herfindahl_difference",
    "herfindahl_ratio",
    "herfindahl_relative_difference",
    "history_repeats",
    "increases",
    "intra_list_diversity",
    "item_coverage",
    "jaccard",
    "jain",
    "kendall",
    "log_popularity_difference",
    "long_tail",
    "low_churn",
    "monotone",
    "never_differs",
    "no_position_bias",
    "no_repeats",
    "not_behind",
    "not_increased",
    "not_lifted",
    "not_worse",
    "oic",
    "only_candidates",
    "out_of_candidate",
    "overlap",
    "paired_difference",
    "paper_t_test",
    "popreo",
    "popularity_fit",
    "popularity_groups",
    "popularity_lift",
    "popularity_rank_correlation",
    "position_test",
    "q_in_words",
    "q_interval",
    "q_score",
    "rate_interval",
    "rbo",
    "rbo_min",
    "rbo_residual",
    "relative_change",
    "representative",
    "same_answer",
    "same_choices",
    "same_distribution",
    "same_hits",
    "same_order",
    "same_ranking",
    "same_score",
    "same_set",
    "self_agreement",
    "self_information",
    "serendipity",
    "short_list",
    "sign_flip_test",
    "slots_of",
    "t_from_summary",
    "unexpectedness",
    "within",
    "within_noise",
]

# A promise of a further file is public too: the function of its module's own name.
for _, _name, _is_room in pkgutil.iter_modules(__path__):
    if not _is_room and _name not in globals():
        _promise = getattr(import_module(f"{__name__}.{_name}"), _name, None)
        if isfunction(_promise):
            globals()[_name] = _promise
            __all__.append(_name)
