"""The transformations, one per file; the oracles judge their promises."""

from pytest_recsys_mt.relations.add_irrelevant_candidates import add_irrelevant_candidates
from pytest_recsys_mt.relations.add_spaces import add_spaces
from pytest_recsys_mt.relations.ask_after_another import ask_after_another
from pytest_recsys_mt.relations.ask_alone import ask_alone
from pytest_recsys_mt.relations.ask_elsewhere import ask_elsewhere
from pytest_recsys_mt.relations.ask_k import ask_k
from pytest_recsys_mt.relations.change_case import change_case
from pytest_recsys_mt.relations.demonstrations import demonstrations
from pytest_recsys_mt.relations.drop_history import drop_history
from pytest_recsys_mt.relations.duplicate_history import duplicate_history
from pytest_recsys_mt.relations.extend_list import extend_list
from pytest_recsys_mt.relations.focus_on_recent import focus_on_recent
from pytest_recsys_mt.relations.noisy_profile import noisy_profile
from pytest_recsys_mt.relations.paraphrase_task import paraphrase_task
from pytest_recsys_mt.relations.place_positive import place_positive
from pytest_recsys_mt.relations.popularity_prompt import popularity_prompt
from pytest_recsys_mt.relations.random_words import random_words
from pytest_recsys_mt.relations.rename_user import rename_user
from pytest_recsys_mt.relations.reorder_history import reorder_history
from pytest_recsys_mt.relations.same_seed_same_answer import same_seed_same_answer
from pytest_recsys_mt.relations.scale_ratings import scale_ratings
from pytest_recsys_mt.relations.shift_ratings import shift_ratings
from pytest_recsys_mt.relations.shuffle_candidates import shuffle_candidates
from pytest_recsys_mt.relations.swap_history import swap_history
from pytest_recsys_mt.relations.title_injection import title_injection
from pytest_recsys_mt.relations.transformation import Transformation
from pytest_recsys_mt.relations.truncate_history import truncate_history
from pytest_recsys_mt.relations.typos import typos
from pytest_recsys_mt.relations.with_profile import with_profile

__all__ = [
    "Transformation",
    "add_irrelevant_candidates",
    "add_spaces",
    "ask_after_another",
    "ask_alone",
    "ask_elsewhere",
    "ask_k",
    "change_case",
    "demonstrations",
    "drop_history",
    "duplicate_history",
    "extend_list",
    "focus_on_recent",
    "noisy_profile",
    "paraphrase_task",
    "place_positive",
    "popularity_prompt",
    "random_words",
    "rename_user",
    "reorder_history",
    "same_seed_same_answer",
    "scale_ratings",
    "shift_ratings",
    "shuffle_candidates",
    "swap_history",
    "title_injection",
    "truncate_history",
    "typos",
    "with_profile",
]
