"""The base of every trained model: a network that reads histories and scores items."""

import contextlib
import os
from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from pytest_recsys_mt.recommenders.trained.data import PAD, Training
from pytest_recsys_mt.recommenders.trained.losses import Batches

BYTES = 256
"""Values of a byte."""


class Network(nn.Module, ABC):
    """Base of the networks, which score by the history, and
    some by the attributes of the user.
    """

    selects: ClassVar[bool] = False
    """Whether it scores each pair of a user and an item
    separately, so that fewer items cost less.
    """

    @abstractmethod
    def batches(
        self,
        training: Training,
        size: int,
        rng: np.random.Generator,
    ) -> Batches:
        """One epoch: the arguments of `loss`, batch by batch, on the CPU."""

    @abstractmethod
    def loss(self, *batch: Tensor) -> Tensor:
        """The mean loss of one batch, a scalar."""

    @abstractmethod
    def score(self, columns: Tensor) -> Tensor:
        """Scores of the whole catalogue, shape (n, items),
        for histories of shape (n, width).
        """

    def answer(
        self,
        columns: Tensor,
        people: Tensor | None,
        candidates: Tensor | None = None,
    ) -> Tensor:
        """Scores of the whole catalogue or of some items, shape (n, c), for histories
        and users.

        Networks that read attributes of users override this: `people`, shape (n, c),
        padded by `PAD`.
        """
        scores = self.score(columns)
        return scores if candidates is None else scores.gather(1, candidates)

    def preview(self, columns: Tensor, people: Tensor | None) -> Tensor:
        """Scores of the whole catalogue for validation, at
        less cost if answers take long.
        """
        return self.answer(columns, people)

    @torch.no_grad()
    def freeze(self, training: Training) -> None:
        """Compute what answers need besides the weights, before
        each validation and after training.
        """

    @property
    def device(self) -> torch.device:
        """The device of the weights."""
        return next(self.parameters()).device


@contextlib.contextmanager
def threads(count: int) -> Iterator[None]:
    """Limit torch to `count` threads of the CPU inside, and
    to algorithms that repeat on a GPU.
    """
    before = torch.get_num_threads()
    strict = torch.are_deterministic_algorithms_enabled()
    lax = torch.cuda.is_available() and not strict
    torch.set_num_threads(count)
    if lax:  # only then, since the call imports torch's compiler, which takes a second
        # cuBLAS reads this at its first use, and torch refuses it in a deterministic
        # run without.
        os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
        torch.use_deterministic_algorithms(True)
    try:
        yield
    finally:
        torch.set_num_threads(before)
        if lax:
            torch.use_deterministic_algorithms(False)


def shuffled(
    count: int,
    size: int,
    rng: np.random.Generator,
) -> Iterator[np.ndarray[tuple[int], np.dtype[np.int64]]]:
    """The numbers below `count` in random order, in batches
    of `size`; the last may be smaller.
    """
    order = rng.permutation(count)
    for start in range(0, count, size):
        yield order[start : start + size]


def triples(
    training: Training,
    size: int,
    rng: np.random.Generator,
) -> Iterator[tuple[Tensor, Tensor, Tensor]]:
    """Each interaction once, in random order: users, their
    items, and an item that each lacks.
    """
    negatives = training.negatives(training.owners, 1, rng)[:, 0]
    order = rng.permutation(len(training))
    parts = (training.owners, training.columns, negatives)
    users, positive, negative = (
        torch.split(torch.from_numpy(part[order]), size) for part in parts
    )
    yield from zip(users, positive, negative, strict=True)


def embed(columns: Tensor, weight: Tensor) -> Tensor:
    """Embeddings of item columns, shape (*columns, dim); zeros where `PAD`."""
    known = columns != PAD
    return rows(columns.clamp(min=0), weight) * known.unsqueeze(-1)


def rows(numbers: Tensor, weight: Tensor) -> Tensor:
    """Rows of a matrix, shape (*numbers, dim), whose
    gradient has one order of summation.
    """
    found: Tensor = _Rows.apply(numbers, weight)  # type: ignore[no-untyped-call]
    return found


class _Rows(torch.autograd.Function):
    """Like PyTorch's embedding, whose own gradient takes four times as long on a CPU."""

    @staticmethod
    def forward(ctx: Any, numbers: Tensor, weight: Tensor) -> Tensor:
        ctx.save_for_backward(numbers)
        ctx.count = len(weight)
        return functional.embedding(numbers, weight)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[None, Tensor]:
        (numbers,) = ctx.saved_tensors
        (gradient,) = gradients
        if gradient.is_cuda:  # there index_add_ adds in any order
            return None, torch.ops.aten.embedding_dense_backward(
                gradient,
                numbers,
                ctx.count,
                -1,
                False,
            )
        total = gradient.new_zeros(ctx.count, gradient.shape[-1])
        flat = gradient.reshape(-1, gradient.shape[-1])
        return None, total.index_add_(0, numbers.reshape(-1), flat)


def dropped(values: Tensor, share: float) -> Tensor:
    """`values` with about a `share` of them replaced by zeros, and the others enlarged
    in turn; for training.

    A byte is drawn for each value, so the share is rounded to a multiple of 1/256. One
    drawn number of 64 bits decides on eight values: PyTorch's own dropout, which draws
    one for each, takes four times as long on a CPU.
    """
    zeros = round(share * BYTES)
    if not 0 < zeros < BYTES or values.is_cuda:
        return functional.dropout(values, share)
    count = values.numel()
    drawn = torch.empty((count + 7) // 8, dtype=torch.int64).random_(-(2**63), None)
    kept = drawn.view(torch.uint8)[:count].view(values.shape) >= zeros
    return values * (kept * (BYTES / (BYTES - zeros)))


def embedding(rows: int, dim: int, deviation: float = 0.01) -> nn.Parameter:
    """Embeddings drawn from a normal distribution of mean 0, shape (rows, dim)."""
    return nn.Parameter(torch.randn(rows, dim) * deviation)
