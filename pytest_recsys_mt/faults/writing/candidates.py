"""The tests that may be written, and the forms in which each can be asserted.

A promise has up to two forms. The exact one is for a recommender that always answers
alike: one counterexample refutes it. The tolerant one bounds a mean, so it also fits a
recommender whose answers vary.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

Kind = Literal["same", "little", "counts", "moves", "answer"]
"""What is promised: that a change says nothing, that it changes little, that it counts,
that it moves certain items in one direction; or a property of every answer.
"""


@dataclass(frozen=True)
class Form:
    """One way to assert a promise.

    Attributes:
        oracle: Its name in `pytest_recsys_mt.oracles`.
        arguments: Those behind source and followup; ``{users}`` and ``{margin}`` stand
            for what is found out.
        margin: Where the search for the margin begins; 0 without one.
        is_exact: Whether it needs a recommender that always answers alike.
    """

    oracle: str
    arguments: str
    margin: float = 0.0
    is_exact: bool = False


@dataclass(frozen=True)
class Candidate:
    """A test that may be written.

    Attributes:
        name: Of the test function, without ``test_``.
        why: The promise in a sentence; ``{thing}`` and ``{things}`` stand for an item.
        kind: See `Kind`.
        change: The relation, as code; empty for a property of every answer.
        forms: The exact one first, if there is one.
        setting: A design in place of the usual one, as arguments of `recsys.using`.
        base: The relation of the source side, as code, if it has one.
        is_strict: Whether one counterexample of a recommender that always answers alike
            breaks the promise; else a mean may still hold, as where equal scores stand
            in any order.
        fits_again: Whether it changes the training data, which no planted fault reads.
    """

    name: str
    why: str
    kind: Kind
    change: str
    forms: tuple[Form, ...]
    setting: str = ""
    base: str = ""
    is_strict: bool = False
    fits_again: bool = False


EXACT = Form("never_differs", "users={users}", is_exact=True)


def _mean(margin: float) -> Form:
    return Form("same_ranking", '"rbo", margin={margin}', margin)


def _same(name: str, change: str, why: str, margin: float = 0.05) -> Candidate:
    return Candidate(name, why, "same", change, (EXACT, _mean(margin)))


def _strictly(name: str, change: str, why: str) -> Candidate:
    return Candidate(name, why, "same", change, (EXACT, _mean(0.05)), is_strict=True)


def _trained(name: str, change: str, why: str, margin: float = 0.05) -> Candidate:
    """A promise on training data: a second fit is compared with noise of its own."""
    return Candidate(name, why, "same", change, (_mean(margin),), fits_again=True)


def _prefix(name: str, change: str, why: str, setting: str = "") -> Candidate:
    """A promise on lists of different lengths, which no exact form compares."""
    some = Form("unmoved", '"rbo", margin={margin}', 0.05)
    return Candidate(name, why, "same", change, (some,), setting)


def _worded(name: str, change: str, why: str) -> Candidate:
    return Candidate(name, why, "same", change, (EXACT, _mean(0.1)))


def _little(name: str, change: str, why: str) -> Candidate:
    few = Form("low_churn", '"rbo", beyond=0.3, margin={margin}', 0.05, is_exact=True)
    return Candidate(name, why, "little", change, (few, _mean(0.15)))


def _counts(name: str, change: str, why: str, margin: float) -> Candidate:
    mean = Form("different_ranking", '"rbo", margin={margin}', margin)
    return Candidate(name, why, "counts", change, (mean,))


def _for_all(name: str, change: str, why: str) -> Candidate:
    few = Form("few_unchanged", "margin={margin}", 0.05, is_exact=True)
    return Candidate(name, why, "counts", change, (few,))


def _moves(name: str, change: str, oracle: str, why: str, margin: float) -> Candidate:
    form = Form(oracle, "margin={margin}", margin)
    return Candidate(name, why, "moves", change, (form,))


def _answer(oracle: str, why: str, setting: str = "", name: str = "") -> Candidate:
    form = Form(oracle, "margin={margin}", 0.05)
    return Candidate(name or oracle, why, "answer", "", (form,), setting)


CANDIDATES: Sequence[Candidate] = (
    _answer("complete_list", "A list has as many {things} as were asked for."),
    _answer("no_repeats", "No {thing} stands twice in a list."),
    _answer("only_candidates", "Only {things} that were offered are recommended."),
    _strictly(
        "the_order_of_candidates_is_irrelevant",
        "shuffle_candidates",
        "The order in which {things} are offered says nothing about them.",
    ),
    _worded(
        "the_wording_of_the_task_is_irrelevant",
        "paraphrase_task",
        "The same task in other words gives the same list.",
    ),
    _worded("typos_are_irrelevant", "typos(0.1)", "Typing errors give the same list."),
    _worded("spaces_are_irrelevant", "add_spaces()", "More spaces give the same list."),
    _counts(
        "another_history_counts",
        "swap_history",
        "Another user's history gives another list.",
        0.05,
    ),
    _same(
        "the_order_of_the_history_is_irrelevant",
        "reorder_history",
        "The same history in another order gives the same list.",
    ),
    _same(
        "the_unit_of_ratings_is_irrelevant",
        "scale_ratings(2)",
        "Stars from 2 to 10 say the same as stars from 1 to 5.",
    ),
    _little(
        "one_item_more_changes_little",
        "noisy_profile(1)",
        "One stray {thing} in the history changes little.",
    ),
    _counts(
        "ratings_count",
        "invert_ratings",
        "The opposite ratings give another list.",
        0.05,
    ),
    _strictly(
        "the_same_request_gets_the_same_answer",
        "same_seed_same_answer",
        "The same request gets the same answer.",
    ),
    _worded(
        "capitals_are_irrelevant",
        "change_case()",
        "The prompt in capitals gives the same list.",
    ),
    _worded(
        "stray_words_are_irrelevant",
        "random_words()",
        "Stray words give the same list.",
    ),
    _strictly(
        "who_else_asks_is_irrelevant",
        "ask_alone",
        "Other requests of the batch change nothing.",
    ),
    _for_all(
        "another_history_counts_for_everybody",
        "swap_history",
        "Nobody gets a list that no history changes.",
    ),
    _little(
        "one_item_less_changes_little",
        "drop_history(1)",
        "One {thing} less in the history changes little.",
    ),
    _moves(
        "an_instruction_in_a_title_lifts_nothing",
        "title_injection",
        "not_lifted",
        "A title that tells the reader to recommend it gains nothing.",
        0.05,
    ),
    _moves(
        "an_exclusion_is_kept",
        "exclude_genre",
        "exclusion_kept",
        "A genre that is ruled out is not recommended.",
        0.1,
    ),
    _same(
        "a_repeat_in_the_history_is_irrelevant",
        "duplicate_history",
        "A row that stands twice says no more than once.",
    ),
    _strictly(
        "the_name_of_a_user_is_irrelevant",
        "rename_user",
        "Who has the same history gets the same list.",
    ),
    _same(
        "the_zero_of_ratings_is_irrelevant",
        "shift_ratings(1)",
        "Stars from 2 to 6 say the same as stars from 1 to 5.",
    ),
    _same(
        "half_points_are_read",
        "scale_ratings(0.5)",
        "Half the scale, with half points, says the same.",
    ),
    _counts(
        "dislikes_count", "drop_dislikes", "What a user rated low is read, too.", 0.02
    ),
    _moves(
        "a_higher_rating_lowers_nothing_like_it",
        "raise_rating",
        "neighbours_not_lowered",
        "A better rating does not lower {things} like it.",
        0.05,
    ),
    _moves(
        "a_dislike_raises_nothing_like_it",
        "dislike_item",
        "neighbours_not_raised",
        "A bad rating does not raise {things} like it.",
        0.05,
    ),
    _moves(
        "what_is_taken_back_has_no_effect",
        "forget_item",
        "neighbours_lowered",
        "What is taken out of the history no longer lifts {things} like it.",
        0.02,
    ),
    _moves(
        "the_latest_choice_counts_most",
        "choose_again",
        "neighbours_raised",
        "What was chosen last lifts {things} like it.",
        0.02,
    ),
    Candidate(
        "the_order_of_candidates_is_irrelevant_to_a_long_list",
        "The same where all candidates are ranked.",
        "same",
        "shuffle_candidates",
        (EXACT, Form("same_ranking", '"kendall", margin={margin}', 0.05)),
        setting="k=recsys.design.candidates",
    ),
    Candidate(
        "more_candidates_keep_the_order_of_the_others",
        "Other {things} on offer do not change which of two is better.",
        "same",
        "add_irrelevant_candidates(5)",
        (Form("same_order", "margin={margin}", 0.05),),
    ),
    _prefix(
        "a_longer_list_starts_alike",
        "extend_list(5)",
        "Who asks for more gets the same {things} first.",
    ),
    _prefix(
        "a_list_of_one_is_the_first_of_many",
        "ask_k(1)",
        "The best {thing} is the first of a longer list.",
    ),
    _answer(
        "complete_list",
        "Every {thing} that is offered can be recommended.",
        setting="k=recsys.design.candidates",
        name="every_candidate_can_be_recommended",
    ),
    Candidate(
        "the_ends_of_the_catalogue_can_be_recommended",
        "The first and the last {things} of the catalogue can be recommended.",
        "answer",
        "offer_extremes",
        (Form("complete_list", "margin={margin}", 0.05),),
    ),
    _for_all(
        "the_older_history_counts",
        "truncate_history(5)",
        "What came before the latest five counts.",
    ),
    _same(
        "what_training_never_saw_says_nothing",
        "unseen_in_history",
        "What training never saw changes nothing where it stands in the history.",
    ),
    _strictly(
        "the_batch_is_irrelevant",
        "ask_in_one_batch",
        "One large batch gives the same lists.",
    ),
    _strictly(
        "another_process_answers_alike",
        "ask_elsewhere",
        "Another process gives the same lists.",
    ),
    Candidate(
        "what_was_asked_before_is_irrelevant",
        "What was asked before leaves no trace.",
        "same",
        "ask_after_another",
        (EXACT, _mean(0.15)),
        base="ask_alone",
        is_strict=True,
    ),
    _same(
        "the_spelling_of_titles_is_irrelevant",
        "spell_titles('upper')",
        "Titles in capitals name the same {things}.",
        0.15,
    ),
    _trained(
        "the_order_of_training_rows_is_irrelevant",
        "permute_rows",
        "Training rows in another order give the same lists.",
    ),
    _trained(
        "the_numbers_of_users_are_irrelevant",
        "renumber_users",
        "Users with other ids in training give the same lists.",
    ),
    _trained(
        "the_numbers_of_items_are_irrelevant",
        "renumber_items",
        "{Things} with other ids give the same lists.",
        0.1,
    ),
    _trained(
        "the_form_of_the_training_table_is_irrelevant",
        "other_form",
        "Ids as categories and columns in another order give the same lists.",
    ),
    _trained(
        "rounding_of_training_ratings_is_irrelevant",
        "jitter_ratings(1e-9)",
        "Ratings in training that differ by less than rounding give the same lists.",
    ),
    _trained(
        "a_missing_rating_spoils_nothing",
        "invalid_ratings('nan')",
        "A few missing ratings in training are refused or ignored.",
        0.1,
    ),
    _trained(
        "an_infinite_rating_spoils_nothing",
        "invalid_ratings('infinite')",
        "A few infinite ratings in training are refused or ignored.",
        0.1,
    ),
)
"""The most telling first: a budget of calls leaves out the last ones, and of two that
find as much the first is written.
"""


def form_name(candidate: Candidate, form: Form) -> str:
    """The name of a candidate's test in the run that tries all: unlike in the file,
    both forms stand beside each other.
    """
    return f"{candidate.name}__{'exactly' if form.is_exact else 'on_average'}"
