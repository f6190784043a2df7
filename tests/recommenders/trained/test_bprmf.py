from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
import torch
from scipy.optimize import minimize

from pytest_recsys_mt.datasets import Dataset
from pytest_recsys_mt.requests import Request
from tests.recommenders.trained.rings import fitted, request, ring
from tests.support.recommenders import Floats
from tests.support.recommenders_trained import PAD, encode
from tests.support.recommenders_trained_extras import BPRMF, bprmf

pytestmark = pytest.mark.usefixtures("on_the_processor")

QUICK: dict[str, Any] = {
    "dim": 16,
    "epochs": 80,
    "batch": 32,
    "rate": 0.01,
    "decay": 1e-4,
    "patience": 0,
}


def of_history(dataset: Dataset, user: str) -> Request:
    history = dataset.histories[user]
    return Request(
        user,
        history,
        dataset.scale,
        tuple(dataset.items.values()),
        len(history),
    )


def test_a_tiny_set_is_learned_by_heart() -> None:
    """Asked for as many items as the history has, the answer is the history."""
    dataset = ring(steps=4)
    model = fitted(BPRMF(**{**QUICK, "epochs": 200, "decay": 0.0}), dataset)
    asked = [of_history(dataset, user) for user in dataset.histories]
    found = [
        len({rating.item.id for rating in one.history} & set(answer.items)) / one.k
        for one, answer in zip(asked, model.recommend(asked), strict=True)
    ]
    assert np.mean(found) > 0.95


def prior_of(users: Floats) -> tuple[Floats, Floats]:
    """Mean and precision of the trained users' vectors."""
    covariance = np.cov(users.T, bias=True)
    least = 1e-3 * np.trace(covariance) / users.shape[1] + 1e-12
    return users.mean(0), np.linalg.inv(covariance + least * np.eye(users.shape[1]))


def vectors(model: BPRMF) -> tuple[Floats, Floats]:
    """Vectors of users and of items."""
    network = model.network.double()
    users, items = (
        network.get_parameter(name).detach().numpy() for name in ("users", "items")
    )
    return users, items


@pytest.mark.parametrize("history", [(1,), (1, 5, 6), range(15)])
def test_the_fold_in_minimises_the_loss_of_training_and_the_prior(
    history: Sequence[int],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Pair by pair, by another method: BFGS, without derivatives."""
    model = fitted(BPRMF(**QUICK))
    assert isinstance(model, BPRMF)
    users, items = vectors(model)
    mean, precision = prior_of(users)
    asked = request(*history)
    chosen = [model.catalogue.column[rating.item.id] for rating in asked.history]
    lacked = np.setdiff1d(np.arange(len(items)), chosen)

    def loss(vector: Floats) -> float:
        margins = (items[chosen] @ vector)[:, None] - items[lacked] @ vector
        away = vector - mean
        return float(
            np.logaddexp(0, -margins).mean(1).sum() + away @ precision @ away / 2,
        )

    best = minimize(loss, mean, tol=1e-10).x
    assert model.score([asked])[0] == pytest.approx(items @ best, rel=0.05, abs=0.05)
    monkeypatch.setattr(bprmf, "STEPS", 8)
    assert model.score([asked])[0] == pytest.approx(items @ best, rel=1e-3, abs=2e-3)


def test_the_fold_in_leaves_out_items_evenly_when_there_are_many(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    model = fitted(BPRMF(**QUICK))
    whole = model.score([request(1, 5, 6)])[0]
    monkeypatch.setattr(bprmf, "OTHERS", 10)
    some = model.score([request(1, 5, 6)])[0]
    assert not np.array_equal(whole, some)
    assert np.corrcoef(whole, some)[0, 1] > 0.95


def test_who_has_everything_is_answered_too() -> None:
    model = fitted(BPRMF(**QUICK))
    assert np.isfinite(model.score([request(*range(len(model.catalogue)))])).all()


def test_the_fold_in_of_validation_is_the_least_squares_that_it_says() -> None:
    """All margins of history items over the catalogue aimed
    at 2, with the prior; pair by pair.
    """
    model = fitted(BPRMF(**QUICK))
    assert isinstance(model, BPRMF)
    users, items = vectors(model)
    mean, left = prior_of(users)
    right = left @ mean
    asked = request(1, 5, 6)
    for i in [model.catalogue.column[rating.item.id] for rating in asked.history]:
        for j in range(len(items)):
            margin = items[i] - items[j]
            left = left + np.outer(margin, margin) / 4 / len(items)
            right = right + margin / 2 / len(items)
    columns = encode([asked], model.catalogue, 0, ordered=False)
    found = model.network.preview(torch.from_numpy(columns), None)
    assert found[0].detach().numpy() == pytest.approx(
        items @ np.linalg.solve(left, right),
        rel=1e-5,
        abs=1e-8,
    )


def test_the_fold_in_finds_who_was_trained() -> None:
    """The vector of a history, and the one that training
    gave its user, score items alike.
    """
    dataset = ring(users=80)
    everybody = fitted(BPRMF(**QUICK), dataset)
    assert isinstance(everybody, BPRMF)
    names = list(dataset.histories)
    own = everybody.network.get_parameter("users").detach().double()
    trained = (
        own @ everybody.network.get_parameter("items").detach().double().T
    ).numpy()
    folded = everybody.score([of_history(dataset, user) for user in names])
    assert (
        np.mean(
            [np.corrcoef(*rows)[0, 1] for rows in zip(trained, folded, strict=True)],
        )
        > 0.85
    )

    # And when the user was never there to train on.
    absent = names[3]
    others = dataset.without(
        {absent: [rating.item.id for rating in dataset.histories[absent]]},
    )
    strange = fitted(BPRMF(**QUICK), others)
    ids = strange.catalogue.ids
    seen = dict(zip(everybody.catalogue.ids, trained[3], strict=True))
    scores = strange.score([of_history(dataset, absent)])[0]
    assert np.corrcoef(scores, [seen[item] for item in ids])[0, 1] > 0.8


def test_the_order_of_a_history_and_its_ratings_are_never_seen() -> None:
    model = fitted(BPRMF(**QUICK))
    asked = request(1, 5, 6, 9)
    turned = asked.replace(history=tuple(reversed(asked.history)))
    assert np.array_equal(model.score([asked]), model.score([turned]))


def test_more_dimensions_than_users_can_be_folded_in() -> None:
    dataset = ring(users=3)
    model = fitted(BPRMF(**{**QUICK, "dim": 32, "epochs": 2}), dataset)
    assert np.isfinite(model.score([request(1, 2)])).all()


def test_padding_adds_nothing() -> None:
    model = fitted(BPRMF(**QUICK))
    assert isinstance(model, BPRMF)
    columns = encode([request(1, 5, 6)], model.catalogue, 0, ordered=False)
    padded = np.pad(columns, ((0, 0), (9, 0)), constant_values=PAD)
    scores = [model.network.score(torch.from_numpy(part)) for part in (columns, padded)]
    assert torch.allclose(scores[0], scores[1], rtol=1e-9)
