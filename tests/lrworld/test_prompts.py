from __future__ import annotations

from itertools import product
from pathlib import Path
from random import Random
from typing import Any

import pytest

from pytest_recsys_mt import DataError
from pytest_recsys_mt.suites.lrworld import KINDS, LASTFM, MEASURES, Measure, Question
from tests.laws import over
from tests.support.suites_lrworld import describing, examples_for, labels, prompt


def question(measure: Measure, number: int = 1, **more: Any) -> Question:
    kind = measure.kind
    shown: dict[str, Any] = {"history": ("Heat (1995)", "Alien\n(1979)")}
    if kind.name in ("similar_items", "item_to_users"):
        shown = {"target": "Heat (1995); Alien (1979)"}
    if kind.name == "rules":
        shown = {"target": ("Heat (1995)", "Alien (1979)")}
    given: dict[str, Any] = {
        "id": f"{kind.name}-{number}",
        "shown": shown,
        "options": tuple(f"Option {number}-{place}" for place in range(kind.options)),
        "answer": number % kind.options,
        **more,
    }
    return Question(
        measure=kind.name,
        scale=kind.scale,
        factor=kind.factor,
        domain=measure.domain,
        **given,
    )


@over("measure, think", product([*MEASURES, *LASTFM], [False, True]))
def test_a_prompt_shows_everything_but_the_answer(
    measure: Measure,
    think: bool,
) -> None:
    asked = question(measure)
    made = prompt(asked, think=think)
    (message,) = made.messages
    assert all(option in message.content for option in asked.options)
    assert "Heat (1995)" in message.content
    assert "Alien (1979)" in message.content, "on one line, as everything shown"
    assert measure.domain in message.content
    assert "{" not in message.content
    words = {"movie": "watch", "product": "buy", "artist": "listen"}[measure.domain]
    assert words in message.content or "bought" in message.content
    moved = question(measure, answer=(asked.answer + 1) % measure.options)
    assert prompt(moved, think=think) == made, (
        "the place of the right option is told by nothing"
    )
    assert ("step by step" in message.content) == think
    assert bool(made.choices) != think


def test_no_choice_begins_another() -> None:
    for measure in MEASURES:
        choices = prompt(question(measure)).choices
        assert len(choices) == measure.options
        assert not [a for a in choices for b in choices if a != b and b.startswith(a)]


def test_marks_are_numbers_letters_or_names() -> None:
    by_name = {(m.dataset, m.name): labels(question(m)) for m in (*MEASURES, *LASTFM)}
    assert by_name["amazon", "rules"] == tuple(map(str, range(1, 11)))
    assert by_name["amazon", "brand"] == ("A", "B", "C", "D")
    assert by_name["lastfm", "next_item"] == ()
    assert prompt(question(LASTFM[0])).choices == question(LASTFM[0]).options


def test_people_are_asked_for_as_people() -> None:
    asked = {
        m.name: prompt(question(m)).messages[0].content
        for m in MEASURES
        if m.dataset == "movielens"
    }
    assert (
        "Who are the leading actors of the movie that the user will watch next?"
        in asked["cast"]
    )
    assert "Who is the director of the movie" in asked["director"]
    assert "Which is the genre of the movie" in asked["genre"]


def test_templates_cover_all_kinds_in_any_domain() -> None:
    for kind in KINDS.values():
        text = prompt(question(Measure("mine", "podcast", kind))).messages[0].content
        assert "podcast" in text
        assert "{" not in text


def test_examples_are_shown_with_their_answers_and_give_nothing_away() -> None:
    measure = next(m for m in MEASURES if m.name == "logline")
    pool = [question(measure, number) for number in range(8)]
    asked = question(measure, 3, options=("Option 5-1", "x", "y", "z"), answer=0)
    found = examples_for(asked, pool, 5, Random(1))
    assert len({each.id for each in found}) == 5
    assert {"logline-3", "logline-5"}.isdisjoint(each.id for each in found)
    assert found == examples_for(asked, pool, 5, Random(1))
    text = prompt(asked, examples=found).messages[0].content
    assert text.count("The right answer was: Option") == 5
    assert text.index("</examples>") < text.index("A) Option 5-1")
    with pytest.raises(DataError, match=r"7 examples are wanted .* and 6 of the 8"):
        examples_for(asked, pool, 7, Random(1))


def test_an_image_is_shown_only_where_it_is_asked_for(tmp_path: Path) -> None:
    picture = tmp_path / "1.png"
    picture.write_bytes(b"picture")
    measure = next(m for m in MEASURES if m.name == "image")
    asked = question(measure, images=(str(picture),))
    assert prompt(asked).messages[0].images == ()
    assert prompt(asked, image=True).messages[0].images == (
        "data:image/png;base64,cGljdHVyZQ==",
    )
    ready = question(measure, images=("data:image/png;base64,AA==",))
    assert prompt(ready, image=True).messages[0].images == (
        "data:image/png;base64,AA==",
    )
    with pytest.raises(DataError, match="has no image"):
        prompt(question(measure), image=True)
    with pytest.raises(DataError, match="cannot be read"):
        prompt(question(measure, images=(str(tmp_path / "2.png"),)), image=True)


def test_a_model_is_asked_to_describe_an_image() -> None:
    (message,) = describing("product", "data:image/png;base64,AA==").messages
    assert "product" in message.content
    assert message.images == ("data:image/png;base64,AA==",)
