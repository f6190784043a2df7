"""The relations that change the text of a prompt."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_recsys_mt import NotApplicable, RelationError, relations
from pytest_recsys_mt.relations import Transformation
from pytest_recsys_mt.requests import Item, Rating, Request, Scale, World
from tests.relations.examples import PAPER_USER, WORLD, request
from tests.relations.test_ratings import ORIGINAL
from tests.support.llm import NAMES, Template, render, template
from tests.support.llm_prompt_texts import text
from tests.support.relations import ADD_SPACES_PAPER_RATE as SPACES_RATE
from tests.support.relations import (
    FRUIT,
    VARIANTS,
    AddSpaces,
    ChangeCase,
    ParaphraseTask,
    RandomWords,
    Typos,
)
from tests.support.relations import RANDOM_WORDS_PAPER_RATE as WORDS_RATE

RNG = np.random.default_rng(0)
SEEDS = st.integers(0, 2**63 - 1)
RATES = st.floats(0.001, 1)
PAPER_SPACES = (
    "Gi ven a u ser , as a re co m mende r syst em, prov ide r e commend ati ons. T he use r 509 l "
    "ik e s t he follow i n g item s : Dukes of Ha zza rd, T h e (2005 ) 2/5, M i ss Cong e n ialit "
    "y ( 2 0 00) 3/ 5, Cli ck (2 006) 1/5 , Ul t r aviolet ( 20 06) 2 /5 , Monty P y th o n and th "
    "e Ho ly Grail (1 975) 4/ 5. ( 1 be ing lowest and 5 be i ng hi ghes t ). Giv e me back 5 "
    "recommen d a ti o ns."
)
PAPER_WORDS = (
    "Given a user, as a banana recommender system, grape provide recommendations. The user pear "
    "509 likes banana the following items: grape Dukes of banana Hazzard, The (2005) 2/5, Miss "
    "Congeniality (2000) pear 3/5, Click (2006) 1/5, Ultraviolet (2006) 2/5, Monty Python and the "
    "Holy Grail (1975) 4/5. (1 being lowest and 5 being grape highest ). Give me back 5 banana "
    "recommendations, banana"
)
TEXT_RELATIONS = [
    relations.add_spaces(0.3),
    relations.random_words(),
    relations.change_case("lower"),
    relations.typos(0.1),
    relations.paraphrase_task,
]


def test_default_rates_are_those_of_the_papers_examples() -> None:
    inside = len(re.findall(r"(?<=\S)(?=\S)", ORIGINAL))
    spaces = PAPER_SPACES.count(" ") - ORIGINAL.count(" ")
    assert round(spaces / inside, 2) == SPACES_RATE
    fruit = sum(word in FRUIT for word in PAPER_WORDS.split())
    assert round(fruit / (len(ORIGINAL.split()) - 1), 2) == WORDS_RATE


@given(text=st.text(), rate=RATES, seed=SEEDS)
def test_spaces_come_only_between_visible_characters(
    text: str,
    rate: float,
    seed: int,
) -> None:
    edited = AddSpaces(rate, seed)(text)
    assert "".join(edited.split()) == "".join(text.split())
    assert re.sub(r"(?<=\S) (?=\S)", "", edited) == re.sub(r"(?<=\S) (?=\S)", "", text)
    assert (edited != text) == bool(re.search(r"\S\S", text))


@given(text=st.text(), rate=RATES, seed=SEEDS)
def test_random_words_leave_the_others_in_order(
    text: str,
    rate: float,
    seed: int,
) -> None:
    edited = RandomWords(("\x01",), rate, seed)(text)
    if "\x01" not in text:
        assert edited.replace(" \x01", "") == text
        assert edited.count("\n") == text.count("\n")
    assert (edited != text) == (len(text.split()) > 1)


def _inner(word: str) -> list[str]:
    return sorted(word[1:-1])


@given(
    words=st.lists(st.text("abcdeé", min_size=1, max_size=9), max_size=8),
    rate=RATES,
    seed=SEEDS,
)
def test_typos_are_one_slip_inside_longer_words(
    words: list[str],
    rate: float,
    seed: int,
) -> None:
    text = " ".join(words)
    edited = Typos(rate, seed)(text).split(" ")
    assert len(edited) == len(text.split(" "))
    for before, after in zip(words, edited, strict=False):
        if before == after:
            continue
        assert len(before) >= 4
        assert (after[0], after[-1]) == (before[0], before[-1])
        assert abs(len(after) - len(before)) <= 1
        if len(after) == len(before):
            assert _inner(before) == _inner(after)
    assert (edited != text.split(" ")) == any(len(word) >= 4 for word in words)


def test_typos_leave_numbers_and_punctuation() -> None:
    text = "(2005) 1234567 4/5. 10000 %%%% a_b"
    assert Typos(1.0, 1)(text) == text


def test_the_rate_is_the_share_of_places_changed() -> None:
    words = ["abcdefghijk"] * 1_001
    text = " ".join(words)
    spaces = AddSpaces(0.25, 7)(text).count(" ") - text.count(" ")
    assert spaces / (10 * len(words)) == pytest.approx(0.25, abs=0.02)
    inserted = len(RandomWords(FRUIT, 0.25, 7)(text).split()) - len(words)
    assert inserted / (len(words) - 1) == pytest.approx(0.25, abs=0.05)
    mistyped = sum(word != words[0] for word in Typos(0.25, 7)(text).split())
    assert mistyped / len(words) == pytest.approx(0.25, abs=0.05)


def test_all_kinds_of_typos_are_made() -> None:
    lengths = [
        len(word) for word in Typos(1.0, 7)(" ".join(["abcdefghijk"] * 900)).split()
    ]
    assert all(
        lengths.count(length) == pytest.approx(300, abs=60) for length in (10, 11, 12)
    )


def test_the_fruit_are_drawn_evenly() -> None:
    edited = RandomWords(FRUIT, 1.0, 3)(" ".join(["word"] * 4_001)).split()
    for fruit in FRUIT:
        assert edited.count(fruit) == pytest.approx(1_000, abs=120)


def test_edits_do_not_change_between_versions() -> None:
    assert AddSpaces(0.3, 0)("provide recommendations") == "prov ide recomme nda tions"
    assert RandomWords(FRUIT, 0.5, 0)("one two three four five") == (
        "one two three banana four grape five"
    )
    assert Typos(0.5, 0)("Given a user, provide recommendations") == (
        "Given a user, proide recommmendations"
    )


def test_case() -> None:
    assert ChangeCase("upper")("Click (2006) 1/5") == "CLICK (2006) 1/5"
    assert ChangeCase("lower")("Click (2006) 1/5") == "click (2006) 1/5"


@pytest.mark.parametrize("relation", TEXT_RELATIONS, ids=lambda relation: relation.name)
@pytest.mark.parametrize("name", NAMES)
def test_edits_reach_the_rendered_prompt(name: str, relation: Transformation) -> None:
    followup = relation(PAPER_USER, np.random.default_rng(5))
    before, after = render(name, PAPER_USER), render(name, followup)
    assert before != after
    assert len(before) == len(after)


@pytest.mark.parametrize("relation", TEXT_RELATIONS, ids=lambda relation: relation.name)
def test_edits_are_applied_one_after_the_other(relation: Transformation) -> None:
    once = relation(request(), np.random.default_rng(1))
    twice = relation(once, np.random.default_rng(2))
    assert twice.edits[:1] == once.edits
    assert len(twice.edits) == 2


@pytest.mark.parametrize("variant", range(VARIANTS))
@pytest.mark.parametrize("as_json", [False, True])
@pytest.mark.parametrize("name", NAMES)
def test_built_in_templates_are_paraphrased_and_keep_what_they_ask(
    name: str,
    variant: int,
    as_json: bool,
) -> None:
    source = request(candidates=(20, 21), instruction="Prefer short films.", k=7)
    edit = ParaphraseTask(variant)
    text = replace(template(name), lists_as_json=as_json).render(source)[-1].content
    edited = edit(text)
    assert edited != text
    assert not edited.endswith(text), (
        "the task sentences of this template are not known"
    )
    assert re.findall(r"\d+", edited) == re.findall(r"\d+", text)
    for rating in source.history:
        assert rating.item.label in edited
    assert source.instruction in edited


@pytest.mark.parametrize("variant", range(VARIANTS))
def test_other_templates_get_the_task_restated_in_front(variant: int) -> None:
    own = Template("own", "{history}\nWhat next?")
    text = own.render(PAPER_USER)[-1].content
    edited = ParaphraseTask(variant)(text)
    assert edited.endswith(f"\n{text}")


def test_a_title_that_repeats_the_task_stays() -> None:
    title = "Answer with 5 recommendations"
    edited = ParaphraseTask(0)(f"Answer with 9 recommendations of these: {title}")
    assert edited == f"Return 9 recommendations of these: {title}"


def test_all_paraphrases_are_drawn() -> None:
    drawn = {
        relations.paraphrase_task(PAPER_USER, np.random.default_rng(seed)).edits
        for seed in range(40)
    }
    assert drawn == {(ParaphraseTask(variant),) for variant in range(VARIANTS)}


@pytest.mark.parametrize("mode", ["mitigate", "minimize"])
def test_popularity_prompt_sets_the_instruction_behind_an_existing_one(
    mode: str,
) -> None:
    relation = relations.popularity_prompt(mode)  # type: ignore[arg-type]
    said = text(f"instructions.{mode}")
    assert relation.name == f"popularity_prompt({mode!r})"
    assert relation(request(), RNG).instruction == said
    followup = relation(request(instruction="Be brief."), RNG)
    assert followup.instruction == f"Be brief. {said}"
    with pytest.raises(NotApplicable, match="already has this instruction"):
        relation(followup, RNG)
    assert said in render("wok", followup)[-1].content


def test_the_two_popularity_prompts_promise_different_things() -> None:
    one, other = (
        relations.popularity_prompt("mitigate"),
        relations.popularity_prompt("minimize"),
    )
    assert one.promise != other.promise


@pytest.mark.parametrize("rate", [0, -0.1, 1.1, float("nan"), "0.1", None])
@pytest.mark.parametrize("factory", [relations.add_spaces, relations.typos])
def test_impossible_rates(
    factory: Callable[[float], Transformation],
    rate: float,
) -> None:
    with pytest.raises(
        RelationError,
        match=rf"{factory.__name__}: rate must be .* got",
    ):
        factory(rate)


def test_impossible_words() -> None:
    with pytest.raises(RelationError, match="rate must be"):
        relations.random_words(rate=0)
    for words in ("apple", (), 0.2, None):
        with pytest.raises(RelationError, match="words must be a sequence"):
            relations.random_words(words)  # type: ignore[arg-type]
    for odd in (" ", 3):
        with pytest.raises(RelationError, match="every word must be"):
            relations.random_words(("apple", odd))  # type: ignore[arg-type]


def test_unknown_modes_name_the_nearest() -> None:
    with pytest.raises(RelationError, match="did you mean 'minimize'"):
        relations.popularity_prompt("minimise")  # type: ignore[arg-type]
    with pytest.raises(RelationError, match="'upper' or 'lower', got 'UPPER'"):
        relations.change_case("UPPER")  # type: ignore[arg-type]


def test_names_are_stable() -> None:
    assert relations.random_words().name == "random_words(rate=0.19)"
    assert relations.random_words(list(FRUIT), 1).name == "random_words(rate=1)"
    assert relations.random_words(["kiwi"], 0.5).name == "random_words(('kiwi',), 0.5)"
    assert relations.add_spaces().name == "add_spaces(0.32)"
    assert relations.change_case().name == "change_case('upper')"


@given(seed=SEEDS, n=st.integers(1, 4))
def test_demonstrations_show_nothing_that_is_to_be_ranked(seed: int, n: int) -> None:
    source = request(instruction="Prefer short films.")
    shown = relations.demonstrations(n)(
        source,
        np.random.default_rng(seed),
        WORLD,
    ).instruction
    assert shown.startswith("Prefer short films. For example, ")
    assert not [item.label for item in source.candidates or () if item.label in shown]
    assert shown.count(" (19") + shown.count(" (20") <= 3 * n


def test_a_demonstration_wants_as_many_users_as_it_names() -> None:
    with pytest.raises(NotApplicable, match="fewer than 17 other users"):
        relations.demonstrations(17)(request(), RNG, WORLD)
    once = relations.demonstrations(1)(request(), np.random.default_rng(0), WORLD)
    with pytest.raises(NotApplicable, match="already"):
        relations.demonstrations(1)(once, np.random.default_rng(0), WORLD)


def test_an_embedding_finds_whose_choices_are_shown() -> None:
    """As by hand: of the users with the nearest texts,
    here those with as many letters a.
    """
    mine = (Rating(Item("1", "Aaa"), 5.0, 1),)
    others = {name: [(name * 2).title(), name.upper()] for name in ("aa", "ab", "cd")}
    world = World(
        histories={
            name: tuple(
                Rating(Item(title, title), 4.0, at) for at, title in enumerate(titles)
            )
            for name, titles in others.items()
        },
    )
    asked: list[list[str]] = []

    def letters(texts: list[str]) -> list[list[int]]:
        asked.append(texts)
        return [[text.lower().count(letter) for letter in "abcd"] for text in texts]

    source = Request("me", mine, Scale(1, 5), candidates=(Item("9", "Nine"),), k=1)
    shown = relations.demonstrations(2, embed=letters)
    assert shown.name == "demonstrations(2, embed='letters')"
    told = shown(source, np.random.default_rng(0), world).instruction
    assert told == "For example, users who had chosen Aaaa, Abab chose next: AA, AB."
    assert asked[0][0] == "Aaa"
    assert sorted(asked[0][1:]) == ["Aaaa, AA", "Abab, AB", "Cdcd, CD"]


def test_an_embedding_that_cannot_serve_is_named() -> None:
    with pytest.raises(RelationError, match="embed must be a function with a name"):
        relations.demonstrations(1, embed=lambda texts: [[1.0]] * len(texts))
    for vectors, shape in (([1.0, 2.0], r"\(2,\)"), ([[math.nan]] * 13, r"\(13, 1\)")):
        wrong = SimpleNamespace(encode=lambda _, found=vectors: found).encode
        wrong.__name__ = "encode"
        with pytest.raises(
            RelationError,
            match=f"13 vectors of finite numbers.*{shape}",
        ):
            relations.demonstrations(1, embed=wrong)(request(), RNG, WORLD)


def test_a_profile_stands_beside_the_history_or_in_its_place() -> None:
    profiles = {"me": "Likes\n slow films."}
    both = relations.with_profile(profiles)(request(), RNG)
    alone = relations.with_profile(profiles, history=False)(request(), RNG)
    assert (
        both.instruction
        == alone.instruction
        == "What is known of the user: Likes slow films."
    )
    assert (both.history, alone.history) == (request().history, ())
    for nobody in (relations.with_profile({}), relations.with_profile({"me": " "})):
        with pytest.raises(NotApplicable, match="no description"):
            nobody(request(), RNG)
