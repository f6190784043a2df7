from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from pytest_recsys_mt import RecommenderError
from pytest_recsys_mt.datasets import Dataset
from pytest_recsys_mt.requests import Request
from tests.recommenders.data import simulate
from tests.recommenders.trained.rings import fitted, request, ring
from tests.support.recommenders import Floats
from tests.support.recommenders_trained import Training
from tests.support.recommenders_trained_extras import LightGCN, bpr

pytestmark = pytest.mark.usefixtures("on_the_processor")

QUICK: dict[str, Any] = {
    "dim": 16,
    "epochs": 40,
    "batch": 64,
    "rate": 0.02,
    "patience": 0,
    "layers": 3,
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


def layers_of(model: LightGCN, dataset: Dataset) -> tuple[Floats, Floats]:
    """Layers 0 to K of users and of items, node by node (He et al., equation 3)."""
    nodes = model.network.get_parameter("nodes").detach().double().numpy()
    histories = list(dataset.histories.values())
    users, items = [nodes[: len(histories)]], [nodes[len(histories) :]]
    column = model.catalogue.column
    links = [
        (user, column[rating.item.id])
        for user, ratings in enumerate(histories)
        for rating in ratings
    ]
    degrees_u = np.bincount([user for user, _ in links], minlength=len(users[0]))
    degrees_i = np.bincount([item for _, item in links], minlength=len(items[0]))
    for _ in range(model.layers):
        users.append(np.zeros_like(users[0]))
        items.append(np.zeros_like(items[0]))
        for user, item in links:
            root = np.sqrt(degrees_u[user] * degrees_i[item])
            users[-1][user] += items[-2][item] / root
            items[-1][item] += users[-2][user] / root
    return np.stack(users), np.stack(items)


@pytest.mark.parametrize("layers", [1, 3])
def test_the_node_of_a_known_history_is_the_trained_one_but_for_layer_0(
    layers: int,
) -> None:
    dataset = simulate()
    model = fitted(LightGCN(**{**QUICK, "epochs": 3, "layers": layers}), dataset)
    assert isinstance(model, LightGCN)
    users, items = layers_of(model, dataset)
    trained = users.copy()
    trained[0] = users[0].mean(0)
    expected = trained.mean(0) @ items.mean(0).T
    asked = [of_history(dataset, user) for user in dataset.histories]
    assert model.score(asked) == pytest.approx(expected, rel=1e-4, abs=1e-5)


def test_the_loss_is_that_of_the_propagated_embeddings_and_so_is_its_gradient() -> None:
    dataset = simulate()
    model = fitted(LightGCN(**{**QUICK, "epochs": 1}), dataset)
    assert isinstance(model, LightGCN)
    network = model.network
    training = Training.of(dataset, model.catalogue)
    batch = next(iter(network.batches(training, 50, np.random.default_rng(0))))
    users, items = (
        torch.from_numpy(layers.mean(0)) for layers in layers_of(model, dataset)
    )
    who, chosen, other = batch
    assert training.holds(who.numpy(), chosen.numpy()).all()
    assert not training.holds(who.numpy(), other.numpy()).any()
    expected = bpr(
        (users[who] * items[chosen]).sum(1) - (users[who] * items[other]).sum(1),
    )
    with torch.no_grad():
        assert float(network.loss(*batch)) == pytest.approx(float(expected), rel=1e-5)

    nodes = network.get_parameter("nodes")
    nodes.grad = None
    network.loss(*batch).backward()  # type: ignore[no-untyped-call]
    assert nodes.grad is not None
    row, step = int(chosen[0]) + len(users), 1e-2
    around = []
    for sign in (1, -1):
        with torch.no_grad():
            nodes[row, 0] += sign * step
            around.append(float(network.loss(*batch)))
            nodes[row, 0] -= sign * step
    slope = (around[0] - around[1]) / (2 * step)
    assert float(nodes.grad[row, 0]) == pytest.approx(slope, rel=0.05, abs=1e-5)


def test_a_tiny_set_is_learned_by_heart() -> None:
    """Asked for as many items as the history has, the answer is the history."""
    dataset = ring(steps=4)
    model = fitted(
        LightGCN(**{**QUICK, "epochs": 150, "layers": 1, "decay": 0.0}),
        dataset,
    )
    asked = [of_history(dataset, user) for user in dataset.histories]
    found = [
        len({rating.item.id for rating in one.history} & set(answer.items)) / one.k
        for one, answer in zip(asked, model.recommend(asked), strict=True)
    ]
    assert np.mean(found) > 0.95


def test_what_is_near_in_the_ring_comes_first() -> None:
    model = fitted(LightGCN(**QUICK))
    answers = model.recommend([request(n, n + 1, k=2) for n in range(2, 14)])
    near = [
        {f"i{n + away}" for away in (-2, -1, 2, 3)} >= set(answer.items)
        for n, answer in enumerate(answers, start=2)
    ]
    assert np.mean(near) > 0.9


def test_no_link_of_the_validation_is_in_the_graph_that_answers() -> None:
    dataset = ring(steps=4)
    model = fitted(LightGCN(**{**QUICK, "epochs": 2, "patience": 2}), dataset)
    assert isinstance(model, LightGCN)
    latest = {
        user: {history[-1].item.id} for user, history in dataset.histories.items()
    }
    _, items = layers_of(model, dataset.without(latest))
    receivers = model.network.get_buffer("receivers").numpy()
    assert receivers == pytest.approx(items.mean(0), rel=1e-4, abs=1e-6)


def test_sizes_that_cannot_be_are_refused() -> None:
    with pytest.raises(RecommenderError, match="layers must be at least 1, got 0"):
        LightGCN(layers=0)
