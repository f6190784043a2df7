"""FM and DeepFM that read attributes of users: against
their equations, and what they learn.
"""

from __future__ import annotations

import dataclasses
import itertools
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
import torch
from torch import Tensor

from pytest_recsys_mt import RecommenderError
from pytest_recsys_mt.datasets import Dataset
from pytest_recsys_mt.requests import Request
from tests.recommenders.trained import rings
from tests.support.recommenders import Ints, resolve
from tests.support.recommenders_trained import PAD, People, Training
from tests.support.recommenders_trained_extras import (
    FM,
    DeepFM,
    DeepMachine,
    Machine,
    validate,
)

SIDES = ("odd", "even")
KINDS = [FM, DeepFM]


def sided(users: int = 60) -> Dataset:
    """Everybody begins with one of four films; what comes
    next has the genre of the user's side.
    """
    ring = rings.ring()
    rng = np.random.default_rng(3)
    rows, people = [], {}
    for user in range(users):
        side = user % 2
        people[f"u{user}"] = {"side": SIDES[side], "age": 20 + user % 3, "job": None}
        chosen = [
            f"i{rng.integers(4)}",
            *(f"i{n}" for n in rng.permutation(range(5 - side, 18, 2))),
        ]
        rows += [(f"u{user}", item, 4.0, time) for time, item in enumerate(chosen[:5])]
    frame = type(ring.interactions)(
        rows,
        columns=["user", "item", "rating", "timestamp"],
    )
    return dataclasses.replace(ring, name="sided", interactions=frame, users=people)


def asked(*history: int, **attributes: Any) -> Request:
    return rings.request(*history).replace(attributes=attributes)


def fitted(kind: type[FM], **changes: Any) -> FM:
    settings = {
        "dim": 6,
        "epochs": 2,
        "batch": 64,
        "patience": 0,
        "user_attributes": True,
    }
    return cast(FM, rings.fitted(kind(**{**settings, **changes}), sided()))


def plain(model: FM, request: Request) -> list[float]:
    """The score of each item by Rendle's equation 1, pair
    by pair, and Guo's layers beside it.
    """
    network = cast(Machine, model.network)
    assert network.people is not None
    columns = [model.catalogue.column[rating.item.id] for rating in request.history]
    numbers = [
        model._people.numbers[(name, str(value))]  # type: ignore[union-attr]
        for name, value in request.attributes.items()
    ]
    scores = []
    for item in range(len(model.catalogue)):
        genres = [genre for genre in network.genres_of[item].tolist() if genre != PAD]
        parts: list[list[tuple[float, Tensor]]] = [
            [
                (1 / len(columns), network.history[column].double())
                for column in columns
            ],
            [(1.0, network.items[item].double())],
            [(1 / len(genres), network.genres[genre].double()) for genre in genres],
            [(1 / len(numbers), network.people[number].double()) for number in numbers],
        ]
        active = [feature for part in parts for feature in part]
        score = float(network.bias) + sum(
            float(value * vector[-1]) for value, vector in active
        )
        score += sum(
            one * other * float(vector[:-1] @ further[:-1])
            for (one, vector), (other, further) in itertools.combinations(active, 2)
        )
        if isinstance(network, DeepMachine):
            double = network.double()
            fields = [
                sum(value * vector[:-1] for value, vector in part) for part in parts
            ]
            hidden = sum(
                layer(field) for layer, field in zip(double.first, fields, strict=True)
            )
            hidden = cast(Tensor, hidden).relu()
            for layer in double.further:
                hidden = layer(hidden).relu()
            score += float(double.last(hidden))
            network.float()
        scores.append(score)
    return scores


@pytest.mark.parametrize("kind", KINDS)
def test_the_attributes_are_features_like_all_others(kind: type[FM]) -> None:
    model = fitted(kind)
    generator = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for parameter in model.network.parameters():
            parameter.copy_(torch.randn(parameter.shape, generator=generator) / 2)
        for request in (asked(3, 7, 8, side="odd", age=21), asked(2, side="even")):
            expected = plain(model, request)
            np.testing.assert_allclose(
                model.score([request])[0],
                expected,
                rtol=1e-6,
                atol=1e-6,
            )
            offered = rings.request(*range(20)).history
            some = request.replace(candidates=tuple(rating.item for rating in offered))
            np.testing.assert_allclose(
                model.score([some])[0],
                expected,
                rtol=1e-6,
                atol=1e-6,
            )


@pytest.mark.parametrize("kind", KINDS)
def test_who_asks_decides_what_the_history_does_not(kind: type[FM]) -> None:
    model = fitted(kind, dim=8, epochs=40, rate=0.01)
    requests = [asked(1, side=side) for side in SIDES] + [
        asked(side=side) for side in SIDES
    ]
    for request, answer in zip(requests, model.recommend(requests), strict=True):
        wanted = SIDES.index(request.attributes["side"])
        assert sum((int(item[1:]) % 2 == 0) == wanted for item in answer.items) >= 4
    # Training stops by a validation that knows who asks, too.
    dataset, people = sided(), model._people
    assert people is not None
    training = Training.of(dataset, model.catalogue)
    _, held_out = training.split_validation()
    table = people.table(
        [dataset.users[user] for user in dataset.interactions["user"].unique()],
    )
    right, wrong = (
        validate(
            model.network,
            dataclasses.replace(training, people=rows),
            held_out,
            50,
        ).ndcg
        for rows in (table, np.roll(table, 1, axis=0))
    )
    assert right > wrong + 0.1


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_missing_or_unknown_is_left_out(kind: type[FM]) -> None:
    model = fitted(kind)
    known = asked(1, side="odd")
    others = [
        asked(1, side="odd", **more)
        for more in ({"age": 99}, {"job": "?"}, {"age": None})
    ]
    first, *rest = model.score([known, *others])
    assert all(np.array_equal(first, row) for row in rest)
    nobody, stranger, empty = model.score(
        [asked(1), asked(1, side="neither"), asked(age=99)],
    )
    np.testing.assert_array_equal(nobody, stranger)
    assert not np.array_equal(nobody, first)
    assert not empty.any()


@pytest.mark.parametrize("kind", KINDS)
def test_a_score_does_not_depend_on_who_else_asks(kind: type[FM]) -> None:
    model = fitted(kind)
    requests = [
        asked(n % 7, **({"side": SIDES[n % 2]} if n % 3 else {}), age=20 + n % 5)
        for n in range(70)
    ]
    alone = np.vstack([model.score([one]) for one in requests])
    np.testing.assert_array_equal(model.score(requests), alone)


@pytest.mark.parametrize(
    ("given", "features"),
    [
        ({"age": 25, "job": "nurse"}, ["age=25", "job=nurse"]),
        ({"likes": ("tea", "rain", "tea")}, ["likes=rain", "likes=tea"]),
        ({"age": None, "job": "", "income": float("nan"), "likes": ()}, []),
        ({"member": False, "visits": 0}, ["member=False", "visits=0"]),
    ],
)
def test_each_value_is_a_feature(given: Mapping[str, Any], features: list[str]) -> None:
    people = People.of([given, {}])
    assert ["=".join(feature) for feature in people.numbers] == features
    table: Ints = people.table([given, {}])
    assert table[0].tolist() == (list(range(len(features))) or [PAD])
    assert set(table[1].tolist()) == {PAD}


def test_the_stored_key_follows_the_users_only_where_they_are_read(
    tmp_path: Path,
) -> None:
    dataset = sided()
    changed = {**dataset.users, "u0": {"side": "even"}}
    other = dataclasses.replace(dataset, users=changed)

    def key(data: Dataset, reads: bool) -> str:
        model = FM(dim=4, epochs=1, user_attributes=reads)
        model.folder = tmp_path
        return cast(FM, rings.fitted(model, data)).fingerprint

    assert key(dataset, False) == key(other, False)
    assert len({key(dataset, False), key(dataset, True), key(other, True)}) == 3
    described = json.loads((tmp_path / key(dataset, False) / "model.json").read_text())
    assert set(described["identity"]) == {
        "recommender",
        "parameters",
        "training",
        "seed",
        "torch",
    }
    assert "user_attributes" not in described["identity"]["parameters"]


def test_data_without_attributes_of_users_are_refused() -> None:
    model = cast(FM, resolve("deepfm?user_attributes=true"))
    assert isinstance(model, DeepFM)
    with pytest.raises(
        RecommenderError,
        match=r"user_attributes=true, but dataset 'ring' has no",
    ):
        model.fit(rings.ring(), 0)
