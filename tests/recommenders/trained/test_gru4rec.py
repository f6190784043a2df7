from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from pytest_recsys_mt import RecommenderError
from tests.recommenders.trained.rings import fitted, request, ring
from tests.support.recommenders import Floats
from tests.support.recommenders_trained import PAD, Training
from tests.support.recommenders_trained_extras import (
    GRU4Rec,
    sampled_cross_entropy,
    stretches,
)

pytestmark = pytest.mark.usefixtures("on_the_processor")

QUICK: dict[str, Any] = {
    "dim": 16, "hidden": 12, "epochs": 40, "batch": 8, "rate": 0.01, "patience": 0, "length": 6,
    "negatives": 64,
}  # fmt: skip


def sigmoid(values: Floats) -> Floats:
    return np.asarray(1 / (1 + np.exp(-values)))


def reference(weights: dict[str, Floats], history: list[int]) -> Floats:
    """Scores after a history, gate by gate (Cho et al.
    2014, as PyTorch documents its GRU).
    """
    state = np.zeros(weights["gru.weight_hh_l0"].shape[1])
    for item in history:
        given = (
            weights["gru.weight_ih_l0"] @ weights["items"][item]
            + weights["gru.bias_ih_l0"]
        )
        kept = weights["gru.weight_hh_l0"] @ state + weights["gru.bias_hh_l0"]
        reset, update, new = zip(np.split(given, 3), np.split(kept, 3), strict=True)
        share = sigmoid(update[0] + update[1])
        state = (1 - share) * np.tanh(
            new[0] + sigmoid(reset[0] + reset[1]) * new[1],
        ) + share * state
    user = weights["out.weight"] @ state + weights["out.bias"]
    return np.asarray(weights["items"] @ user + weights["bias"])


def test_scores_equal_a_plain_computation_whatever_the_padding() -> None:
    model = fitted(GRU4Rec(**{**QUICK, "epochs": 5}))
    assert isinstance(model, GRU4Rec)
    weights = {
        name: value.double().numpy()
        for name, value in model.network.state_dict().items()
    }
    column = model.catalogue.column
    for items in ((4,), (7, 3, 9), (1, 2, 3, 4, 5, 6, 7, 8)):
        expected = reference(weights, [column[f"i{n}"] for n in items[-6:]])
        assert model.score([request(*items)])[0] == pytest.approx(
            expected,
            rel=1e-4,
            abs=1e-5,
        )


def test_the_ring_is_learned_by_heart() -> None:
    """After i and i + 1 comes i + 2, whoever asks."""
    model = fitted(GRU4Rec(**QUICK))
    asked = [request(start, (start + 1) % 18, k=1) for start in range(18)]
    answers = [answer.items for answer in model.recommend(asked)]
    right = [(f"i{(start + 2) % 18}",) for start in range(18)]
    assert (
        np.mean([one == other for one, other in zip(answers, right, strict=True)])
        > 0.95
    )


def test_the_order_of_a_history_decides() -> None:
    model = fitted(GRU4Rec(**QUICK))
    there, back = model.recommend([request(3, 4, 5, k=1), request(5, 4, 3, k=1)])
    assert there.items == ("i6",)
    assert back.items != ("i6",)


def test_what_came_before_the_latest_items_is_not_read() -> None:
    model = fitted(GRU4Rec(**{**QUICK, "epochs": 1}))
    long, short = model.score([request(17, *range(6)), request(*range(6))])
    assert (long == short).all()
    longer, _ = model.score([request(*range(6), 17), request(*range(6))])
    assert (longer != short).any()


def test_every_item_is_predicted_from_those_before_it_in_its_stretch() -> None:
    dataset = ring(steps=4)
    model = fitted(GRU4Rec(**{**QUICK, "epochs": 1}), dataset)
    assert isinstance(model, GRU4Rec)
    network = model.network
    training = Training.of(dataset, model.catalogue)
    columns, drawn = batch = next(
        iter(network.batches(training, 5, np.random.default_rng(0))),
    )
    weights = {
        name: value.double().numpy() for name, value in network.state_dict().items()
    }
    positive, negative = [], []
    for row in range(5):
        history = [int(column) for column in columns[row] if column != PAD]
        for place, target in enumerate(history):
            scores = reference(weights, history[:place])
            positive.append(scores[target])
            negative.append(np.where(drawn == target, -np.inf, scores[drawn]))
    expected = sampled_cross_entropy(
        torch.tensor(positive),
        torch.tensor(np.stack(negative)),
    )
    with torch.no_grad():
        loss = float(network.loss(*batch))
    assert loss == pytest.approx(float(expected), rel=1e-5)


@pytest.mark.parametrize("length", [1, 3, 8, 50])
def test_stretches_cover_every_interaction_and_end_elsewhere_next_time(
    length: int,
) -> None:
    dataset = ring(steps=8)
    training = Training.of(
        dataset,
        fitted(GRU4Rec(**{**QUICK, "epochs": 1}), dataset).catalogue,
    )
    rng = np.random.default_rng(0)
    first, second = stretches(training, length, rng), stretches(training, length, rng)
    rows = np.concatenate([training.preceding(first, length - 1), first[:, None]], 1)
    assert set(rows[rows != PAD]) == set(range(len(training)))
    owners = np.where(
        rows == PAD,
        training.owners[first][:, None],
        training.owners[rows],
    )
    assert (owners == training.owners[first][:, None]).all()
    assert (first.tolist() == second.tolist()) == (length == 1)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"hidden": 0}, "hidden must be at least 1"),
        ({"negatives": 0}, "negatives must be at least 1"),
        ({"length": 0}, "length must be at least 1"),
        ({"dropout": 1.0}, "dropout must be a share from 0 to below 1, got 1.0"),
    ],
)
def test_settings_that_cannot_be_are_refused(
    wrong: dict[str, Any],
    message: str,
) -> None:
    with pytest.raises(RecommenderError, match=message):
        GRU4Rec(**wrong)


def test_what_is_dropped_is_dropped_while_training_only() -> None:
    model = fitted(GRU4Rec(**{**QUICK, "dropout": 0.5, "epochs": 1}))
    assert isinstance(model, GRU4Rec)
    columns = torch.tensor([[1, 2, 3, 4]])
    network = model.network.train()
    losses = {
        float(network.loss(columns, torch.tensor([5, 6])).detach()) for _ in range(3)
    }
    assert len(losses) == 3
    assert np.array_equal(model.score([request(1, 2)]), model.score([request(1, 2)]))
