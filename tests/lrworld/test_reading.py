from __future__ import annotations

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_recsys_mt.suites.lrworld import Question
from tests.support.suites_lrworld import labels, llara, read

FILMS = (
    "Alien (1979)",
    "Aliens (1986)",
    "Heat (1995)",
    "12 Angry Men (1957)",
    "10 (1979)",
    "Se7en (1995)",
    "A (1998)",
    "Toy Story (1995)",
    "Toy Story 2 (1999)",
    "3 Ninjas (1992)",
)
LOGLINES = ("A thief falls.", "A cop rises.", "Two fall in love.", "A ship sinks.")


def numbered() -> Question:
    return Question(
        "u-1",
        "user_to_items",
        "personalization",
        "",
        "movie",
        {"history": ("X",)},
        FILMS,
        0,
    )


def lettered(options: tuple[str, ...] = LOGLINES) -> Question:
    return Question(
        "l-1",
        "logline",
        "knowledgeability",
        "",
        "movie",
        {"history": ("X",)},
        options,
        0,
    )


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("3", 2),
        ("3.", 2),
        (" 10 \n", 9),
        ("10)", 9),
        ("(3)", 2),
        ("**3**", 2),
        ("#3", 2),
        ("3. Heat (1995)", 2),
        ("3) heat 1995", 2),
        ("Heat (1995)", 2),
        ('"Heat (1995)"', 2),
        ("12 Angry Men (1957)", 3),
        ("10 (1979)", 4),
        ("3 Ninjas (1992)", 9),
        ("10) 3 Ninjas (1992)", 9),
        ("Answer: 3", 2),
        ("The answer is 3.", 2),
        ("The answer is **Heat (1995)**.", 2),
        ("My prediction: option 2", 1),
        ("I choose index 8 because the user likes 1 and 2.", 7),
        ("The user will watch Aliens (1986) next.", 1),
        ("They would enjoy Toy Story 2 (1999).", 8),
        ("3\n\nBecause the user likes crime films.", 2),
        ("1) Alien (1979)\n2) Aliens (1986)\nAnswer: 2", 1),
        ("", None),
        ("11", None),
        ("0", None),
        ("3 or 4", None),
        ("3\n4", None),
        ("3, 4", None),
        ("3) Alien (1979)", None),
        ("Alien (1979) or Heat (1995)", None),
        ("I cannot say.", None),
        ("Answer: 3\nAnswer: 4", None),
        ("A user like this one", None),
        ("Option 1 is tempting, option 2 too", None),
        ("I would go for option 2, by far", 1),
    ],
)
def test_what_is_read_of_numbered_options(text: str, place: int | None) -> None:
    assert read(text, numbered()) == place


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("B", 1),
        ("b)", 1),
        ("B) A cop rises.", 1),
        ("A cop rises", 1),
        ("Answer: D", 3),
        ("**Answer:** (D)", 3),
        ("A thief falls. A cop rises.", None),
        ("A ship", None),
        ("A and B", None),
        ("E", None),
        ("I like them", None),
        ("B) A thief falls.", None),
    ],
)
def test_what_is_read_of_lettered_options(text: str, place: int | None) -> None:
    assert read(text, lettered()) == place


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("The answer may be A. But it sinks.\nAnswer: D", 3),
        ("Answer: A\nOn reflection:\nAnswer: D", 3),
        ("First\nB\nthen\nC", None),
        ("B\nIt is about a cop.", 1),
        ("I don't know this film, but a ship sinks in few.\n\nAnswer: D", 3),
        ("I don't know.\n\nD", None),
        ("They like the sea.\n\n## Answer\n\n**D**", 3),
        (
            "Let's weigh them.\n\nA) A thief falls.\nThey dislike thieves; it is about a",
            None,
        ),
        ("It is clear: two fall in love.", 2),
        ("A thief falls. That is wrong.\nSo: a ship sinks.", 3),
        ("Answer: A or B", None),
    ],
)
def test_the_last_verdict_counts_where_the_model_reasons(
    text: str,
    place: int | None,
) -> None:
    assert read(text, lettered(), think=True) == place


def test_reasoning_that_was_cut_off_chooses_nothing() -> None:
    thought = "A sinks them.\nAnswer: D"
    assert read(thought, lettered(), think=True) == 3
    assert read(thought, lettered(), think=True, cut_off=True) is None
    assert read("D) A ship sinks. It", lettered(), cut_off=True) == 3


def test_names_are_read_where_names_are_asked_for() -> None:
    artists = ("Muse", "The Muse", "U2")
    asked = Question(
        "n-1",
        "next_item",
        "personalization",
        "",
        "artist",
        {"history": ("X",)},
        artists,
        0,
    )
    assert read("U2.", asked) == 2
    assert read("The answer is The Muse", asked) == 1
    assert read("the user will listen to muse", asked) == 0
    assert read("1", asked) is None


def test_llara_reads_a_title_within_another_as_two() -> None:
    assert llara("Heat (1995)\nAlien (1979)", FILMS) == 2
    assert llara("toy story (1995)", FILMS) == 7
    artists = ("Muse", "The Muse", "U2")
    assert llara("The Muse", artists) is None
    assert llara("nothing", artists) is None
    assert llara("", artists) is None


@given(
    st.integers(0, 9),
    st.sampled_from(["{}", "{})", "{}.", "Answer: {}", "({})", "{}) {}"]),
)
def test_a_mark_is_read_however_it_is_wrapped(place: int, form: str) -> None:
    text = form.replace("{}", labels(numbered())[place], 1).replace("{}", FILMS[place])
    assert read(text, numbered()) == place


@given(
    st.text(max_size=60)
    | st.text(string.ascii_letters + string.digits + " \n.):", max_size=40),
)
def test_no_text_is_read_as_an_option_that_is_not_there(text: str) -> None:
    for asked in (numbered(), lettered(), lettered(("??", "", " a ", "!"))):
        choice = read(text, asked, think=bool(len(text) % 2))
        assert choice is None or 0 <= choice < len(asked.options)


def test_an_answer_nested_a_thousand_times_chooses_nothing() -> None:
    assert read(f'{{"answer": {"[" * 900}"1"{"]" * 900}}}', numbered()) is None


@pytest.mark.parametrize(
    ("text", "choice"),
    [
        pytest.param("**" * 4_000, None, id="marks of a heading"),
        pytest.param(". " + "1. " * 6_000, 0, id="numbers"),
        pytest.param("xyz " + "the " * 5_000 + "1", None, id="words before an option"),
    ],
)
@pytest.mark.timeout(5)
def test_a_long_answer_is_read_in_time(text: str, choice: int | None) -> None:
    assert read(text, numbered()) == choice
