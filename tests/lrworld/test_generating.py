"""Generated questions have exactly one right option, in a place that tells nothing."""

import dataclasses
import json
import math
from collections import Counter
from collections.abc import Collection
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from scipy.stats import chisquare

from pytest_recsys_mt import DataError, RecommenderError
from pytest_recsys_mt.datasets import Dataset
from pytest_recsys_mt.requests import Item
from pytest_recsys_mt.suites.lrworld import (
    KINDS,
    Generated,
    Question,
    Settings,
    generate,
    header,
    load,
)
from tests.extras import need
from tests.lrworld.made import dataset_of, four_tastes
from tests.support.datasets import load_mini
from tests.support.suites_lrworld import SEPARATOR, Histories, mine, text_of

# With 80 users and 60 items a support of .01 makes every pair a rule.
QUICK = Settings(support=0.1, steps=50, clusters=3)
KNOWN = [name for name, kind in KINDS.items() if kind.needs]


def made(
    measures: Collection[str] | None = None,
    seed: int = 0,
    **options: Any,
) -> Generated:
    options = {"count": 12, "settings": QUICK, **options}
    return generate(four_tastes(), measures, seed=seed, **options)


@pytest.fixture(scope="module")
def everything(tmp_path_factory: pytest.TempPathFactory) -> Generated:
    return made(folder=tmp_path_factory.mktemp("models"))


@cache
def items_by_text() -> dict[str, Item]:
    return {text_of(item): item for item in four_tastes().items.values()}


def of(generated: Generated, measure: str) -> list[Question]:
    found = [
        question for question in generated.questions if question.measure == measure
    ]
    assert found
    return found


def wrong(question: Question) -> list[str]:
    return [
        text for place, text in enumerate(question.options) if place != question.answer
    ]


def test_every_kind_is_made_where_the_data_have_everything(
    everything: Generated,
) -> None:
    need("torch")
    assert everything.skipped == {}
    assert Counter(
        question.measure for question in everything.questions
    ) == dict.fromkeys(KINDS, 12)
    for question in everything.questions:
        kind = KINDS[question.measure]
        assert len(question.options) == kind.options
        assert (question.scale, question.factor) == (kind.scale, kind.factor)
        assert question.domain == "product"
    assert len({question.id for question in everything.questions}) == len(
        everything.questions,
    )


def test_no_wrong_option_goes_with_the_antecedent(everything: Generated) -> None:
    histories = Histories.of(four_tastes(), 5)
    mined = mine(histories, QUICK.support, QUICK.confidence)
    pairs = {
        (histories.item_text(a), histories.item_text(b))
        for a, b in zip(
            mined.antecedent.tolist(),
            mined.consequent.tolist(),
            strict=True,
        )
    }
    for question in of(everything, "rules"):
        (target,) = question.shown["target"]
        assert (target, question.right) in pairs
        assert not {(target, text) for text in wrong(question)} & pairs
        assert target not in question.options
    for question in of(everything, "rules"):
        sides = [question.shown["target"][0], question.right]
        owners = [users_of(four_tastes())[side] for side in sides]
        expected = len(owners[0] & owners[1]) * 80 / (len(owners[0]) * len(owners[1]))
        assert question.evidence["lift"] == pytest.approx(expected)
    antecedents = [question.shown["target"] for question in of(everything, "rules")]
    assert len(set(antecedents)) == 12, (
        "one rule of each antecedent before a second one"
    )


def test_a_rule_may_start_from_several_items() -> None:
    owners = users_of(four_tastes())
    settings = dataclasses.replace(QUICK, antecedent=3, support=0.05, confidence=0.2)
    questions = made(["rules"], count=40, settings=settings).questions

    def rule(antecedent: Collection[str], text: str) -> bool:
        both = set.intersection(*(owners[each] for each in antecedent))
        together = len(both & owners[text])
        return together >= 4 and together >= 0.2 * len(both)

    for question in questions:
        antecedent = question.shown["target"]
        assert rule(antecedent, question.right)
        assert not any(rule(antecedent, text) for text in wrong(question))
        assert not set(antecedent) & set(question.options)
        having = set.intersection(*(owners[text] for text in antecedent))
        together = len(having & owners[question.right])
        assert question.evidence["support"] == pytest.approx(together / 80)
        assert question.evidence["confidence"] == pytest.approx(together / len(having))
    assert {len(question.shown["target"]) for question in questions} == {1, 2, 3}


def test_only_items_that_have_what_is_named_are_asked_about() -> None:
    settings = Settings(having="logline,cast", least=2)
    questions = generate(
        load_mini(),
        ["similar_items"],
        count=20,
        settings=settings,
    ).questions
    allowed = {
        text_of(item)
        for item in load_mini().items.values()
        if item.attributes.get("logline") and item.attributes.get("cast")
    }
    assert len(allowed) < len(load_mini().items)
    for question in questions:
        assert {question.shown["target"], *question.options} <= allowed
    assert len(questions) == 20


def users_of(dataset: Dataset) -> dict[str, set[str]]:
    users: dict[str, set[str]] = {}
    for user, ratings in dataset.histories.items():
        for rating in ratings:
            users.setdefault(text_of(rating.item), set()).add(user)
    return users


def test_the_most_similar_item_is_right_and_no_wrong_one_is_as_similar(
    everything: Generated,
) -> None:
    users = users_of(four_tastes())

    def cosine(one: str, other: str) -> float:
        return len(users[one] & users[other]) / math.sqrt(
            len(users[one]) * len(users[other]),
        )

    for question in of(everything, "similar_items"):
        target = question.shown["target"]
        best = max(cosine(target, other) for other in users if other != target)
        assert cosine(target, question.right) == pytest.approx(best)
        assert question.evidence["right"] == pytest.approx(best)
        assert target not in question.options
        assert max(cosine(target, text) for text in wrong(question)) < best - 1e-9


def test_the_most_similar_user_is_right_and_no_wrong_one_is_as_similar(
    everything: Generated,
) -> None:
    own = {
        user: [text_of(rating.item) for rating in ratings]
        for user, ratings in four_tastes().histories.items()
    }
    by_text = {SEPARATOR.join(texts[-5:]): set(texts) for texts in own.values()}
    assert len(by_text) == len(own), "the test tells users by their latest items"

    def cosine(one: str, other: str) -> float:
        a, b = by_text[one], by_text[other]
        return len(a & b) / math.sqrt(len(a) * len(b))

    for question in of(everything, "similar_users"):
        target = SEPARATOR.join(question.shown["history"])
        best = max(cosine(target, other) for other in by_text if other != target)
        assert cosine(target, question.right) == pytest.approx(best)
        assert target not in question.options
        assert max(cosine(target, text) for text in wrong(question)) < best - 1e-9


def test_a_matched_user_is_not_betrayed_by_the_item_itself(
    everything: Generated,
) -> None:
    need("torch")
    for question in of(everything, "item_to_users"):
        assert all(
            question.shown["target"] not in option.split(SEPARATOR)
            for option in question.options
        )
        assert question.evidence["best_of_the_rest"] < question.evidence["right"]


def test_matched_items_are_new_to_the_user(everything: Generated) -> None:
    need("torch")
    own = [
        [text_of(rating.item) for rating in ratings]
        for ratings in four_tastes().histories.values()
    ]
    for question in of(everything, "user_to_items"):
        (history,) = [
            texts for texts in own if texts[-5:] == list(question.shown["history"])
        ]
        assert not set(question.options) & set(history)
        assert question.evidence["best_of_the_rest"] < question.evidence["right"]


def values_of(item: Item, measure: str) -> set[str]:
    value = item.attributes[KINDS[measure].needs[0]]
    return {
        str(one).casefold() for one in ((value,) if isinstance(value, str) else value)
    }


@pytest.mark.parametrize(
    "measure",
    [name for name in KNOWN if name not in ("logline", "image")],
)
def test_nothing_that_a_wrong_option_says_is_true_of_the_target(
    everything: Generated,
    measure: str,
) -> None:
    items = four_tastes().items
    for question in of(everything, measure):
        true = values_of(items[question.evidence["item"]], measure)
        assert {name.casefold() for name in question.right.split(", ")} <= true
        for text in wrong(question):
            assert not {name.casefold() for name in text.split(", ")} & true
        folded = [option.casefold() for option in question.options]
        assert len(set(folded)) == len(folded), "one value twice, in another case"


@pytest.mark.parametrize("measure", ["logline", "image", "next_item"])
def test_no_wrong_option_is_an_item_that_the_user_has(
    everything: Generated,
    measure: str,
) -> None:
    dataset = four_tastes()

    def text(item: Item) -> str:
        if measure == "image":
            return json.dumps(item.attributes["image_description"])
        return item.label if measure == "next_item" else str(item.attributes["logline"])

    own = [
        [text(rating.item) for rating in ratings]
        for ratings in dataset.histories.values()
    ]
    for question in of(everything, measure):
        shown = list(question.shown["history"])
        (texts,) = [
            texts
            for texts in own
            if question.right in texts
            and texts[: texts.index(question.right)][-5:] == shown
        ]
        assert not set(wrong(question)) & set(texts)


def test_the_history_is_what_came_before(everything: Generated) -> None:
    dataset = four_tastes()
    latest = 0
    for question in of(everything, "genre"):
        target = dataset.items[question.evidence["item"]]
        before = [
            [rating.item for rating in ratings[:place]]
            for ratings in dataset.histories.values()
            for place, rating in enumerate(ratings)
            if rating.item == target
        ]
        assert list(question.shown["history"]) in [
            [item.label for item in own[-5:]] for own in before
        ]
        latest += question.popularity == dataset.popularity[target.id]
    assert latest == 12


def test_each_user_is_asked_about_once_before_anyone_twice(
    everything: Generated,
) -> None:
    ends = [ratings[-1].item.id for ratings in four_tastes().histories.values()]
    many = made(["brand"], count=100)
    first = Counter(question.evidence["item"] for question in many.questions[:80])
    assert first == Counter(ends)
    assert (
        len({(q.shown["history"], q.evidence["item"]) for q in many.questions}) == 100
    )


def test_the_picture_is_that_of_the_latest_item(everything: Generated) -> None:
    for question in of(everything, "image"):
        summary = json.loads(question.shown["history"][-1])["summary"]
        assert question.images == (f"{summary.removeprefix('A poster of ')}.png",)
    assert all(not q.images for q in everything.questions if q.measure != "image")


@pytest.mark.parametrize(
    "measure",
    ["rules", "similar_users", "genre", "director", "logline"],
)
def test_right_options_stand_in_every_place_alike(measure: str) -> None:
    questions = generate(load_mini(), [measure], count=400, seed=3).questions
    places = Counter(question.answer for question in questions)
    options = KINDS[measure].options
    assert chisquare([places[place] for place in range(options)]).pvalue > 0.001


def test_wrong_options_are_drawn_uniformly() -> None:
    # Nine values; the target has one, so that each of the eight others is wrong with 3
    # of 8.
    items = [
        Item(f"i{n}", f"Title {n}", attributes={"colour": f"c{n % 9}"})
        for n in range(90)
    ]
    histories = {
        f"u{user:03d}": [f"i{(user * 7 + step * 11) % 90}" for step in range(9)]
        for user in range(90)
    }
    questions = generate(
        dataset_of(histories, items),
        ["colour"],
        count=400,
        seed=1,
    ).questions
    assert len(questions) == 400
    drawn = Counter(text for question in questions for text in wrong(question))
    expected = [
        sum(question.right != f"c{n}" for question in questions) * 3 / 8
        for n in range(9)
    ]
    assert chisquare([drawn[f"c{n}"] for n in range(9)], expected).pvalue > 0.001


def test_the_same_seed_makes_the_same_questions(
    everything: Generated,
    tmp_path: Path,
) -> None:
    again = made(folder=tmp_path)
    assert again == everything, "trained anew, in another folder"
    other = made(["rules", "similar_users", "cast"], seed=1)
    assert not set(other.questions) & set(everything.questions)


def test_questions_do_not_depend_on_what_else_is_made(everything: Generated) -> None:
    alone = made(["leaf"]).questions
    assert list(alone) == of(everything, "leaf")


def test_the_order_of_rows_does_not_matter() -> None:
    dataset = four_tastes()
    shuffled = Dataset(
        dataset.name,
        dict(reversed(list(dataset.items.items()))),
        dataset.interactions.sample(frac=1, random_state=0),
        dataset.scale,
    )
    measures = ["rules", "similar_items", "similar_users", "director", "next_item"]
    one = generate(dataset, measures, settings=QUICK, count=20)
    other = generate(shuffled, measures, settings=QUICK, count=20)
    assert one.questions == other.questions


def test_what_is_lacking_is_named() -> None:
    dataset = four_tastes()
    bare = [
        Item(
            item.id,
            item.title,
            attributes={
                "brand": "ACME" if item.id < "2" else "Bolt",
                "categories": item.attributes["categories"][:2],
                "image": "x.png",
            },
        )
        for item in dataset.items.values()
    ]
    histories = {
        user: [rating.item.id for rating in ratings]
        for user, ratings in dataset.histories.items()
    }
    generated = generate(
        dataset_of(histories, bare),
        ["cast", "brand", "intermediate", "leaf", "image", "rules", "next_item"],
        settings=dataclasses.replace(QUICK, support=0.9),
    )
    assert {question.measure for question in generated.questions} == {
        "leaf",
        "next_item",
    }
    assert generated.skipped["cast"] == "no item has the attribute 'cast'"
    assert generated.skipped["brand"].startswith(
        "items have 2 different values of 'brand'",
    )
    assert "0 different values of 'intermediate'" in generated.skipped["intermediate"]
    assert "pictures, and 60 items have one" in generated.skipped["image"]
    assert (
        "no rule between two items has a support of 0.9" in generated.skipped["rules"]
    )


def test_users_and_items_that_are_too_rare_are_not_asked_about() -> None:
    lonely = dataset_of({f"u{n}": [f"i{n}", f"i{n + 1}"] for n in range(30)})
    generated = generate(lonely, settings=Settings(steps=50))
    assert generated.questions == ()
    assert set(generated.skipped) == set(KINDS)
    assert "5 interactions or more" in generated.skipped["similar_users"]


def test_items_without_a_title_are_never_shown() -> None:
    dataset = four_tastes()
    items = [
        Item(item.id, "" if number % 5 == 0 else item.title, None, item.attributes)
        for number, item in enumerate(dataset.items.values())
    ]
    nameless = {item.id for item in items if not item.title}
    histories = {
        user: [rating.item.id for rating in ratings]
        for user, ratings in dataset.histories.items()
    }
    measures = ["rules", "similar_items", "similar_users", "next_item", "genre"]
    generated = generate(dataset_of(histories, items), measures, settings=QUICK)
    assert generated.skipped == {}
    for question in generated.questions:
        said = json.dumps([question.shown, question.options])
        assert not [item for item in nameless if item in said.replace("Title ", "")]


def test_generated_questions_are_kept_with_how_they_were_made(
    everything: Generated,
    tmp_path: Path,
) -> None:
    everything.save(tmp_path / "all.jsonl")
    assert load(tmp_path / "all.jsonl") == everything.questions
    told = header(tmp_path / "all.jsonl")
    assert told["seed"] == 0
    assert told["settings"]["data"] == four_tastes().digest
    assert told["settings"]["support"] == 0.1
    assert told["settings"]["measures"] == list(KINDS)


def test_the_word_for_items_is_told_by_their_attributes() -> None:
    assert generate(load_mini(), ["genre"], count=1).questions[0].domain == "movie"
    assert made(["genre"], domain="artist").questions[0].domain == "artist"
    music = dataclasses.replace(load_mini(), family="lastfm")
    assert generate(music, ["genre"], count=1).questions[0].domain == "artist"
    histories = {
        f"u{n}": [f"i{(n + step) % 30}" for step in range(8)] for n in range(30)
    }
    assert (
        generate(dataset_of(histories), ["next_item"], count=1).questions[0].domain
        == "item"
    )


def test_wrong_arguments_are_named() -> None:
    with pytest.raises(
        DataError,
        match=r"no kind of question is called 'color'; .*'colour'",
    ):
        made(["color"])
    with pytest.raises(DataError, match="count must be at least 1, got 0"):
        made(count=0)
    with pytest.raises(RecommenderError, match="support must be above 0"):
        Settings(support=0)
    with pytest.raises(RecommenderError, match="antecedent must be at least 1, got 0"):
        Settings(antecedent=0)
    with pytest.raises(
        DataError,
        match=r"having='brand,posters': no item of made has all; some have brand",
    ):
        made(settings=Settings(having="brand,posters"))
    with pytest.raises(RecommenderError, match="history must be at least 1"):
        Settings(history=0)
