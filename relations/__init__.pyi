from types import ModuleType

from pytest_recsys_mt.relations.add_irrelevant_candidates import (
    add_irrelevant_candidates as add_irrelevant_candidates,
)
from pytest_recsys_mt.relations.add_spaces import add_spaces as add_spaces
from pytest_recsys_mt.relations.add_unconnected_item import (
    add_unconnected_item as add_unconnected_item,
)
from pytest_recsys_mt.relations.add_unconnected_user import (
    add_unconnected_user as add_unconnected_user,
)
from pytest_recsys_mt.relations.ask_after_another import (
    ask_after_another as ask_after_another,
)
from pytest_recsys_mt.relations.ask_alone import ask_alone as ask_alone
from pytest_recsys_mt.relations.ask_elsewhere import ask_elsewhere as ask_elsewhere
from pytest_recsys_mt.relations.ask_in_one_batch import (
    ask_in_one_batch as ask_in_one_batch,
)
from pytest_recsys_mt.relations.ask_k import ask_k as ask_k
from pytest_recsys_mt.relations.change_case import change_case as change_case
from pytest_recsys_mt.relations.choose_again import choose_again as choose_again
from pytest_recsys_mt.relations.chosen_together import (
    chosen_together as chosen_together,
)
from pytest_recsys_mt.relations.demonstrations import demonstrations as demonstrations
from pytest_recsys_mt.relations.dislike_item import dislike_item as dislike_item
from pytest_recsys_mt.relations.drop_dislikes import drop_dislikes as drop_dislikes
from pytest_recsys_mt.relations.drop_history import drop_history as drop_history
from pytest_recsys_mt.relations.duplicate_history import (
    duplicate_history as duplicate_history,
)
from pytest_recsys_mt.relations.duplicate_user import duplicate_user as duplicate_user
from pytest_recsys_mt.relations.exclude_genre import exclude_genre as exclude_genre
from pytest_recsys_mt.relations.extend_list import extend_list as extend_list
from pytest_recsys_mt.relations.fit_again import fit_again as fit_again
from pytest_recsys_mt.relations.focus_on_recent import (
    focus_on_recent as focus_on_recent,
)
from pytest_recsys_mt.relations.forget_item import forget_item as forget_item
from pytest_recsys_mt.relations.invalid_ratings import (
    invalid_ratings as invalid_ratings,
)
from pytest_recsys_mt.relations.invert_ratings import invert_ratings as invert_ratings
from pytest_recsys_mt.relations.jitter_ratings import jitter_ratings as jitter_ratings
from pytest_recsys_mt.relations.level_ratings import level_ratings as level_ratings
from pytest_recsys_mt.relations.noisy_profile import noisy_profile as noisy_profile
from pytest_recsys_mt.relations.offer_extremes import offer_extremes as offer_extremes
from pytest_recsys_mt.relations.order_by_title import order_by_title as order_by_title
from pytest_recsys_mt.relations.other_form import other_form as other_form
from pytest_recsys_mt.relations.paraphrase_task import (
    paraphrase_task as paraphrase_task,
)
from pytest_recsys_mt.relations.permute_rows import permute_rows as permute_rows
from pytest_recsys_mt.relations.place_positive import place_positive as place_positive
from pytest_recsys_mt.relations.popularity_prompt import (
    popularity_prompt as popularity_prompt,
)
from pytest_recsys_mt.relations.raise_a_step import raise_a_step as raise_a_step
from pytest_recsys_mt.relations.raise_rating import raise_rating as raise_rating
from pytest_recsys_mt.relations.random_words import random_words as random_words
from pytest_recsys_mt.relations.rate_lowest import rate_lowest as rate_lowest
from pytest_recsys_mt.relations.rename_user import rename_user as rename_user
from pytest_recsys_mt.relations.renumber_items import renumber_items as renumber_items
from pytest_recsys_mt.relations.renumber_users import renumber_users as renumber_users
from pytest_recsys_mt.relations.reorder_history import (
    reorder_history as reorder_history,
)
from pytest_recsys_mt.relations.replace_namesakes import (
    replace_namesakes as replace_namesakes,
)
from pytest_recsys_mt.relations.rescale_training import (
    rescale_training as rescale_training,
)
from pytest_recsys_mt.relations.reverse_history import (
    reverse_history as reverse_history,
)
from pytest_recsys_mt.relations.same_seed_same_answer import (
    same_seed_same_answer as same_seed_same_answer,
)
from pytest_recsys_mt.relations.scale_ratings import scale_ratings as scale_ratings
from pytest_recsys_mt.relations.shift_ratings import shift_ratings as shift_ratings
from pytest_recsys_mt.relations.shift_times import shift_times as shift_times
from pytest_recsys_mt.relations.shilling import shilling as shilling
from pytest_recsys_mt.relations.shuffle_candidates import (
    shuffle_candidates as shuffle_candidates,
)
from pytest_recsys_mt.relations.spell_titles import spell_titles as spell_titles
from pytest_recsys_mt.relations.split_user import split_user as split_user
from pytest_recsys_mt.relations.swap_candidates import (
    swap_candidates as swap_candidates,
)
from pytest_recsys_mt.relations.swap_history import swap_history as swap_history
from pytest_recsys_mt.relations.swap_titles import swap_titles as swap_titles
from pytest_recsys_mt.relations.swap_user import swap_user as swap_user
from pytest_recsys_mt.relations.title_injection import (
    title_injection as title_injection,
)
from pytest_recsys_mt.relations.transformation import *
from pytest_recsys_mt.relations.truncate_history import (
    truncate_history as truncate_history,
)
from pytest_recsys_mt.relations.typos import typos as typos
from pytest_recsys_mt.relations.unseen_in_history import (
    unseen_in_history as unseen_in_history,
)
from pytest_recsys_mt.relations.with_profile import with_profile as with_profile

FOUND: dict[str, ModuleType]

__all__ = [
    "Transformation",
    "add_irrelevant_candidates",
    "add_spaces",
    "add_unconnected_item",
    "add_unconnected_user",
    "ask_after_another",
    "ask_alone",
    "ask_elsewhere",
    "ask_in_one_batch",
    "ask_k",
    "change_case",
    "choose_again",
    "chosen_together",
    "demonstrations",
    "dislike_item",
    "drop_dislikes",
    "drop_history",
    "duplicate_history",
    "duplicate_user",
    "exclude_genre",
    "extend_list",
    "fit_again",
    "focus_on_recent",
    "forget_item",
    "invalid_ratings",
    "invert_ratings",
    "jitter_ratings",
    "level_ratings",
    "noisy_profile",
    "offer_extremes",
    "order_by_title",
    "other_form",
    "paraphrase_task",
    "permute_rows",
    "place_positive",
    "popularity_prompt",
    "raise_a_step",
    "raise_rating",
    "random_words",
    "rate_lowest",
    "rename_user",
    "renumber_items",
    "renumber_users",
    "reorder_history",
    "replace_namesakes",
    "rescale_training",
    "reverse_history",
    "same_seed_same_answer",
    "scale_ratings",
    "shift_ratings",
    "shift_times",
    "shilling",
    "shuffle_candidates",
    "spell_titles",
    "split_user",
    "swap_candidates",
    "swap_history",
    "swap_titles",
    "swap_user",
    "title_injection",
    "truncate_history",
    "typos",
    "unseen_in_history",
    "with_profile",
]
