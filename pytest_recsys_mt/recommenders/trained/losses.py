"""The losses, each a mean over its examples."""

import torch
from torch import Tensor
from torch.nn import functional


def bpr(margins: Tensor) -> Tensor:
    """Bayesian personalised ranking: -ln sigmoid(margin).

    Rendle, Freudenthaler, Gantner and Schmidt-Thieme (UAI 2009), section 4; the regularisation is
    the optimiser's weight decay.
    """
    return functional.softplus(-margins).mean()


def bce(logits: Tensor, labels: Tensor) -> Tensor:
    """Binary cross entropy: -[y ln sigmoid(x) + (1 - y) ln(1 - sigmoid(x))]."""
    return functional.binary_cross_entropy_with_logits(logits, labels)


def cross_entropy(logits: Tensor, targets: Tensor) -> Tensor:
    """-ln softmax(logits)[target].

    Args:
        logits: Scores of the whole catalogue, shape (n, items).
        targets: Item columns, shape (n,).
    """
    return functional.cross_entropy(logits, targets)


def sampled_cross_entropy(positive: Tensor, negative: Tensor) -> Tensor:
    """-ln of the share of the positive, shape (n,), in the softmax over itself and its negatives,
    shape (n, negatives); -inf excludes one.
    """
    together = torch.cat([positive.unsqueeze(1), negative], 1)
    return (torch.logsumexp(together, 1) - positive).mean()
