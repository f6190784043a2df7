"""A model that copies candidates as an edited prompt
showed them has named those candidates.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest

from pytest_recsys_mt.datasets import Dataset
from pytest_recsys_mt.relations import (
    Transformation,
    add_spaces,
    change_case,
    random_words,
    typos,
)
from pytest_recsys_mt.requests import Completion, Item, Rating, Request, Scale
from tests.llm.test_llm_recommender import fitted
from tests.support.datasets import load_mini
from tests.support.llm import NAMES, LLMRecommender

SEEDS = range(30)
RELATIONS = [
    random_words(),
    typos(0.3),
    add_spaces(),
    change_case("upper"),
    change_case("lower"),
]


@dataclass(frozen=True)
class Swap:
    """An edit that writes one text for another."""

    old: str
    new: str

    def __call__(self, text: str, /) -> str:
        return text.replace(self.old, self.new)


@pytest.fixture(scope="module")
def mini() -> Dataset:
    return load_mini()


@pytest.fixture(scope="module")
def recommender(mini: Dataset) -> LLMRecommender:
    return fitted(mini)


def asked(mini: Dataset, rng: np.random.Generator, *, remakes: bool = True) -> Request:
    """Twenty candidates and five films of the history, all different."""
    catalogue = list(mini.items.values())
    if not remakes:  # without their years nothing tells them apart
        catalogue = list({item.title: item for item in catalogue}.values())
    drawn = [catalogue[at] for at in rng.permutation(len(catalogue))[:25]]
    history = tuple(Rating(item, 4.0) for item in drawn[20:])
    return Request("u1", history, mini.scale, tuple(drawn[:20]), k=20)


def lines_shown(recommender: LLMRecommender, request: Request) -> list[str]:
    """The candidates' lines, which end the ``person`` prompt."""
    (message,) = recommender.render(request).messages
    assert request.candidates
    return message.content.split("\n")[-len(request.candidates) :]


def unnumbered(line: str) -> str:
    return re.sub(r"^[\d\s]+\.\s*", "", line)


def verbatim(lines: list[str]) -> str:
    return "\n".join(lines)


def renumbered(lines: list[str]) -> str:
    return "\n".join(
        f"{n}. {unnumbered(line)}" for n, line in enumerate(lines, start=1)
    )


def undated(lines: list[str]) -> str:
    return renumbered([re.sub(r"\s*\([\d\s]+\)[^()]*$", "", line) for line in lines])


@pytest.mark.parametrize("copied", [verbatim, renumbered, undated])
@pytest.mark.parametrize("relation", RELATIONS, ids=lambda relation: relation.name)
def test_copied_lines_are_the_candidates_in_their_order(
    mini: Dataset,
    recommender: LLMRecommender,
    relation: Transformation,
    copied: Callable[[list[str]], str],
) -> None:
    for seed in SEEDS:
        rng = np.random.default_rng(seed)
        request = relation(asked(mini, rng, remakes=copied is not undated), rng)
        lines = lines_shown(recommender, request)
        order = rng.permutation(len(lines))
        answer = recommender.read(
            request,
            Completion(copied([lines[at] for at in order])),
        )
        assert request.candidates
        assert answer.items == tuple(request.candidates[at].id for at in order), seed


@pytest.mark.parametrize("prompt", NAMES)
def test_every_template_shows_its_candidates(mini: Dataset, prompt: str) -> None:
    rng = np.random.default_rng(1)
    request = typos(1.0)(asked(mini, rng), rng)
    recommender = fitted(mini, prompt=prompt)
    (message,) = recommender.render(request).messages
    shown = [line for line in message.content.split("\n") if re.match(r"\d+\. ", line)]
    assert request.candidates
    answer = recommender.read(request, Completion("\n".join(reversed(shown))))
    assert answer.items == tuple(item.id for item in reversed(request.candidates))


FILMS = (
    Item("contact", "Contact", 1997),
    Item("contract", "Contract", 1997),
    Item("up", "Up", 2009),
)
"""The first two are one typing slip apart."""


def read(
    text: str,
    *edits: Swap,
    candidates: tuple[Item, ...] = FILMS,
) -> tuple[str, ...]:
    rows = pd.DataFrame(
        [("u1", "up", 5.0, 0)],
        columns=["user", "item", "rating", "timestamp"],
    )
    dataset = Dataset("films", {item.id: item for item in FILMS}, rows, Scale())
    request = Request("u1", (), Scale(), candidates, k=3, edits=edits)
    return fitted(dataset).read(request, Completion(text)).items


def test_the_title_of_another_candidate_stays_its_own() -> None:
    slip = Swap("Contract", "Contact")
    assert read("1. Contact (1997)\n2. Contact", slip) == ("contact", "contact")
    assert read("1. Contact (1997)", slip, candidates=FILMS[1:]) == ("contract",)


def test_candidates_shown_alike_are_told_by_their_titles_alone() -> None:
    both = (Swap("Contract", "Cotact"), Swap("Contact", "Cotact"))
    assert read("1. Cotact (1997)\n2. Contract\n3. Up", *both) == (
        "unknown:cotact",
        "contract",
        "up",
    )


def test_a_copy_matches_as_a_whole_only() -> None:
    edit = Swap("Contract", "pear Contrcat")
    assert read("1. pear Contrcat\n2. Up", edit) == ("contract", "up")
    assert read("1. pear Contrca (1997)\n2. Up", edit)[0].startswith("unknown:")


def test_a_copy_of_another_year_is_no_copy() -> None:
    edit = Swap("Contract", "Zzyzx Road")
    assert read('[{"title": "Zzyzx Road", "year": 1997}]', edit) == ("contract",)
    assert read('[{"title": "Zzyzx Road", "year": 2006}]', edit)[0].startswith(
        "unknown:",
    )


def test_edits_that_move_lines_give_no_names() -> None:
    assert read("1. Zzyzx Road\n2. Up", Swap("Contract", "\nZzyzx Road"))[0].startswith(
        "unknown:",
    )


def test_without_edits_only_titles_count(
    mini: Dataset,
    recommender: LLMRecommender,
) -> None:
    rng = np.random.default_rng(3)
    request = asked(mini, rng)
    edited = random_words(rate=1.0)(request, rng)
    text = renumbered(lines_shown(recommender, edited))
    plain = recommender.read(request, Completion(text))
    assert not any(entry.kind == "candidate" for entry in plain.entries)
    assert len(set(recommender.read(edited, Completion(text)).items)) == 20
    titles = renumbered(lines_shown(recommender, request))
    assert recommender.read(request, Completion(titles)) == recommender.read(
        edited,
        Completion(titles),
    )
