"""FM and DeepFM against their equations, written out feature by feature."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from typing import cast

import numpy as np
import pytest
import torch
from torch import Tensor

from pytest_recsys_mt import RecommenderError
from pytest_recsys_mt.requests import Item
from tests.recommenders.trained import rings
from tests.support.recommenders import Catalogue
from tests.support.recommenders_trained import PAD, Training
from tests.support.recommenders_trained_extras import FM, DeepFM, DeepMachine, Machine

pytestmark = pytest.mark.usefixtures("on_the_processor")

HISTORY = (3, 7, 8)
"""Columns."""


def machine(recommender: FM) -> Machine:
    dataset = rings.ring()
    network = recommender.build(Training.of(dataset, Catalogue.of(dataset)))
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.copy_(
                torch.randn(
                    parameter.shape,
                    generator=torch.Generator().manual_seed(1),
                ),
            )
    return cast(Machine, network.requires_grad_(False).eval())


def features(
    network: Machine,
    history: tuple[int, ...],
    item: int,
) -> list[tuple[float, Tensor]]:
    """The value of each active feature, and its vector with its weight behind."""
    genres = [genre for genre in network.genres_of[item].tolist() if genre != PAD]
    return [
        *((1 / len(history), network.history[column]) for column in history),
        (1.0, network.items[item]),
        *((1 / len(genres), network.genres[genre]) for genre in genres),
    ]


def added(tensors: Iterable[Tensor]) -> Tensor:
    return torch.stack(list(tensors)).sum(0)


def plain(network: Machine, history: tuple[int, ...], item: int) -> float:
    """Rendle 2010, equation 1, pair by pair."""
    active = features(network, history, item)
    linear = sum(float(value * vector[-1]) for value, vector in active)
    pairs = sum(
        one * other * float(vector[:-1] @ further[:-1])
        for (one, vector), (other, further) in itertools.combinations(active, 2)
    )
    return float(network.bias) + linear + pairs


def layers(network: DeepMachine, history: tuple[int, ...], item: int) -> float:
    """Guo et al. 2017, section 2.1: the fields side by side through the layers."""
    active = features(network, history, item)
    size = len(history)
    fields = [
        added(value * vector[:-1] for value, vector in part)
        for part in (active[:size], active[size : size + 1], active[size + 1 :])
    ]
    hidden = added(
        layer(field) for layer, field in zip(network.first, fields, strict=True)
    ).relu()
    for layer in network.further:
        hidden = layer(hidden).relu()
    return float(network.last(hidden))


def both_ways(network: Machine) -> tuple[Tensor, Tensor]:
    """Scores of all items, and of some, for the history
    with and without padding and for none.
    """
    columns = torch.tensor([[PAD, *HISTORY], [*HISTORY[:2], *HISTORY[:2]], [PAD] * 4])
    columns[1, :2] = PAD
    some = torch.tensor([[5, 0], [19, 4], [2, 2]])
    with torch.no_grad():
        return network.score(columns), network.answer(columns, None, some)


def test_fm_scores_as_its_equation_says() -> None:
    network = machine(FM(dim=6))
    every, some = both_ways(network)
    for item in range(20):
        assert float(every[0, item]) == pytest.approx(
            plain(network, HISTORY, item),
            rel=1e-4,
        )
        assert float(every[1, item]) == pytest.approx(
            plain(network, HISTORY[:2], item),
            rel=1e-4,
        )
    torch.testing.assert_close(
        some,
        every.gather(1, torch.tensor([[5, 0], [19, 4], [2, 2]])),
    )


@pytest.mark.parametrize("depth", [1, 3])
def test_deepfm_adds_its_layers(depth: int) -> None:
    network = machine(DeepFM(dim=6, layers=depth, width=5))
    assert isinstance(network, DeepMachine)
    every, some = both_ways(network)
    for item in range(20):
        for row, history in enumerate((HISTORY, HISTORY[:2])):
            expected = plain(network, history, item) + layers(network, history, item)
            assert float(every[row, item]) == pytest.approx(
                expected,
                rel=1e-3,
                abs=1e-3,
            )
    torch.testing.assert_close(
        some,
        every.gather(1, torch.tensor([[5, 0], [19, 4], [2, 2]])),
    )


def test_an_item_without_genres_has_none_of_their_weight() -> None:
    dataset = rings.ring()
    bare = tuple(Item(item.id, item.title) for item in dataset.items.values())
    training = Training.of(dataset, Catalogue.of(dataset))
    network = FM(dim=6).build(Training(bare, training.columns, training.starts))
    scores = network.score(torch.tensor([[1, 2]]))
    assert torch.isfinite(scores).all()
    assert len(torch.unique(scores)) == 20


def test_training_labels_the_chosen_item_and_none_that_the_user_has() -> None:
    dataset = rings.ring()
    training = Training.of(dataset, Catalogue.of(dataset))
    network = FM(negatives=3, length=2).build(training)
    every = np.arange(training.users)[:, None], np.arange(len(training.items))
    had = training.holds(*every)
    rows = 0
    for history, shown in network.batches(training, 64, np.random.default_rng(0)):
        rows += len(shown)
        assert (history.shape[1], shown.shape[1]) == (2, 4)
        for before, offered in zip(history.tolist(), shown.tolist(), strict=True):
            chosen, *others = (set(np.flatnonzero(row)) for row in had[:, offered].T)
            owners = chosen.difference(*others)
            assert any(
                had[user, [i for i in before if i != PAD]].all() for user in owners
            )
    assert rows == len(training)


@pytest.mark.parametrize("spec", ["fm", "deepfm"])
def test_a_ring_is_learned_by_heart(spec: str) -> None:
    kind = {"fm": FM, "deepfm": DeepFM}[spec]
    chosen = kind(dim=16, epochs=80, batch=64, rate=0.01, patience=0, length=1)
    recommender = rings.fitted(chosen)
    asked = [rings.request(n, k=1) for n in range(17)]
    answers = [answer.items[0] for answer in recommender.recommend(asked)]
    assert answers == [f"i{n + 1}" for n in range(17)]


@pytest.mark.parametrize("kind", [FM, DeepFM])
def test_one_seed_one_model_and_another_seed_another(kind: type[FM]) -> None:
    asked = [rings.request(1, 2), rings.request(9)]
    first, again, other = (
        rings.fitted(kind(dim=4, epochs=3, batch=64, patience=0), seed=seed).score(
            asked,
        )
        for seed in (0, 0, 1)
    )
    np.testing.assert_array_equal(first, again)
    assert np.abs(first - other).max() > 1e-6


@pytest.mark.parametrize("kind", [FM, DeepFM])
def test_a_score_does_not_depend_on_the_rest_of_the_batch(kind: type[FM]) -> None:
    recommender = rings.fitted(kind(dim=4, epochs=3, batch=64, patience=0))
    rng = np.random.default_rng(2)
    asked = [
        rings.request(*rng.choice(20, rng.integers(0, 12), replace=False).tolist())
        for _ in range(130)
    ]
    together = recommender.score(asked)
    np.testing.assert_array_equal(
        together,
        np.vstack([recommender.score([one]) for one in asked]),
    )
    offered = [
        one.replace(candidates=tuple(Item(f"i{n}") for n in (4, 11, 2)))
        for one in asked
    ]
    alone = np.vstack([recommender.score([one]) for one in offered])
    np.testing.assert_array_equal(recommender.score(offered), alone)
    picked = [recommender.catalogue.column[f"i{n}"] for n in (4, 11, 2)]
    np.testing.assert_allclose(
        alone[:, picked],
        together[:, picked],
        rtol=0,
        atol=2e-10,
    )


def test_a_genre_speaks_for_a_film_that_nobody_has_seen() -> None:
    """Two of the ring's films are outside it; all users of
    these data like odd numbers alone.
    """
    dataset = rings.ring()
    frame = dataset.interactions
    odd = frame[frame["item"].str.slice(1).astype(int) % 2 == 1]
    dataset = type(dataset)("odd", dataset.items, odd, dataset.scale)
    recommender = rings.fitted(
        FM(dim=8, epochs=60, batch=32, rate=0.01, patience=0),
        dataset,
    )
    (answer,) = recommender.recommend(
        [rings.request(1, 3, 5, k=2, candidates=("i18", "i19"))],
    )
    assert answer.items == ("i19", "i18")


@pytest.mark.parametrize(
    ("build", "problem"),
    [
        (lambda: FM(negatives=0), "fm: negatives must be at least 1, got 0"),
        (lambda: DeepFM(layers=0), "deepfm: layers must be at least 1, got 0"),
        (
            lambda: DeepFM(dropout=1.0),
            "deepfm: dropout must be a share from 0 to below 1, got 1.0",
        ),
    ],
)
def test_settings_that_make_no_model_are_refused(build: type[FM], problem: str) -> None:
    with pytest.raises(RecommenderError, match=problem):
        build()
