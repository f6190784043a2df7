"""Multiple choice: how probable a model finds each of some fixed answers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from pytest_recsys_mt.llm.local import kv_cache
from pytest_recsys_mt.llm.local.batches import Tokens
from pytest_recsys_mt.llm.local.kv_cache import Reading


def log_probabilities(network: Any, prompt: Tokens, choices: Sequence[Tokens]) -> list[float]:
    """The logarithm of the probability that the model goes on with each choice, in nats.

    It is the sum of the log-probabilities of the choice's tokens, each given the prompt and the
    tokens before it, and not divided by their number: what ``acc`` of the Language Model Evaluation
    Harness compares (https://github.com/EleutherAI/lm-evaluation-harness, ``loglikelihood``). So a
    choice that another one begins with is never less probable than that.

    The prompt is read once, and the choices in one pass behind it.

    Args:
        network: Any causal model; those that `kv_cache.fits` does not know read the prompt anew
            for each choice.
        prompt: Tokens before the choice, at least one.
        choices: Tokens of each, at least one.
    """
    if not kv_cache.fits(network):
        return [_alone(network, prompt, choice) for choice in choices]
    reading = Reading(network)
    reading.read([prompt])
    first = reading.logits.float().log_softmax(-1)
    totals = first[0, [choice[0] for choice in choices]].double()
    if max(map(len, choices)) > 1:
        reading.select([0] * len(choices))
        # The token after the last is nobody's business.
        after = reading.score([choice[:-1] or choice for choice in choices])
        for row, choice in enumerate(choices):
            following = torch.tensor(choice[1:], dtype=torch.long, device=after.device)
            scores = after[row, : len(following)].float().log_softmax(-1)
            totals[row] += scores.gather(1, following[:, None]).double().sum().to(totals.device)
    return [float(total) for total in totals]


def _alone(network: Any, prompt: Tokens, choice: Tokens) -> float:
    tokens = torch.tensor([[*prompt, *choice]], device=network.device)
    logits = network(input_ids=tokens).logits[0, len(prompt) - 1 : -1].float().log_softmax(-1)
    following = tokens[0, len(prompt) :, None].to(logits.device)
    return float(logits.gather(1, following).double().sum())
