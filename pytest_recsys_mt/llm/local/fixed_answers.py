"""Multiple choice: how probable some fixed answers are for a model."""

from collections.abc import Sequence
from typing import Any

import torch

from pytest_recsys_mt.llm.local.batches import Tokens
from pytest_recsys_mt.llm.local.decoding import keeps_tokens, read


def log_probabilities(network: Any, prompt: Tokens, choices: Sequence[Tokens]) -> list[float]:
    """The logarithm of the probability that the model continues with each choice, in nats.

    It is the sum of the log-probabilities of the choice's tokens, each given the prompt and the
    tokens before it. It is not divided by their number, as in ``acc`` of the Language Model
    Evaluation Harness (https://github.com/EleutherAI/lm-evaluation-harness, ``loglikelihood``). So
    a choice is never less probable than a longer choice that begins with it. Prompt and choices
    have at least one token. The prompt is read once, but anew for each choice by a recurrent model
    (not `keeps_tokens`).
    """
    if not keeps_tokens(network):
        return [_alone(network, prompt, choice) for choice in choices]
    tokens = torch.tensor([prompt], device=network.device)
    first, cache = read(network, tokens, torch.ones_like(tokens), [0] * len(choices))
    first = first.float().log_softmax(-1)
    totals = first[0, [choice[0] for choice in choices]].double()
    longest = max(map(len, choices))
    if longest > 1:
        padded = [[*choice, *[0] * (longest - len(choice))] for choice in choices]
        # What follows the last token is not needed.
        read_on = torch.tensor(padded, device=network.device)[:, :-1]
        after = network(input_ids=read_on, past_key_values=cache, use_cache=True).logits
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
