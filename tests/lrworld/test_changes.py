from __future__ import annotations

from collections import Counter

import pytest

from pytest_recsys_mt import NotApplicable
from pytest_recsys_mt.suites.lrworld import Question, noisy, shuffled


def questions(count: int, options: int = 4) -> list[Question]:
    return [
        Question(
            f"genre-{number}",
            "genre",
            "knowledgeability",
            "<entity, attribute>",
            "movie",
            {
                "history": tuple(f"film {number + place}" for place in range(5)),
                "more": 1,
            },
            tuple(f"option {place}" for place in range(options)),
            number % options,
        )
        for number in range(count)
    ]


def test_one_item_of_the_history_is_replaced_by_another_ones() -> None:
    source = questions(200)
    known = {item for question in source for item in question.shown["history"]}
    places = Counter[int]()
    for one, other in zip(source, noisy(source, 7), strict=True):
        before, after = one.shown["history"], other.shown["history"]
        (place,) = [p for p in range(5) if before[p] != after[p]]
        places[place] += 1
        assert after[place] in known - set(before)
        assert (one.id, one.options, one.answer) == (
            other.id,
            other.options,
            other.answer,
        )
        assert other.shown["more"] == 1
    assert min(places.values()) > 20
    assert noisy(source, 7) == noisy(source, 7) != noisy(source, 8)
    assert noisy(source[:50], 7)[0].id == "genre-0"


def test_questions_without_a_history_have_no_noise() -> None:
    rule = Question(
        "rules-1",
        "rules",
        "association",
        "",
        "movie",
        {"target": ("A",)},
        ("B", "C"),
        0,
    )
    with pytest.raises(NotApplicable, match="show a history"):
        noisy([rule], 0)
    with pytest.raises(NotApplicable, match="nothing else is known"):
        noisy(questions(1), 0)


def test_options_are_put_in_a_uniform_order() -> None:
    source = questions(400, 10)
    other = shuffled(source, 1)
    assert {question.right for question in other} <= {
        f"option {place}" for place in range(10)
    }
    assert all(one.right == two.right for one, two in zip(source, other, strict=True))
    places = Counter(question.answer for question in other)
    assert set(places) == set(range(10))
    assert max(places.values()) < 75, "40 each, with a standard deviation of 6"
