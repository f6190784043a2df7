"""Items that a reader cannot tell apart are one item, in every kind of question."""

from __future__ import annotations

from itertools import combinations
from random import Random
from typing import Any

import numpy as np
import pytest

from pytest_recsys_mt.datasets import Dataset
from pytest_recsys_mt.requests import Item
from pytest_recsys_mt.suites.lrworld import KINDS, Generated, Settings, generate
from tests.extras import need
from tests.lrworld.made import dataset_of, four_tastes
from tests.support.suites_lrworld import Histories, examples_for, form, text_of

QUICK = Settings(support=0.1, steps=50, clusters=3)


def twins() -> Dataset:
    """Every third item twice, under spellings that read
    alike, with other facts of its own.
    """
    dataset = four_tastes()
    rng = np.random.default_rng(1)
    items = dict(dataset.items)
    for number, item in enumerate(list(items.values())):
        if number % 3 == 0:
            title = item.title.upper().replace(" ", "-")
            other = {
                **item.attributes,
                "directors": (f"Other {number}",),
                "brand": "Zenith",
            }
            items[f"{item.id}-b"] = Item(f"{item.id}-b", title, item.year, other)
    histories = {}
    for user, ratings in dataset.histories.items():
        own = [rating.item.id for rating in ratings]
        kept = [
            f"{key}-b" if f"{key}-b" in items and rng.random() < 0.5 else key
            for key in own
        ]
        histories[user] = kept
    return dataset_of(histories, list(items.values()))


@pytest.fixture(scope="module")
def generated(tmp_path_factory: pytest.TempPathFactory) -> Generated:
    need("torch")
    folder = tmp_path_factory.mktemp("models")
    return generate(twins(), count=30, settings=QUICK, folder=folder)


def test_texts_that_read_alike_have_one_form() -> None:
    assert form("Matrix, The (1999)") == form("the MATRIX! (1999)")
    assert form("Matrix, The (1999)") != form("Matrix, The (2003)")
    assert form("आँधी") != form("आँधि")
    assert form("!!!") != form("???")
    long = "a line that goes on " * 40
    assert form(long + "one") != form(long + "two")
    assert form(long + "One.") == form(long + "one")


def test_items_of_one_label_are_one_column() -> None:
    films = [
        Item("1", "Crash", 1996, {"genres": ("Drama",)}),
        Item("2", "CRASH", 1996, {"genres": ("Crime",), "directors": ("A",)}),
        Item("3", "Crash", 2004),
        Item("4", ""),
        Item("5", ""),
    ]
    histories = {"u": ["1", "3", "2", "4"], "v": ["2", "5"], "w": ["2", "3"]}
    found = Histories.of(dataset_of(histories, films), 1)
    assert [item.id for item in found.items] == ["2", "3", "4", "5"]
    assert found.items[0].attributes == {"genres": ("Crime",), "directors": ("A",)}
    assert [item.id for item in found.namesakes[0]] == ["1"]
    assert [found.items[column].id for column in found.of_user(0)] == ["3", "2", "4"]
    assert found.popularity.tolist() == [3, 2, 1, 1]


def test_data_without_equal_labels_stay_as_they_are() -> None:
    dataset = four_tastes()
    found = Histories.of(dataset, 1)
    assert [item.id for item in found.items] == sorted(dataset.items)
    assert found.namesakes == {}
    assert len(found.columns) == len(dataset.interactions)


def test_no_option_reads_like_another_or_like_what_is_shown(
    generated: Generated,
) -> None:
    assert generated.skipped == {}
    for question in generated.questions:
        for one, other in combinations(question.options, 2):
            assert form(one) != form(other), question
        target = question.shown.get("target", ())
        for shown in (target,) if isinstance(target, str) else target:
            assert form(shown) not in set(map(form, question.options))


def test_everything_true_of_an_item_of_the_label_is_true(generated: Generated) -> None:
    dataset = twins()
    by_label: dict[str, set[str]] = {}
    for name in ("director", "brand"):
        (attribute,) = KINDS[name].needs
        by_label.clear()
        for item in dataset.items.values():
            value: Any = item.attributes[attribute]
            values = (value,) if isinstance(value, str) else value
            by_label.setdefault(form(item.label), set()).update(map(form, values))
        asked = [
            question for question in generated.questions if question.measure == name
        ]
        assert asked
        for question in asked:
            true = by_label[form(question.evidence["label"])]
            for place, option in enumerate(question.options):
                named = {form(part) for part in option.split(", ")}
                assert bool(named & true) == (place == question.answer)


def test_an_equal_picture_of_an_item_that_the_user_has_is_no_option() -> None:
    # Two thirds of the products share their picture with another one.
    items = [
        Item(
            f"i{n}",
            f"Title {n}",
            attributes={"image_description": f"Picture {n % 40}"},
        )
        for n in range(60)
    ]
    rng = np.random.default_rng(3)
    histories = {
        f"u{user}": [f"i{n}" for n in rng.choice(60, 12, replace=False)]
        for user in range(80)
    }
    dataset = dataset_of(histories, items)
    questions = generate(dataset, ["image"], count=80, settings=QUICK).questions
    assert len(questions) > 20
    pictures = {
        user: [f"Picture {int(key[1:]) % 40}" for key in own]
        for user, own in histories.items()
    }
    for question in questions:
        fits = [
            own
            for own in pictures.values()
            if question.right in own
            and tuple(own[: own.index(question.right)][-5:])
            == question.shown["history"]
        ]
        assert fits, "the right option did not stand in the history before"
        wrong = set(question.options) - {question.right}
        assert not wrong & set(fits[0])


def test_a_user_who_shows_the_text_of_one_as_right_is_no_wrong_option() -> None:
    # A and B are equally near to the target; C shows what B shows, and is farther away.
    early = [f"e{n}" for n in range(12)]
    late = ["x1", "x2"]
    histories = {
        "target": [*early[:6], "t1", "t2"],
        "a": [*early[:6], "a1", "a2"],
        "b": [*early[:6], *late],
        "c": [*early[6:], *late],
    }
    histories |= {f"o{n}": [*early[5:10], f"p{n}", f"q{n}"] for n in range(20)}
    settings = Settings(history=2, least=3)
    for seed in range(12):
        questions = generate(
            dataset_of(histories),
            ["similar_users"],
            count=100,
            seed=seed,
            settings=settings,
        ).questions
        asked = [q for q in questions if q.shown["history"] == ("Title t1", "Title t2")]
        for question in asked:
            wrong = [
                o for at, o in enumerate(question.options) if at != question.answer
            ]
            assert "Title x1; Title x2" not in wrong


def test_the_best_of_the_rest_is_of_the_options_shown() -> None:
    dataset = four_tastes()
    users: dict[str, set[str]] = {}
    for user, ratings in dataset.histories.items():
        for rating in ratings:
            users.setdefault(text_of(rating.item), set()).add(user)

    def cosine(one: str, other: str) -> float:
        return float(
            len(users[one] & users[other])
            / np.sqrt(len(users[one]) * len(users[other])),
        )

    for question in generate(dataset, ["similar_items"], count=30).questions:
        target = question.shown["target"]
        rest = [
            cosine(target, option)
            for place, option in enumerate(question.options)
            if place != question.answer
        ]
        assert question.evidence["best_of_the_rest"] == pytest.approx(max(rest))


@pytest.mark.parametrize("measure", ["next_item", "genre", "similar_users", "logline"])
def test_no_example_shows_what_the_asked_user_chose(measure: str) -> None:
    # Every user several times: a later history of the same user shows the right option.
    questions = generate(twins(), [measure], count=400, settings=QUICK).questions
    shown = 0
    for question in questions[::7]:
        try:
            examples = examples_for(question, questions, 3, Random(question.id))
        except ValueError:
            continue
        label = str(question.evidence.get("label", question.right))
        hidden = {form(question.right), form(label)}
        for example in examples:
            shown += 1
            history = example.shown["history"]
            assert not hidden & {form(text) for text in history}
            assert form("; ".join(history)) not in hidden
            assert form(example.right) not in {
                form(option) for option in question.options
            }
    assert shown


def test_the_picture_of_a_namesake_of_an_item_that_the_user_has_is_no_option() -> None:
    # Item n and its namesake n-b have different pictures, and another item has that of
    # n-b.
    items = [
        Item(f"i{n}", f"Title {n}", attributes={"image_description": f"Picture {n}"})
        for n in range(30)
    ]
    items += [
        Item(
            f"i{n}-b",
            f"TITLE {n}",
            attributes={"image_description": f"Picture {(n + 7) % 30}"},
        )
        for n in range(30)
    ]
    rng = np.random.default_rng(4)
    histories = {
        f"u{user}": [f"i{n}" for n in rng.choice(30, 9, replace=False)]
        for user in range(80)
    }
    dataset = dataset_of(histories, items)
    questions = generate(dataset, ["image"], count=80, settings=QUICK).questions
    assert questions
    for question in questions:
        target = int(question.evidence["item"].removeprefix("i").removesuffix("-b"))
        shown = [
            int(text.removeprefix("Picture ")) for text in question.shown["history"]
        ]
        own = [
            numbers
            for numbers in (
                [int(key[1:]) for key in keys] for keys in histories.values()
            )
            if target in numbers and numbers[: numbers.index(target)][-5:] == shown
        ]
        assert len(own) == 1
        pictures = {f"Picture {n}" for n in own[0]} | {
            f"Picture {(n + 7) % 30}" for n in own[0]
        }
        wrong = [
            text
            for place, text in enumerate(question.options)
            if place != question.answer
        ]
        assert not pictures & set(wrong)
