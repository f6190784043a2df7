"""Answers made from true rankings, in every form and of
every kind of item, give those rankings back.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from random import Random

import pytest

from pytest_recsys_mt.datasets import load
from pytest_recsys_mt.requests import Completion, Item, Prompt, Request, Scale
from tests.llm.forms import (
    AMBIGUOUS,
    DOMAINS,
    FORMS,
    Case,
    Form,
    K,
    catalogue,
    numbered,
)
from tests.support.llm import LLMRecommender
from tests.support.llm_reading import Reading, TitleIndex, read

REPEATS = 6


def readings(name: str, form: Form) -> list[tuple[Case, str, Reading]]:
    """What is read in answers of one form, some of each domain."""
    found = []
    for domain in DOMAINS:
        rng = Random(f"{name} {domain}")
        index = TitleIndex(catalogue(domain))
        for _ in range(REPEATS):
            offered = rng.sample(catalogue(domain), len(DOMAINS[domain]))
            best = rng.sample(range(len(offered)), K)
            if best == sorted(best):
                best.reverse()
            case = Case(offered, best)
            asked = Request("u", (), Scale(), tuple(offered), k=K)
            text = form(case)
            found.append((case, text, read(text, asked, index)))
    return found


def test_clear_answers_give_back_their_ranking() -> None:
    for name, form in FORMS.items():
        for case, text, reading in readings(name, form):
            items = [entry.item for entry in reading.entries if entry.item is not None]
            assert items[:K] == case.ids, f"{name}:\n{text}\n{reading}"


@pytest.mark.parametrize("name", AMBIGUOUS)
def test_of_two_lists_with_equal_claims_none_is_read(name: str) -> None:
    for case, text, reading in readings(name, AMBIGUOUS[name]):
        if case.titles != case.candidates[:K]:
            assert [entry.item for entry in reading.entries if entry.item] == [], text
            assert reading.rule, text


def test_titles_that_begin_like_an_entry_or_a_name_stay_titles() -> None:
    items = list(load("mini").items.values())
    index, rng = TitleIndex(items), Random(7)
    for _ in range(200):
        offered = rng.sample(items, 20)
        asked = Request("u", (), Scale(), tuple(offered), k=10)
        titles = [item.label for item in offered[:10]]
        for text in (
            "\n".join(titles),
            "\n".join(f"- {each}" for each in titles),
            numbered(titles),
        ):
            reading = read(text, asked, index)
            assert [entry.item for entry in reading.entries] == [
                i.id for i in offered[:10]
            ], text


@pytest.mark.parametrize("form", ["- {}", "{}", "1. {}", "* **{}**"])
@pytest.mark.parametrize(
    "title",
    ["Blocks: 2 1 3", "Vote: A > B > C", "The Winner Is: 3, 1", "2, 1 (La Otra)"],
)
def test_a_title_that_looks_like_a_ranking_stays_a_title(form: str, title: str) -> None:
    items = [Item("a", "Heat"), Item("b", title), Item("c", "Alien")]
    asked = Request("u", (), Scale(), tuple(items), k=1)
    reading = read(form.format(title), asked, TitleIndex(items))
    assert [entry.item for entry in reading.entries] == ["b"]


@pytest.mark.parametrize(
    "words",
    [
        "Based on the user's viewing history, here are 5 of them:",
        "Based on the user's history, I think these fit:",
        "Here are some that the user has not seen yet:",
        "Given your taste, here is my list:",
        "Here is the list, without any explanation:",
        "I do not know this user, but here are five:",
        "After analyzing the history, the list is:",
        "From the candidates:",
        "First - I looked at the history.\nThe list:",
        "根据观看历史的结果如下：",
    ],
)
def test_words_before_the_only_list_do_not_hide_it(words: str) -> None:
    for case, _, _ in readings(words, FORMS["numbered"]):
        asked = Request("u", (), Scale(), tuple(case.offered), k=K)
        for listed in (
            numbered(case.titles),
            "\n".join(f"- {each}" for each in case.titles),
        ):
            reading = read(f"{words}\n{listed}", asked, TitleIndex(case.offered))
            assert [each.item for each in reading.entries if each.item] == case.ids, (
                reading
            )


@pytest.mark.parametrize(
    "form",
    ["Option {}: {}", "[{}] {}", "{}. {} - a great drama about crime"],
)
def test_candidates_numbers_before_all_of_them_are_no_ranks(form: str) -> None:
    for case, _, _ in readings(form, FORMS["numbered"]):
        offered = case.offered[:K]
        order = Random(form).sample(range(K), K)
        asked = Request("u", (), Scale(), tuple(offered), k=K)
        text = "\n".join(form.format(at + 1, offered[at].label) for at in order)
        reading = read(text, asked, TitleIndex(case.offered))
        assert [each.item for each in reading.entries] == [
            offered[at].id for at in order
        ], text


class Counting:
    """Answers with the numbers that the prompt gives to
    the candidates, the last three first.
    """

    deterministic = True
    fingerprint = "1"
    form = "{}"

    def complete(self, prompts: Sequence[Prompt]) -> list[Completion]:
        shown = [
            re.findall(r"^(\d+)\. ", prompt.messages[-1].content, re.MULTILINE)
            for prompt in prompts
        ]
        return [
            Completion(self.form.format(*reversed(numbers[-3:]))) for numbers in shown
        ]


@pytest.mark.parametrize(
    "form",
    [
        "[{}] > [{}] > [{}]",
        "{}, {}, {}",
        '{{"ranking": [{}, {}, {}]}}',
        '[{{"id": {}}}, {{"id": {}}}, {{"id": {}}}]',
    ],
)
@pytest.mark.parametrize("field", ["candidates", "candidates_from_0"])
def test_numbers_are_those_of_the_prompt(form: str, field: str, tmp_path: Path) -> None:
    data, offered = load("mini"), list(load("mini").items.values())[:12]
    (tmp_path / "own.txt").write_text(
        f"They saw {{history}}. Rank the best {{k}} of: {{{field}}}",
    )
    model = Counting()
    model.form = form
    recommender = LLMRecommender(model, str(tmp_path / "own.txt"))
    recommender.fit(data, 0)
    (answer,) = recommender.recommend([Request("u", (), Scale(), tuple(offered), k=3)])
    assert list(answer.items) == [item.id for item in reversed(offered[-3:])]


def test_a_number_that_only_another_count_has_is_not_read() -> None:
    offered = [Item(f"i{number}", f"Film {number}") for number in range(20)]
    asked, index = Request("u", (), Scale(), tuple(offered), k=3), TitleIndex(offered)
    for first, text in ((1, "[0] > [2] > [1]"), (0, "[20] > [2] > [1]")):
        assert not any(
            entry.item for entry in read(text, asked, index, first=first).entries
        )
