"""Examples show what changed in the request, and the whole
call: prompt, raw answer, how it was read.
"""

from typing import Any

from tests.report.records import (
    ASKED,
    FILMS,
    SHRUNK,
    asked,
    document,
    example,
    holds,
    row,
)
from tests.report.test_page import Page
from tests.support.report_html import CHANGES, calls_of, cards_of, render, request_of


def page(asked_of: Any, **changes: Any) -> str:
    return Page(
        render(document(row(examples=[example(asked=asked_of)], **changes))),
    ).text


def test_an_example_shows_the_change_as_a_diff() -> None:
    text = page({"source": SHRUNK["source"], "followup": SHRUNK["followup"]})
    assert (
        "What changed in the request history − Film M (1972): 4 + Film M (1972): 8"
        in text
    )
    assert "scale − 1 to 5 + 2 to 10" in text


def test_a_text_models_call_is_told_whole() -> None:
    text = page(ASKED)
    assert "Transcript: what was asked, the raw answer, how each line was read" in text
    assert "prompt (system) Be brief. prompt (user), image 1a2b Rank these." in text
    assert "raw answer 1. Film A and so on How each line was read" in text
    assert "Film A Film A (1960) was offered and so on ⚠ names nothing" in text
    assert "raw answer (empty)" in text
    assert "− Rank these. + Ra·nk these." in text, "blanks are visible"


def test_a_call_without_a_prompt_shows_its_request_and_answer() -> None:
    text = page({"source": SHRUNK["source"], "followup": SHRUNK["followup"]})
    assert "Transcript: the whole request and the answer" in text
    assert "candidates Film A (1960) Film B (1961) asked for 2 items" in text


def test_the_same_request_asked_again_is_said_to_be_one() -> None:
    assert "The same request on both sides" in page(
        {"source": SHRUNK["source"], "followup": SHRUNK["source"]},
    )


def test_a_verdict_on_one_side_shows_that_call() -> None:
    (call,) = calls_of(SHRUNK["source"], None)
    assert call.side == "request"
    assert [place.title for place in call.answer] == FILMS[:2]
    text = page({"source": SHRUNK["source"], "followup": None}, relation="")
    assert "What changed" not in text
    assert "Transcript" in text


def test_records_without_requests_show_their_answers_alone() -> None:
    text = page(None)
    assert "The answers" in text
    assert "Transcript" not in text
    old = {key: value for key, value in SHRUNK["source"].items() if key != "seen"}
    assert request_of({**old, "candidates": None})["candidates"] == [
        "the whole catalogue",
    ]


def test_many_changes_are_counted_and_the_transcript_has_them_all() -> None:
    films = [
        {"item": film, "title": film, "rating": 1.0, "timestamp": None}
        for film in FILMS
    ]
    doubled = [{**film, "rating": 2.0} for film in films]
    text = page({
        "source": {**SHRUNK["source"], "history": films},
        "followup": {**SHRUNK["source"], "history": doubled},
    })  # fmt: skip
    assert f"… {2 * (len(FILMS) - CHANGES)} more changed lines" in text
    assert f"{FILMS[-1]}: 2" in text


def test_a_history_that_is_replaced_shows_what_went_and_what_came() -> None:
    films = [
        {"item": film, "title": film, "rating": 1.0, "timestamp": None}
        for film in FILMS
    ]
    one, other = films[:8], films[8:]
    text = page({
        "source": {**SHRUNK["source"], "history": one},
        "followup": {**SHRUNK["source"], "history": other},
    })  # fmt: skip
    diff = text.partition("What changed in the request")[2].partition("The answers")[0]
    assert [diff.count(mark) for mark in "−+"] == [CHANGES, CHANGES]
    assert "… 4 more changed lines" in diff


def test_rows_that_are_as_they_should_be_have_two_examples() -> None:
    shown = [example(f"u{number}") for number in range(5)]
    good, bad = cards_of(document(holds(0, examples=shown), row(1, examples=shown)))[
        ::-1
    ]
    assert (len(good.examples), len(bad.examples)) == (2, 5)


def test_attributes_are_part_of_the_request() -> None:
    assert request_of(asked())["attributes"] == ["age: 31"]
