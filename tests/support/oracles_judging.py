"""What tests use of `oracles.judging`."""

from pytest_recsys_mt.oracles.judging import claim
from pytest_recsys_mt.oracles.judging.account import counted
from pytest_recsys_mt.oracles.judging.changed_entries import hoeffding
from pytest_recsys_mt.oracles.judging.claim import (
    Claim,
    Promise,
    judge_family,
    p_value,
    p_value_of_opposite,
    weights,
)
from pytest_recsys_mt.oracles.judging.conclusion import verdict_of
from pytest_recsys_mt.oracles.judging.difference import paired_differences
from pytest_recsys_mt.oracles.judging.effect import (
    NOTHING_SHARED,
    Effects,
    similarity_effects,
)
from pytest_recsys_mt.oracles.judging.examples import Shown, kinds
from pytest_recsys_mt.oracles.judging.item_groups import (
    divided,
    popularity_groups,
    require_item_slicings,
)
from pytest_recsys_mt.oracles.judging.item_slices import (
    TAKEN_BY,
    effects_of_items,
    item_groups_of,
    listed,
)
from pytest_recsys_mt.oracles.judging.judge import judge_pair
from pytest_recsys_mt.oracles.judging.list_changes import left_or_moved
from pytest_recsys_mt.oracles.judging.power import (
    POWER,
    extreme_visible,
    least_change,
    outlook,
    users_needed,
)
from pytest_recsys_mt.oracles.judging.seen import Seen
from pytest_recsys_mt.oracles.judging.sensitivity import CHANCE, sensitivity_of
from pytest_recsys_mt.oracles.judging.shared import clearly_changed
from pytest_recsys_mt.oracles.judging.slices import LEAST, groups_of, require_slicings
from pytest_recsys_mt.oracles.judging.steps import FIRST_STEP, LEAST_STEP, next_step
from pytest_recsys_mt.oracles.judging.swapped import swapped_neighbours
from pytest_recsys_mt.oracles.judging.together import confirmed, twice
from pytest_recsys_mt.oracles.judging.trait_table import Table

__all__ = [
    "CHANCE",
    "FIRST_STEP",
    "LEAST",
    "LEAST_STEP",
    "NOTHING_SHARED",
    "POWER",
    "TAKEN_BY",
    "Claim",
    "Effects",
    "Promise",
    "Seen",
    "Shown",
    "Table",
    "claim",
    "clearly_changed",
    "confirmed",
    "counted",
    "divided",
    "effects_of_items",
    "extreme_visible",
    "groups_of",
    "hoeffding",
    "item_groups_of",
    "judge_family",
    "judge_pair",
    "kinds",
    "least_change",
    "left_or_moved",
    "listed",
    "next_step",
    "outlook",
    "p_value",
    "p_value_of_opposite",
    "paired_differences",
    "popularity_groups",
    "require_item_slicings",
    "require_slicings",
    "sensitivity_of",
    "similarity_effects",
    "swapped_neighbours",
    "twice",
    "users_needed",
    "verdict_of",
    "weights",
]
