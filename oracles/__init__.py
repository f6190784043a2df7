"""The oracles: functions that judge source and follow-up answers and return a verdict.

A verdict ``holds`` if the mean is shown to be on the side of the margin that is promised, and is ``violated`` if it is
shown to be on the other. Each oracle raises `OracleError` if an argument is invalid; a docstring says only what else raises one.
"""

import pkgutil
from importlib import import_module
from inspect import isfunction

from pytest_recsys_mt.oracles.accuracy_gap import accuracy_gap as accuracy_gap
from pytest_recsys_mt.oracles.aggregates.aggregate import *
from pytest_recsys_mt.oracles.aggregates.dpd import dpd as dpd
from pytest_recsys_mt.oracles.aggregates.exposure import *
from pytest_recsys_mt.oracles.aggregates.exposure_gini import exposure_gini as exposure_gini
from pytest_recsys_mt.oracles.aggregates.item_coverage import item_coverage as item_coverage
from pytest_recsys_mt.oracles.aggregates.jain import jain as jain
from pytest_recsys_mt.oracles.aggregates.measures import *
from pytest_recsys_mt.oracles.aggregates.oic import oic as oic
from pytest_recsys_mt.oracles.aggregates.popreo import popreo as popreo
from pytest_recsys_mt.oracles.benchmark import *
from pytest_recsys_mt.oracles.better_than_baseline import (
    better_than_baseline as better_than_baseline,
)
from pytest_recsys_mt.oracles.better_than_chance import better_than_chance as better_than_chance
from pytest_recsys_mt.oracles.cand_dif import *
from pytest_recsys_mt.oracles.choices_kept import *
from pytest_recsys_mt.oracles.constant_answer import constant_answer as constant_answer
from pytest_recsys_mt.oracles.curve import curve as curve
from pytest_recsys_mt.oracles.different_ranking import different_ranking as different_ranking
from pytest_recsys_mt.oracles.direction import *
from pytest_recsys_mt.oracles.exclusion_kept import exclusion_kept as exclusion_kept
from pytest_recsys_mt.oracles.faults import *
from pytest_recsys_mt.oracles.few_unchanged import few_unchanged as few_unchanged
from pytest_recsys_mt.oracles.low_churn import low_churn as low_churn
from pytest_recsys_mt.oracles.monotone import monotone as monotone
from pytest_recsys_mt.oracles.neighbours import *
from pytest_recsys_mt.oracles.never_differs import never_differs as never_differs
from pytest_recsys_mt.oracles.no_position_bias import no_position_bias as no_position_bias
from pytest_recsys_mt.oracles.not_behind import *
from pytest_recsys_mt.oracles.not_promoted import *
from pytest_recsys_mt.oracles.not_worse import not_worse as not_worse
from pytest_recsys_mt.oracles.paper import *
from pytest_recsys_mt.oracles.popularity_metric import *
from pytest_recsys_mt.oracles.representative import representative as representative
from pytest_recsys_mt.oracles.same_answer import same_answer as same_answer
from pytest_recsys_mt.oracles.same_hits import same_hits as same_hits
from pytest_recsys_mt.oracles.same_ranking import *
from pytest_recsys_mt.oracles.scores.aplt import aplt as aplt
from pytest_recsys_mt.oracles.scores.arp import arp as arp
from pytest_recsys_mt.oracles.scores.compliance import *
from pytest_recsys_mt.oracles.scores.duplicates import duplicates as duplicates
from pytest_recsys_mt.oracles.scores.gini import *
from pytest_recsys_mt.oracles.scores.hallucination import hallucination as hallucination
from pytest_recsys_mt.oracles.scores.herfindahl import *
from pytest_recsys_mt.oracles.scores.history_repeats import history_repeats as history_repeats
from pytest_recsys_mt.oracles.scores.intra_list_diversity import (
    intra_list_diversity as intra_list_diversity,
)
from pytest_recsys_mt.oracles.scores.log_popularity_difference import (
    log_popularity_difference as log_popularity_difference,
)
from pytest_recsys_mt.oracles.scores.out_of_candidate import out_of_candidate as out_of_candidate
from pytest_recsys_mt.oracles.scores.popularity_groups import *
from pytest_recsys_mt.oracles.scores.popularity_lift import popularity_lift as popularity_lift
from pytest_recsys_mt.oracles.scores.popularity_rank_correlation import (
    popularity_rank_correlation as popularity_rank_correlation,
)
from pytest_recsys_mt.oracles.scores.score import *
from pytest_recsys_mt.oracles.scores.self_information import self_information as self_information
from pytest_recsys_mt.oracles.scores.serendipity import *
from pytest_recsys_mt.oracles.scores.short_lists import *
from pytest_recsys_mt.oracles.scores.slots import *
from pytest_recsys_mt.oracles.self_agreement import self_agreement as self_agreement
from pytest_recsys_mt.oracles.similarities.average_overlap import average_overlap as average_overlap
from pytest_recsys_mt.oracles.similarities.fagin import fagin as fagin
from pytest_recsys_mt.oracles.similarities.jaccard import jaccard as jaccard
from pytest_recsys_mt.oracles.similarities.kendall import kendall as kendall
from pytest_recsys_mt.oracles.similarities.overlap import overlap as overlap
from pytest_recsys_mt.oracles.similarities.rbo import rbo as rbo
from pytest_recsys_mt.oracles.similarities.rbo_bounds import *
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
from pytest_recsys_mt.oracles.within_noise import within_noise as within_noise

# The imports above are for editors and type checkers; scripts/exports writes them. What a module of this folder offers
# is public with or without them: the names of its `__all__`, or else the function of the module's own name.
_MODULES = [import_module(found.name) for found in pkgutil.walk_packages(__path__, f"{__name__}.")]
FOUND = {
    name: module
    for module in _MODULES
    for name in getattr(module, "__all__", [module.__name__.rpartition(".")[2]])
    if hasattr(module, name)
}
_LISTS = f"{__name__}.similarities."
_DOOR = import_module(f"{__name__}.door")
globals().update(
    {
        name: (_DOOR.checked_lists if module.__name__.startswith(_LISTS) else _DOOR.checked)(found)
        if isfunction(found := getattr(module, name))
        else found
        for name, module in FOUND.items()
    }
)

__all__ = [*sorted(FOUND)]  # noqa: PLE0604
