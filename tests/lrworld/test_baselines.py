"""Simple ways to answer are what one computes by hand, and can be made to know nothing."""

from __future__ import annotations

import dataclasses
import math
from pathlib import Path
from typing import Any

import pytest

from pytest_recsys_mt.datasets import Dataset
from pytest_recsys_mt.suites.lrworld import (
    BASELINES,
    KINDS,
    Generated,
    Question,
    Settings,
    baselines,
    credits_of,
    generate,
)
from tests.extras import need
from tests.lrworld.made import four_tastes
from tests.support.datasets import load_mini

CHOSEN = ("similar_items", "similar_users", "user_to_items", "next_item")
QUICK = Settings(support=0.1, steps=50, clusters=3)


def question(options: tuple[str, ...], answer: int, **evidence: Any) -> Question:
    return Question(
        f"q{options}{answer}",
        "genre",
        "knowledgeability",
        "<entity, attribute>",
        "movie",
        {},
        options,
        answer,
        evidence=evidence,
    )


def users_of(dataset: Dataset) -> dict[str, set[str]]:
    users: dict[str, set[str]] = {}
    for user, ratings in dataset.histories.items():
        for rating in ratings:
            users.setdefault(rating.item.id, set()).add(user)
    return users


@pytest.fixture(scope="module")
def generated(tmp_path_factory: pytest.TempPathFactory) -> Generated:
    need("torch")
    folder = tmp_path_factory.mktemp("models")
    return generate(four_tastes(), count=20, settings=QUICK, folder=folder)


def test_each_way_chooses_by_its_own_score() -> None:
    one = question(
        ("Drama, War", "War", "Action", "Crime"),
        1,
        popularities=[3.0, 9.0, 1.0, 9.0],
        nearness=[0.2, 0.1, 0.0, 0.3],
    )
    assert baselines([one]) == {
        "guessing": 0.25,
        "popularity": 0.5,
        "itemknn": 0.0,
        "shortest": 1.0,
        "alphabetical": 0.0,
        "words": 0.25,
    }
    shown = dataclasses.replace(
        one,
        shown={"target": ("The War, 1990",), "history": "a drama"},
    )
    assert credits_of("words", [shown]) == {one.id: 0.0}, (
        "the first option has two of its words"
    )
    assert credits_of("alphabetical", [question(("b", "A", "c", "d"), 1)]) == {
        "q('b', 'A', 'c', 'd')1": 1.0,
    }


def test_a_question_of_an_older_file_has_no_row_of_what_it_does_not_say() -> None:
    old = question(("a", "b", "c", "d"), 0)
    assert credits_of("popularity", [old]) is None
    assert set(baselines([old])) == set(BASELINES) - {"popularity", "itemknn"}


def test_popularity_leaves_out_what_the_asked_user_has(generated: Generated) -> None:
    dataset = four_tastes()
    users = users_of(dataset)
    by_label = {item.label: item.id for item in dataset.items.values()}
    asked = [q for q in generated.questions if q.measure == "next_item"]
    assert asked
    for each in asked:
        expected = [float(len(users[by_label[option]])) for option in each.options]
        expected[each.answer] -= 1
        assert list(each.evidence["popularities"]) == expected


def test_popularity_of_a_fact_is_that_of_all_that_have_it(generated: Generated) -> None:
    dataset = four_tastes()
    users = users_of(dataset)
    for each in (q for q in generated.questions if q.measure == "colour"):
        for place, option in enumerate(each.options):
            having = [
                i for i in dataset.items.values() if i.attributes["colour"] == option
            ]
            total = sum(len(users[item.id]) for item in having)
            found = each.evidence["popularities"][place]
            # The asked user has some of them; the right one at least.
            assert total - 9 <= found <= total - (place == each.answer)


def test_nearness_is_the_mean_cosine_without_the_asked_user(
    generated: Generated,
) -> None:
    dataset = four_tastes()
    users = users_of(dataset)
    by_label = {item.label: item.id for item in dataset.items.values()}
    for each in (q for q in generated.questions if q.measure == "next_item"):
        shown = [by_label[text] for text in each.shown["history"]]
        asker = [
            user
            for user, ratings in dataset.histories.items()
            if [r.item.id for r in ratings if r.item.id in shown] == shown
            and each.evidence["item"] in [r.item.id for r in ratings]
        ]
        expected = []
        for option in each.options:
            cosines = []
            for item in shown:
                one, other = (
                    users[item] - {asker[0]},
                    users[by_label[option]] - {asker[0]},
                )
                cosines.append(len(one & other) / math.sqrt(len(one) * len(other)))
            expected.append(sum(cosines) / len(cosines))
        if len(asker) == 1:
            assert each.evidence["nearness"] == pytest.approx(expected)


def test_the_most_similar_item_is_the_nearest(generated: Generated) -> None:
    asked = [q for q in generated.questions if q.measure == "similar_items"]
    assert baselines(asked)["itemknn"] == 1.0


def test_popularity_of_users_is_how_much_they_have(generated: Generated) -> None:
    for each in generated.questions:
        if each.measure in ("similar_users", "item_to_users"):
            assert set(each.evidence["popularities"]) == {9.0}


@pytest.mark.parametrize(
    "kind",
    [
        pytest.param(
            each,
            marks=() if each in (CHOSEN[0], "cast") else pytest.mark.slow,
        )
        for each in [*CHOSEN, "cast", "director", "genre", "logline"]
    ],
)
def test_popularity_tells_nothing_where_options_are_matched_in_it(
    kind: str,
    tmp_path: Path,
) -> None:
    need("torch")
    settings = Settings(wrong="popular", steps=50)
    plain = generate(load_mini(), [kind], count=400, folder=tmp_path).questions
    matched = generate(
        load_mini(),
        [kind],
        count=400,
        settings=settings,
        folder=tmp_path,
    ).questions
    assert len(matched) > 200
    chance = 1 / KINDS[kind].options
    spread = math.sqrt(chance * (1 - chance) / len(matched))
    assert baselines(matched)["popularity"] == pytest.approx(chance, abs=4 * spread)
    if kind not in CHOSEN:
        assert baselines(plain)["popularity"] > chance + 6 * spread
