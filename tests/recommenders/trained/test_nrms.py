"""NRMS against its equations, written out word by word."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, cast

import numpy as np
import pandas as pd
import pytest
import torch
from torch import Tensor

from pytest_recsys_mt import RecommenderError
from pytest_recsys_mt.datasets import Dataset
from pytest_recsys_mt.requests import Item, Rating, Request, Scale
from tests.recommenders.trained import rings
from tests.support.recommenders import Catalogue
from tests.support.recommenders_trained import PAD, Training
from tests.support.recommenders_trained_extras import NRMS, _Encoder, _Encoders, words

pytestmark = pytest.mark.usefixtures("on_the_processor")

SUBJECTS = ("cup goal team", "vote party law", "film star song", "bank stock price")


def news(users: int = 40, seed: int = 0) -> Dataset:
    """Each user reads of one subject; the last item of each
    subject is one that nobody has read.
    """
    rng = np.random.default_rng(seed)
    items = {
        f"n{subject}{number}": Item(
            f"n{subject}{number}",
            " ".join(["the", *rng.choice(text.split(), 2)]),
        )
        for subject, text in enumerate(SUBJECTS)
        for number in range(8)
    }
    rows = [
        (f"u{user}", f"n{user % 4}{number}", 1.0, time)
        for user in range(users)
        for time, number in enumerate(rng.choice(7, 5, replace=False))
    ]
    frame = pd.DataFrame(rows, columns=["user", "item", "rating", "timestamp"])
    return Dataset("news", items, frame, Scale(0, 1))


def network(**settings: Any) -> _Encoders:
    dataset = news()
    training = Training.of(dataset, Catalogue.of(dataset))
    built = NRMS(dim=6, heads=2, words=5, query=3, **settings).build(training)
    with torch.no_grad():
        for parameter in built.parameters():
            parameter.copy_(
                torch.randn(
                    parameter.shape,
                    generator=torch.Generator().manual_seed(3),
                ),
            )
    built.requires_grad_(False)
    built.freeze(training)
    return cast(_Encoders, built.eval())


def added(tensors: Iterable[Tensor]) -> Tensor:
    return torch.stack(list(tensors)).sum(0)


def plain(encoder: _Encoder, vectors: list[Tensor]) -> Tensor:
    """Equations 1 to 5 of the paper, with loops."""
    queries, keys, values = encoder.mixed.weight.chunk(3)
    size = len(queries) // encoder.heads
    found = []
    for vector in vectors:
        parts = []
        for head in range(encoder.heads):
            rows = slice(head * size, (head + 1) * size)
            asked = queries[rows] @ vector
            affinity = [
                float(asked @ (keys[rows] @ other)) / math.sqrt(size)
                for other in vectors
            ]
            total = sum(map(math.exp, affinity))
            parts.append(
                added(
                    math.exp(weight) / total * (values[rows] @ other)
                    for weight, other in zip(affinity, vectors, strict=True)
                ),
            )
        found.append(torch.cat(parts))
    weights = [
        float(
            encoder.query.weight[0]
            @ torch.tanh(encoder.hidden.weight @ each + encoder.hidden.bias),
        )
        for each in found
    ]
    total = sum(map(math.exp, weights))
    return added(
        math.exp(w) / total * each for w, each in zip(weights, found, strict=True)
    )


def vector(built: _Encoders, column: int) -> Tensor:
    numbers = [number for number in built.words_of[column].tolist() if number != PAD]
    return plain(built.titles, [built.words[number] for number in numbers])


def test_scores_are_as_the_equations_say_with_any_padding() -> None:
    built = network()
    columns = torch.tensor([[PAD, PAD, 4, 9, 30], [7, 1, 2, 3, 8], [PAD] * 5])
    scores = built.score(columns)
    for row, history in enumerate(((4, 9, 30), (7, 1, 2, 3, 8))):
        user = plain(built.histories, [vector(built, item) for item in history])
        expected = torch.stack([vector(built, item) @ user for item in range(32)])
        torch.testing.assert_close(scores[row].float(), expected, rtol=1e-3, atol=1e-4)
    assert not scores[2].any()


def test_the_loss_is_that_of_the_positive_among_its_negatives() -> None:
    built = network()
    columns, shown, which = (
        torch.tensor([[PAD, 4, 9], [1, 2, 3]]),
        torch.tensor([[5, 6, 7], [8, 0, 8], [11, 4, 10]]),
        torch.tensor([0, 1, 1]),
    )
    scores = built.score(columns)[which].gather(1, shown)
    expected = -scores.log_softmax(1)[:, 0].mean()
    loss = float(built.loss(columns, shown, which))
    assert loss == pytest.approx(float(expected), rel=1e-4)


def test_each_choice_but_a_users_first_is_learned_once_an_epoch() -> None:
    dataset = news()
    training = Training.of(dataset, Catalogue.of(dataset))
    built = NRMS(dim=6, heads=2, targets=3, length=2).build(training)
    learned: list[tuple[list[int], int]] = []
    for history, shown, which in built.batches(training, 16, np.random.default_rng(1)):
        assert which.bincount().max() <= 3
        read = history[which].tolist()
        learned += [
            (row, chosen)
            for row, (chosen, *_) in zip(read, shown.tolist(), strict=True)
        ]
    chosen_by_user = np.split(training.columns, training.starts[1:-1])
    for row, chosen in learned:
        before = [column for column in row if column != PAD]
        assert any(
            set(before) < set(own.tolist()) and chosen in own for own in chosen_by_user
        )
        assert chosen not in before
    counts = np.bincount([chosen for _, chosen in learned], minlength=32)
    later = np.delete(training.columns, training.starts[:-1])
    np.testing.assert_array_equal(counts, np.bincount(later, minlength=32))


def test_a_title_is_its_words_and_an_item_without_one_its_id() -> None:
    assert words(Item("7", "Léon: The PROFESSIONAL", 1994)) == [
        "léon",
        "the",
        "professional",
    ]
    assert words(Item("7", "...")) == words(Item("7")) == ["7"]
    built = network(title=1)
    assert built.words_of.shape == (32, 1)


def test_a_ring_is_learned_by_heart() -> None:
    chosen = NRMS(
        dim=32,
        epochs=80,
        batch=64,
        rate=0.01,
        decay=0,
        patience=0,
        length=1,
        targets=1,  # the next item of the ring alone
        dropout=0,
    )
    recommender = rings.fitted(chosen)
    asked = [rings.request(n, k=1) for n in range(17)]
    answers = [answer.items[0] for answer in recommender.recommend(asked)]
    assert answers == [f"i{n + 1}" for n in range(17)]


def test_words_speak_for_news_that_nobody_has_read() -> None:
    dataset = news()
    recommender = rings.fitted(
        NRMS(dim=16, words=16, query=16, epochs=30, batch=32, rate=0.01, patience=0),
        dataset,
    )
    fresh = tuple(dataset.items[f"n{subject}7"] for subject in range(4))
    for subject in range(4):
        history = tuple(Rating(dataset.items[f"n{subject}{n}"], 1.0) for n in (0, 2, 4))
        (answer,) = recommender.recommend(
            [Request("new", history, Scale(0, 1), fresh, 1)],
        )
        assert answer.items == (f"n{subject}7",)


def test_one_seed_one_model_and_another_seed_another() -> None:
    asked = [rings.request(1, 2), rings.request(9)]
    first, again, other = (
        rings.fitted(NRMS(dim=8, epochs=2, batch=64, patience=0), seed=seed).score(
            asked,
        )
        for seed in (0, 0, 1)
    )
    np.testing.assert_array_equal(first, again)
    assert np.abs(first - other).max() > 1e-6


def test_a_score_does_not_depend_on_the_rest_of_the_batch() -> None:
    recommender = rings.fitted(NRMS(dim=16, epochs=2, batch=64, patience=0))
    rng = np.random.default_rng(2)
    asked = [
        rings.request(*rng.choice(20, rng.integers(0, 12), replace=False).tolist())
        for _ in range(130)
    ]
    alone = np.vstack([recommender.score([one]) for one in asked])
    np.testing.assert_array_equal(recommender.score(asked), alone)


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        ({"heads": 0}, "nrms: heads must be at least 1, got 0"),
        ({"dim": 10}, "nrms: dim must be a multiple of heads=4, got 10"),
        (
            {"dropout": -0.1},
            "nrms: dropout must be a share from 0 to below 1, got -0.1",
        ),
    ],
)
def test_settings_that_make_no_model_are_refused(
    settings: dict[str, Any],
    problem: str,
) -> None:
    with pytest.raises(RecommenderError, match=problem):
        NRMS(**settings)
