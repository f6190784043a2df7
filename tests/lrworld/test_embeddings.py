"""Embeddings tell tastes apart, and prototypes lie nearest to their centroids."""

from pathlib import Path

import numpy as np
import pytest

from tests.extras import need

need("torch")

import torch

from pytest_recsys_mt import RecommenderError
from tests.lrworld.made import GROUPS, ITEMS, USERS, four_tastes
from tests.support.suites_lrworld import Histories
from tests.support.suites_lrworld_extras import (
    Embeddings,
    Factors,
    cosines,
    learn,
    neural,
    prototypes,
)

FACTORS = Factors(dim=16, steps=100)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("models")


@pytest.fixture(scope="module")
def learned(folder: Path) -> Embeddings:
    return learn(Histories.of(four_tastes(), 5), FACTORS, 0, "four tastes", folder)


def test_users_lie_near_the_items_of_their_taste(learned: Embeddings) -> None:
    assert learned.people.tolist() == list(range(GROUPS * USERS))
    assert np.linalg.norm(learned.users, axis=1) == pytest.approx(1)
    assert np.linalg.norm(learned.items, axis=1) == pytest.approx(1)
    found = cosines(learned.users, learned.items)
    own = (
        np.arange(GROUPS * USERS)[:, None] % GROUPS
        == np.arange(GROUPS * ITEMS) // ITEMS
    )
    assert found[own].mean() > 0.5
    assert found[~own].mean() < 0.2


def test_weights_are_kept_and_trained_once(
    learned: Embeddings,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    histories = Histories.of(four_tastes(), 5)
    monkeypatch.delattr(neural, "train")
    again = learn(histories, FACTORS, 0, "four tastes", folder)
    assert np.array_equal(again.users, learned.users)
    assert np.array_equal(again.items, learned.items)
    with pytest.raises(NameError):
        learn(histories, FACTORS, 1, "four tastes", folder)


def test_vectors_hold_the_factorisation_part_of_a_score() -> None:
    torch.manual_seed(0)
    network = neural._NeuMF(3, 4, 8, 1).double()
    users, items = torch.tensor([0, 1, 2]), torch.tensor([3, 1, 0])
    with torch.no_grad():
        network.output.weight[:, 8:] = 0.0  # leaves the perceptron out
        logits = network.pairs(users, items) - network.output.bias
    ours, theirs = network.vectors()
    products = (ours[users.numpy()] * theirs[items.numpy()]).sum(1)
    assert products == pytest.approx(logits.numpy(), abs=1e-12)


def test_the_network_serves_no_requests() -> None:
    with pytest.raises(RecommenderError, match="scores the users it was trained with"):
        neural._NeuMF(2, 2, 4, 1).score(torch.zeros(1, 1))


def test_of_many_users_a_sample_is_learned(folder: Path) -> None:
    histories = Histories.of(four_tastes(), 5)
    few = learn(histories, Factors(dim=4, steps=10, users=10), 0, "four tastes", folder)
    assert len(few.people) == len(set(few.people.tolist())) == 10 == len(few.users)
    assert len(few.items) == GROUPS * ITEMS
    training = neural._training(histories, few.people)
    for row, user in enumerate(few.people.tolist()):
        rows = slice(training.starts[row], training.starts[row + 1])
        assert training.columns[rows].tolist() == histories.of_user(user).tolist()


def test_prototypes_are_the_nearest_of_each_cluster_in_turn() -> None:
    rng = np.random.default_rng(0)
    centres = np.array([[10.0, 0.0], [-10.0, 0.0], [0.0, 10.0]])
    offsets = np.concatenate([np.zeros((1, 2)), rng.normal(0, 1, (6, 2))])
    offsets[1:] -= offsets[1:].mean(
        0,
    )  # so that the first of each cluster is its centroid
    points = (centres[:, None] + offsets).reshape(-1, 2)
    allowed = np.arange(1, 22)[rng.permutation(21)] - 1
    found = prototypes(points, np.sort(allowed), 3, 100, np.random.default_rng(1))
    assert sorted(found.tolist()) == list(range(21))
    assert set(found[:3].tolist()) == {0, 7, 14}
    turns = [set((found[start : start + 3] // 7).tolist()) for start in range(0, 21, 3)]
    assert turns == [{0, 1, 2}] * 7
    for cluster in range(3):
        own = [row for row in found.tolist() if row // 7 == cluster]
        distances = np.linalg.norm(points[own] - centres[cluster], axis=1)
        assert np.all(np.diff(distances) >= 0)
    assert (
        prototypes(points, np.arange(7, 21), 3, 4, np.random.default_rng(1)).min() >= 7
    )


def test_fewer_points_than_clusters_are_all_prototypes() -> None:
    points = np.eye(3)
    assert sorted(
        prototypes(points, np.arange(3), 10, 10, np.random.default_rng(0)),
    ) == [0, 1, 2]
    same = np.ones((5, 2))
    assert len(prototypes(same, np.arange(5), 3, 10, np.random.default_rng(0))) == 5
