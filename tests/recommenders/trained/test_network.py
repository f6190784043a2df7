from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional

from tests.recommenders.data import simulate
from tests.support.recommenders import Catalogue
from tests.support.recommenders_trained import PAD, Training
from tests.support.recommenders_trained_extras import (
    dropped,
    embed,
    rows,
    threads,
    triples,
)

pytestmark = pytest.mark.usefixtures("on_the_processor")

NUMBERS = [
    torch.tensor([4, 0, 4]),
    torch.tensor([[[1, 1], [2, 4]]]),
    torch.empty(0, 3).long(),
]


@pytest.mark.parametrize("numbers", NUMBERS)
def test_rows_and_their_gradient_are_those_of_torch_s_embedding(
    numbers: torch.Tensor,
) -> None:
    ours, theirs = (nn.Parameter(torch.arange(15.0).view(5, 3)) for _ in range(2))
    slope = torch.arange(numbers.numel() * 3.0).cos().view(*numbers.shape, 3)
    (mine,) = torch.autograd.grad((rows(numbers, ours) * slope).sum(), ours)
    (known,) = torch.autograd.grad(
        (functional.embedding(numbers, theirs) * slope).sum(),
        theirs,
    )
    assert torch.equal(rows(numbers, ours), functional.embedding(numbers, theirs))
    torch.testing.assert_close(mine, known)


def test_gradients_are_those_of_small_differences() -> None:
    weight = torch.arange(8.0, dtype=torch.float64).view(4, 2).requires_grad_()
    columns = torch.tensor([[PAD, 0, 3], [3, 3, PAD]])
    assert torch.autograd.gradcheck(
        lambda given: embed(columns, given).square(),
        (weight,),
    )


def test_padding_is_zeros_and_teaches_nothing() -> None:
    weight = nn.Parameter(torch.ones(3, 2))
    found = embed(torch.tensor([PAD, 2]), weight)
    assert found.tolist() == [[0, 0], [1, 1]]
    (gradient,) = torch.autograd.grad(found.sum(), weight)
    assert gradient.tolist() == [[0, 0], [0, 0], [1, 1]]


@pytest.mark.parametrize("count", [1, 2])
def test_a_gradient_is_the_same_to_the_last_bit_each_time(count: int) -> None:
    numbers = torch.from_numpy(np.random.default_rng(0).zipf(1.3, 20_000) % 50)
    slope = torch.randn(20_000, 8, generator=torch.Generator().manual_seed(0))

    def gradient() -> torch.Tensor:
        weight = nn.Parameter(torch.zeros(50, 8))
        return torch.autograd.grad((rows(numbers, weight) * slope).sum(), weight)[0]

    with threads(count):
        first = gradient()
        assert all(torch.equal(gradient(), first) for _ in range(5))


@pytest.mark.parametrize("share", [0.2, 0.001, 0.999, 0.0])
def test_what_is_dropped_is_drawn_by_seed_and_keeps_the_mean(share: float) -> None:
    values = torch.ones(1001, 100, requires_grad=True)

    def drawn() -> torch.Tensor:
        torch.manual_seed(3)
        return dropped(values, share)

    found = drawn()
    (gradient,) = torch.autograd.grad(found.sum(), values)
    found = found.detach()
    assert torch.equal(found, drawn())
    assert torch.equal(found, gradient)
    assert float((found == 0).float().mean()) == pytest.approx(share, abs=0.005)
    assert float(found.double().mean()) == pytest.approx(1, abs=0.005 / (1 - share))


def test_an_epoch_shows_each_interaction_once_beside_what_its_user_has_not() -> None:
    dataset = simulate()
    training = Training.of(dataset, Catalogue.of(dataset))
    batches = list(triples(training, 64, np.random.default_rng(0)))
    assert {len(users) for users, _, _ in batches[:-1]} == {64}
    users, positive, negative = (
        torch.cat(part).numpy() for part in zip(*batches, strict=True)
    )
    assert len(users) == len(training)
    order = np.lexsort((positive, users))
    expected = np.lexsort((training.columns, training.owners))
    assert np.array_equal(users[order], training.owners[expected])
    assert np.array_equal(positive[order], training.columns[expected])
    assert not training.holds(users, negative).any()
    assert not np.array_equal(users, np.sort(users))
