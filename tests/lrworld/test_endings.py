"""The sentence that ends a reasoning chooses its option, or none where it may mean two."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import pytest

from tests.lrworld.test_answer_forms import QUESTIONS, rendered
from tests.support.suites_lrworld import read

REASONS = "The user likes tense thrillers.\nSome of these are comedies.\n\n"
NUMBERS, LETTERS = QUESTIONS[0], QUESTIONS[2]
OPENINGS = (
    "", "So ", "Therefore, ", "Overall, ", "Overall ", "In conclusion, ", "Thus ", "Given all of this, ",
    "Ultimately, ", "As a result, ", "On balance, ", "To conclude, ",
)  # fmt: skip
ENDINGS = (
    "the strongest match is {m}.",
    "the best option is {m}.",
    "the likeliest candidate is {m}: {t}.",
    "the most plausible choice would be {m}.",
    "the most fitting option seems to be **{m}**.",
    "the best match among these candidates is {m}.",
    "the closest match from the given options is {m}.",
    "I would therefore choose {m}: {t}",
    "I would choose {m}.",
    "I conclude that {m} is the best answer.",
    "my final choice: {m}",
    "it has to be {m}.",
    "it must be {m}.",
    "{m} is the strongest match.",
    "{m} is the most suitable option.",
    "{m} stands out as the best choice.",
    "{m} is the clear winner.",
    "{m} wins.",
    "the winner is {m}.",
    "{t} is the most likely choice.",
)
UNREAD = (
    "the strongest match is {m} or {x}.",
    "the strongest matches are {m} and {x}.",
    "{m} wins over some, and {x} over others.",
    "the strongest match is not {m}.",
    "{m} isn't the most suitable option.",
    "{m} is hardly the strongest match.",
    "it must not be {m}.",
    "it need not be {m}.",
    "is the strongest match {m}?",
    "does {m} win? {m} wins?",
    "the next best option is {m}.",
    "among the strongest is {m}.",
    "one of the most plausible options is {m}.",
    "the best option after that is {m}.",
    "the closest option in genre is {m}.",
    "so far the strongest match is {m}.",
    "at first glance it must be {m}.",
    "if they like crime, it must be {m}.",
    "perhaps the likeliest candidate is {m}.",
    "the least plausible choice is {m}.",
    "{m} match.",
    "{m} are left.",
    "the weakest match is {m}.",
    "the strongest argument is against {m}.",
    "{m} wins only if they like crime.",
    "the strongest match is {m}. Wait, that is wrong.",
    "nobody would say that {m} wins.",
)


def ended(opening: str, ending: str) -> str:
    text = opening + ending
    return REASONS + (text if text.startswith("{") else text[0].upper() + text[1:])


@pytest.mark.parametrize("opening", OPENINGS)
def test_an_ending_chooses_its_option(opening: str) -> None:
    wrong = []
    for ending, question in product(ENDINGS, (NUMBERS, LETTERS)):
        for place in range(len(question.options)):
            text = rendered(ended(opening, ending), question, place)
            if read(text, question, think=True) != place:
                wrong.append(text.removeprefix(REASONS))
    assert not wrong, (len(wrong), wrong[:5])


@pytest.mark.parametrize("opening", OPENINGS)
def test_an_ending_that_may_mean_two_is_unread(opening: str) -> None:
    wrong = []
    for ending, question, think in product(UNREAD, (NUMBERS, LETTERS), (False, True)):
        for place in range(len(question.options)):
            text = rendered(ended(opening, ending), question, place)
            if read(text, question, think=think) is not None:
                wrong.append(text.removeprefix(REASONS))
    assert not wrong, (len(wrong), wrong[:5])


def test_the_last_ending_counts() -> None:
    text = f"{REASONS}Overall the strongest match is 2.\nNo: the history is older.\nIt must be 5."
    assert read(text, NUMBERS, think=True) == 4
    assert read(text, NUMBERS, think=True, cut_off=True) is None


@pytest.mark.parametrize(
    ("text", "choice"),
    [
        ('The most similar movie to "Blade Runner" (1982) from the listed candidates is **3: Heat (1995)**.', 2),
        ('The most similar movie to "Blade Runner (1982), Sci-Fi Thriller" is:\n\n**Index: 3**\n\n**Why:**\n\nBoth are dark.', 2),
        ('In short, "Heat" (1995) at index 3 is the most similar movie to "Blade Runner" (1982) based on their mood.', 2),
        ("The closest match to Blade Runner is option 3.", 2),
        ('The most similar movie to "Runner" (1982) is 3.', None),
        ('The movie most similar to "Blade Runner" is 3 or 4.', None),
        ('Of the crime films, the most similar to "Blade Runner" was 3', None),
    ],
)  # fmt: skip
def test_the_item_to_compare_with_is_no_part_of_the_answer(
    text: str,
    choice: int | None,
) -> None:
    shown = {"target": "Blade Runner (1982), Sci-Fi Thriller"}
    asked = replace(NUMBERS, measure="similar_items", shown=shown)
    assert read(text, asked) == choice
    assert read(text, asked, think=True) == choice


@pytest.mark.parametrize(
    "part",
    ["the strongest match ", "most similar to ", "it must be ", "1 wins ", ", if "],
)
@pytest.mark.timeout(5)
def test_a_long_reasoning_is_read_in_time(part: str) -> None:
    assert read(part * 5_000, NUMBERS, think=True) in (None, 0)
