"""Every form of an answer that was collected is read,
for every option, and no other one is.
"""

from __future__ import annotations

import json
import time
import tomllib
from dataclasses import replace
from pathlib import Path

import pytest

from pytest_recsys_mt.suites.lrworld import Question
from tests.support.suites_lrworld import labels, read

FORMS: dict[str, list[str]] = tomllib.loads(
    (Path(__file__).parent / "answer_forms.toml").read_text(encoding="utf-8"),
)
UNREAD = ("unread", "unread_letters", "unread_numbers")
READ = {kind: forms for kind, forms in FORMS.items() if kind not in UNREAD}

FILMS = (
    "Alien (1979), Horror Sci-Fi",
    "Aliens (1986), Action Horror Sci-Fi",
    "Heat (1995), Action Crime Thriller",
    "12 Angry Men (1957), Drama",
    "Matrix, The (1999), Action Sci-Fi",
    "Star Wars: Episode IV – A New Hope (1977), Action Sci-Fi",
    "Le Samouraï (1967), Crime Drama Thriller",
    "Toy Story (1995), Animation Children Comedy",
    "Toy Story 2 (1999), Animation Children Comedy",
    "Dr. Strangelove (1964), Comedy War",
)
KNOWN = {
    "genre": ("Drama, Mystery", "Drama", "Action, Crime, Thriller", "Comedy"),
    "director": (
        "James Cameron",
        "Brad Bird, Jan Pinkava",
        "Gus Van Sant",
        "Mel Gibson",
    ),
    "logline": (
        "An angel shows a despairing banker what his town would be without him.",
        "A ship sinks, and nobody is saved.",
        "Two thieves fall in love; neither says so.",
        "Is the answer 3? A detective must choose.",
    ),
}


def numbered() -> Question:
    shown = {"history": ("X",)}
    return Question(
        "u-1",
        "user_to_items",
        "personalization",
        "",
        "movie",
        shown,
        FILMS,
        0,
    )


def lettered(measure: str) -> Question:
    shown = {"history": ("X",)}
    return Question(
        "k-1",
        measure,
        "knowledgeability",
        "",
        "movie",
        shown,
        KNOWN[measure],
        0,
    )


QUESTIONS = [numbered(), *map(lettered, KNOWN)]


def rendered(form: str, question: Question, place: int) -> str:
    """A form of the option at a place."""
    marks, other = labels(question), (place + 1) % len(question.options)
    option = question.options[place]
    dated, _, _ = option.partition("), ")
    values = {
        "m": marks[place],
        "t": option,
        "d": f"{dated})",
        "s": option.rpartition(" (")[0],
        "w": "".join(chr(ord(char) + 0xFEE0) for char in marks[place]),
        "x": marks[other],
        "y": question.options[other],
    }
    form = form.replace("\\n", "\n")
    for name, value in values.items():
        form = form.replace(f"{{{name}}}", value)
    return form


def test_many_forms_in_many_languages_were_collected() -> None:
    assert len({form for forms in READ.values() for form in forms}) >= 300
    assert len(FORMS) - len(UNREAD) >= 10


def chosen(kind: str, number: int | None) -> list[Question]:
    if kind == "film":
        return QUESTIONS[:1]
    return (
        QUESTIONS
        if number is None
        else [QUESTIONS[0], QUESTIONS[1 + number % len(KNOWN)]]
    )


@pytest.mark.parametrize("kind", READ)
def test_a_form_is_read_for_every_option(
    kind: str,
    request: pytest.FixtureRequest,
) -> None:
    # Each form is tried on the numbers, and on the letters of one measure by turns;
    # with --slow, of all.
    every = request.config.getoption("--slow")
    wrong = [
        (text, think, question.options)
        for number, form in enumerate(READ[kind])
        for question in chosen(kind, None if every else number)
        for place in range(len(question.options))
        for text in [rendered(form, question, place)]
        for think in (False, True)
        if read(text, question, think=think) != place
    ]
    assert not wrong, (len(wrong), wrong[:5])


def test_what_chooses_nothing_is_not_read() -> None:
    wrong = [
        (text, question.options)
        for form in FORMS["unread"]
        for question in QUESTIONS
        for place in range(len(question.options))
        for text in [rendered(form, question, place)]
        if read(text, question) is not None
    ]
    assert not wrong, (len(wrong), wrong[:5])


@pytest.mark.parametrize("kind", UNREAD[1:])
def test_words_and_numbers_are_no_marks(kind: str) -> None:
    question = QUESTIONS[2] if kind == "unread_letters" else QUESTIONS[0]
    for text in FORMS[kind]:
        assert read(text, question) is None, text


@pytest.mark.parametrize(
    "text",
    [
        "Drama, Crime", "I would choose Drama, Crime", "Answer: Drama, Romance", "Comedy-Drama", "Romantic Comedy",
        "Answer: Black Comedy", "The answer is Comedy Drama", "He likes comedy", "The best options are B and D.",
        "B > D > A", "Ranking: B, D, A, C", "First choice: B. Second choice: D.", "1. B\n2. D",
    ],
)  # fmt: skip
def test_a_genre_within_another_is_not_chosen(text: str) -> None:
    assert read(text, QUESTIONS[1]) is None


@pytest.mark.parametrize(
    "text",
    [
        "Alien Resurrection", "Answer: Alien 3", "Answer: Alien: Covenant", "The answer is Heat (1986)",
        "Answer: The Heat", "Alien, Predator", "Answer: Toy Story 3 (2010)", "In the Heat of the Night",
        "Answer: White Heat", "Body Heat (1981)", "I loved Heat.", "Heat 2",
    ],
)  # fmt: skip
def test_a_film_whose_title_holds_another_is_not_chosen(text: str) -> None:
    assert read(text, QUESTIONS[0]) is None


@pytest.mark.parametrize(
    "part",
    ["{", "answer: ", "<answer>", "A ", "\\boxed{", "(", "Drama, ", "<think>", "$"],
)
def test_a_long_answer_is_read_in_time_that_grows_with_its_length(part: str) -> None:
    begun = time.perf_counter()
    assert read(part * 50_000, QUESTIONS[1]) in (None, 0)
    assert time.perf_counter() - begun < 5


def test_what_an_answer_takes_back_doubts_or_only_names_is_not_read() -> None:
    """Each case: the question, whether it asks to reason
    first, the right option, and the answer.
    """
    found = json.loads(
        Path(__file__).with_name("contradicted.json").read_text(encoding="utf-8"),
    )
    asked = {
        "nu": replace(QUESTIONS[0], options=tuple(found["options"]["nu"])),
        "le": replace(
            next(each for each in QUESTIONS if each.scale == "knowledgeability"),
            options=tuple(found["options"]["le"]),
        ),
    }
    wrong = [
        (text, think, choice)
        for kind, think, right, text in found["cases"]
        if (choice := read(text, asked[kind], think=think)) not in (right, None)
    ]
    assert not wrong, wrong[:5]
    assert len(found["cases"]) > 200


def test_an_option_that_reasoning_was_at_when_it_was_cut_off_is_none() -> None:
    asked = next(each for each in QUESTIONS if each.scale == "knowledgeability")
    text = "Let me think. The user watched crime films. Option D is a crime film. Option C is"
    assert read(text, asked, cut_off=True) is None
    assert read("Answer: C", asked, cut_off=True) == 2
