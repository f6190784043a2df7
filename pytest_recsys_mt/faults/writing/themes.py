"""Promises that share a test function: of one theme, in one form."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pytest_recsys_mt.faults.writing.candidates import Candidate


@dataclass(frozen=True)
class Theme:
    """Promises that one test function can make of several changes.

    Attributes:
        name: Of the function, without ``test_``.
        why: The promise in a sentence.
        changes: Relations, as code.
        oracle: That of its promises, where others are made of the same changes.
    """

    name: str
    why: str
    changes: tuple[str, ...]
    oracle: str = ""


THEMES: Sequence[Theme] = (
    Theme(
        "what_says_nothing_about_taste_changes_nothing",
        "The order of the history, a row that stands twice and the name of a user say nothing about taste.",
        ("reorder_history", "duplicate_history", "rename_user", "unseen_in_history"),
    ),
    Theme(
        "the_scale_of_ratings_is_irrelevant",
        "The same ratings on another scale say the same.",
        ("scale_ratings(2)", "scale_ratings(0.5)", "shift_ratings(1)"),
    ),
    Theme(
        "who_asks_and_who_answers_is_irrelevant",
        "Other requests, another process and a second time give the same list.",
        ("same_seed_same_answer", "ask_alone", "ask_in_one_batch", "ask_elsewhere"),
    ),
    Theme(
        "one_item_changes_little",
        "One {thing} more or less in the history changes little.",
        ("drop_history(1)", "noisy_profile(1)"),
    ),
    Theme(
        "how_the_data_are_written_is_irrelevant",
        "Rows in another order or form, and other ids, in training give the same lists.",
        (
            "permute_rows",
            "renumber_users",
            "renumber_items",
            "other_form",
            "jitter_ratings(1e-9)",
            "invalid_ratings('nan')",
            "invalid_ratings('infinite')",
        ),
    ),
    Theme(
        "the_wording_is_irrelevant",
        "The same task in other words, with typing errors, spaces and capitals gives the same list.",
        (
            "paraphrase_task",
            "typos(0.1)",
            "add_spaces()",
            "change_case()",
            "random_words()",
        ),
    ),
    Theme(
        "what_a_user_had_and_liked_counts",
        "Another user's history, and the opposite ratings, give another list.",
        ("swap_history", "invert_ratings"),
        "different_ranking",
    ),
    Theme(
        "everybody_gets_a_list_of_their_own",
        "Nobody gets a list that no history, or only the latest five, changes.",
        ("swap_history", "truncate_history(5)"),
    ),
)
"""Functions with several relations; each still gives a verdict of its own."""


def theme_of(candidate: Candidate) -> Theme | None:
    """The theme of a promise; None if it has a function of its own."""
    if candidate.setting or candidate.base:
        return None
    for theme in THEMES:
        is_its_form = theme.oracle in ("", candidate.forms[0].oracle)
        if candidate.change in theme.changes and is_its_form:
            return theme
    return None
