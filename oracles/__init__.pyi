from types import ModuleType

from pytest_recsys_mt.oracles.accuracy_gap import accuracy_gap as accuracy_gap
from pytest_recsys_mt.oracles.aggregates.aggregate import *
from pytest_recsys_mt.oracles.aggregates.dpd import dpd as dpd
from pytest_recsys_mt.oracles.aggregates.exposure import *
from pytest_recsys_mt.oracles.aggregates.exposure_gini import (
    exposure_gini as exposure_gini,
)
from pytest_recsys_mt.oracles.aggregates.item_coverage import (
    item_coverage as item_coverage,
)
from pytest_recsys_mt.oracles.aggregates.jain import jain as jain
from pytest_recsys_mt.oracles.aggregates.measures import *
from pytest_recsys_mt.oracles.aggregates.oic import oic as oic
from pytest_recsys_mt.oracles.aggregates.popreo import popreo as popreo
from pytest_recsys_mt.oracles.agreement_with import agreement_with as agreement_with
from pytest_recsys_mt.oracles.benchmark import *
from pytest_recsys_mt.oracles.better_than_baseline import (
    better_than_baseline as better_than_baseline,
)
from pytest_recsys_mt.oracles.better_than_chance import (
    better_than_chance as better_than_chance,
)
from pytest_recsys_mt.oracles.cand_dif import *
from pytest_recsys_mt.oracles.choices_kept import *
from pytest_recsys_mt.oracles.constant_answer import constant_answer as constant_answer
from pytest_recsys_mt.oracles.curve import *
from pytest_recsys_mt.oracles.different_ranking import (
    different_ranking as different_ranking,
)
from pytest_recsys_mt.oracles.direction import *
from pytest_recsys_mt.oracles.exclusion_kept import exclusion_kept as exclusion_kept
from pytest_recsys_mt.oracles.faults import *
from pytest_recsys_mt.oracles.few_items_lost import few_items_lost as few_items_lost
from pytest_recsys_mt.oracles.few_unchanged import few_unchanged as few_unchanged
from pytest_recsys_mt.oracles.judged import judged as judged
from pytest_recsys_mt.oracles.latency_within import latency_within as latency_within
from pytest_recsys_mt.oracles.low_churn import low_churn as low_churn
from pytest_recsys_mt.oracles.monotone import monotone as monotone
from pytest_recsys_mt.oracles.neighbours import *
from pytest_recsys_mt.oracles.never_differs import never_differs as never_differs
from pytest_recsys_mt.oracles.no_position_bias import (
    no_position_bias as no_position_bias,
)
from pytest_recsys_mt.oracles.not_behind import *
from pytest_recsys_mt.oracles.not_promoted import *
from pytest_recsys_mt.oracles.not_worse import not_worse as not_worse
from pytest_recsys_mt.oracles.paper import *
from pytest_recsys_mt.oracles.pinned import pinned as pinned
from pytest_recsys_mt.oracles.popularity_metric import *
from pytest_recsys_mt.oracles.representative import representative as representative
from pytest_recsys_mt.oracles.same_answer import same_answer as same_answer
from pytest_recsys_mt.oracles.same_hits import same_hits as same_hits
from pytest_recsys_mt.oracles.same_ranking import *
from pytest_recsys_mt.oracles.scores.aplt import aplt as aplt
from pytest_recsys_mt.oracles.scores.arp import arp as arp
from pytest_recsys_mt.oracles.scores.compliance import *
from pytest_recsys_mt.oracles.scores.intra_list_diversity import (
    intra_list_diversity as intra_list_diversity,
)
from pytest_recsys_mt.oracles.scores.popularity_differences import *
from pytest_recsys_mt.oracles.scores.popularity_groups import *
from pytest_recsys_mt.oracles.scores.popularity_rank_correlation import (
    popularity_rank_correlation as popularity_rank_correlation,
)
from pytest_recsys_mt.oracles.scores.score import *
from pytest_recsys_mt.oracles.scores.self_information import (
    self_information as self_information,
)
from pytest_recsys_mt.oracles.scores.serendipity import *
from pytest_recsys_mt.oracles.scores.short_lists import *
from pytest_recsys_mt.oracles.scores.slot_shares import *
from pytest_recsys_mt.oracles.scores.slots import *
from pytest_recsys_mt.oracles.self_agreement import self_agreement as self_agreement
from pytest_recsys_mt.oracles.served_as_trained import (
    served_as_trained as served_as_trained,
)
from pytest_recsys_mt.oracles.similarities.average_overlap import (
    average_overlap as average_overlap,
)
from pytest_recsys_mt.oracles.similarities.fagin import fagin as fagin
from pytest_recsys_mt.oracles.similarities.jaccard import jaccard as jaccard
from pytest_recsys_mt.oracles.similarities.kendall import kendall as kendall
from pytest_recsys_mt.oracles.similarities.overlap import overlap as overlap
from pytest_recsys_mt.oracles.similarities.rbo import rbo as rbo
from pytest_recsys_mt.oracles.similarities.rbo_bounds import *
from pytest_recsys_mt.oracles.spread_of import spread_of as spread_of
from pytest_recsys_mt.oracles.statistics.bradley_terry import *
from pytest_recsys_mt.oracles.statistics.crossing_point import *
from pytest_recsys_mt.oracles.statistics.intervals import *
from pytest_recsys_mt.oracles.statistics.paired_difference import *
from pytest_recsys_mt.oracles.statistics.popularity_fit import *
from pytest_recsys_mt.oracles.statistics.position_bias import *
from pytest_recsys_mt.oracles.statistics.q_score import *
from pytest_recsys_mt.oracles.statistics.same_distribution import (
    same_distribution as same_distribution,
)
from pytest_recsys_mt.oracles.statistics.sign_flips import *
from pytest_recsys_mt.oracles.statistics.two_samples import *
from pytest_recsys_mt.oracles.unmoved import unmoved as unmoved
from pytest_recsys_mt.oracles.within_noise import within_noise as within_noise

FOUND: dict[str, ModuleType]

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
    "agreement_with",
    "ahead_when_cold",
    "aplt",
    "arp",
    "at_least",
    "at_most",
    "average_overlap",
    "better_than_baseline",
    "better_than_chance",
    "bradley_terry",
    "cand_dif",
    "cand_dif_within",
    "check_popularity_metric",
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
    "exclusion_kept",
    "exposure_gini",
    "fagin",
    "few_items_lost",
    "few_unchanged",
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
    "judged",
    "kendall",
    "latency_within",
    "log_popularity_difference",
    "long_tail",
    "low_churn",
    "means_of_users",
    "monotone",
    "neighbours_lowered",
    "neighbours_not_lowered",
    "neighbours_not_raised",
    "neighbours_raised",
    "never_differs",
    "no_position_bias",
    "no_repeats",
    "not_behind",
    "not_increased",
    "not_lifted",
    "not_promoted",
    "not_worse",
    "oic",
    "only_candidates",
    "out_of_candidate",
    "overlap",
    "paired_difference",
    "paper_t_test",
    "pinned",
    "placed_bradley_terry",
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
    "served_as_trained",
    "short_list",
    "sign_flip_test",
    "slots_of",
    "spread_of",
    "t_from_summary",
    "unexpectedness",
    "unmoved",
    "within",
    "within_noise",
]
