"""The paper's check of the aspect transparency: what follows from who a user is, can be
told.

DeepFM that reads histories alone against DeepFM that reads the user's attributes as
well (section 4.2.2 of "RecSys Arena"), on users whose histories do not say what their
age does.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
import pytest

from pytest_recsys_mt import Item, Rating, Request, Scale
from pytest_recsys_mt.datasets import Dataset
from pytest_recsys_mt.suites.arena import (
    OVERALL,
    Arena,
    Comparison,
    Judgement,
    JudgeRunner,
    preferred,
)
from pytest_recsys_mt.verdict.answers import Asked, Context
from tests.extras import need
from tests.oracles.support import FakeAnswers
from tests.support.suites_arena import Winner, genres_of

need("torch")

SUITS = {"child": "Animation", "adult": "Noir"}
FILMS = {
    kind: [
        Item(f"{kind}{n}", f"{kind} {n}", 2000, {"genres": (kind,)}) for n in range(12)
    ]
    for kind in (*SUITS.values(), "Documentary")
}
SCALE = Scale(1.0, 5.0)
K = 5


def dataset(rng: np.random.Generator, users: int = 240) -> Dataset:
    """Users choose three documentaries, as everybody does,
    and then three films for their age.
    """
    rows, people = [], {}
    for user in range(users):
        name, age = f"u{user:03}", ("child", "adult")[user % 2]
        people[name] = {"age": age}
        chosen = [*drawn(rng, "Documentary"), *drawn(rng, SUITS[age])]
        rows += [(name, item.id, 5.0, time) for time, item in enumerate(chosen)]
    frame = pd.DataFrame(rows, columns=["user", "item", "rating", "timestamp"])
    items = {film.id: film for films in FILMS.values() for film in films}
    return Dataset("made up", items, frame, SCALE, people)


def drawn(rng: np.random.Generator, kind: str) -> list[Item]:
    return [FILMS[kind][place] for place in rng.permutation(len(FILMS[kind]))[:3]]


class SeesWhy:
    """Of transparency, prefers the list with more that
    suits the user's age; as a whole, none.
    """

    deterministic = True

    def judge(self, comparisons: Sequence[Comparison]) -> list[Judgement]:
        return [
            Judgement("tie", {"transparency": self.clearer(each)})
            for each in comparisons
        ]

    def clearer(self, comparison: Comparison) -> Winner:
        suits = SUITS[comparison.request.attributes["age"]]
        one, other = (
            sum(suits in genres_of(item) for item in items)
            for items in (comparison.a, comparison.b)
        )
        return "tie" if one == other else "A" if one > other else "B"


def answers(model: object, data: Dataset, requests: Sequence[Request]) -> FakeAnswers:
    model.fit(data, 0)  # type: ignore[attr-defined]
    given = model.recommend(requests)  # type: ignore[attr-defined]
    context = Context(items=data.items)
    asked = [Asked(one, (answer,)) for one, answer in zip(requests, given, strict=True)]
    return FakeAnswers(asked, context)


@pytest.fixture(scope="module")
def sides(tmp_path_factory: pytest.TempPathFactory) -> dict[str, FakeAnswers]:
    from tests.support.recommenders_trained_extras import DeepFM

    rng = np.random.default_rng(5)
    data = dataset(rng)
    offered = tuple(film for kind in SUITS.values() for film in FILMS[kind])
    requests = [
        Request(
            f"new{user}",
            tuple(
                Rating(item, 5.0, time)
                for time, item in enumerate(drawn(rng, "Documentary"))
            ),
            SCALE,
            offered,
            K,
            attributes={"age": ("child", "adult")[user % 2]},
        )
        for user in range(60)
    ]
    found = {}
    for name, seed in (("ids", 0), ("other ids", 1), ("attributes", 2)):
        model = DeepFM(
            dim=16,
            epochs=12,
            batch=128,
            rate=0.01,
            patience=0,
            width=16,
            layers=2 + seed % 2,
            user_attributes=name == "attributes",
        )
        model.folder = tmp_path_factory.mktemp("models")
        found[name] = answers(model, data, requests)
    return found


def test_deepfm_with_attributes_is_told_by_its_transparency(
    sides: dict[str, FakeAnswers],
) -> None:
    arena = Arena(sides["attributes"], sides["ids"], JudgeRunner(SeesWhy(), "sees why"))
    clear = preferred(arena, "transparency")
    assert clear.status == "holds"
    assert clear.estimate is not None
    assert clear.estimate > 0.5
    assert preferred(arena, OVERALL).status == "inconclusive"


def test_two_that_read_no_attributes_are_not_told_apart(
    sides: dict[str, FakeAnswers],
) -> None:
    arena = Arena(sides["ids"], sides["other ids"], JudgeRunner(SeesWhy(), "sees why"))
    assert preferred(arena, "transparency").status == "inconclusive"
