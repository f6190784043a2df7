"""The losses, each a mean over its examples."""

from collections.abc import Iterator

import torch
from torch import Tensor
from torch.nn import functional

Batches = Iterator[tuple[Tensor, ...]]
"""The inputs of the loss of a network, batch by batch, on the CPU."""


def bpr(margins: Tensor) -> Tensor:
    """Bayesian personalised ranking: -ln sigmoid(margin)
    (Rendle et al., UAI 2009, section 4).
    """
    return functional.softplus(-margins).mean()


def sampled_cross_entropy(positive: Tensor, negative: Tensor) -> Tensor:
    """-ln of the share of the positive, shape (n,), in the softmax over itself and its
    negatives, shape (n, negatives); -inf excludes one.
    """
    together = torch.cat([positive.unsqueeze(1), negative], 1)
    return (torch.logsumexp(together, 1) - positive).mean()
