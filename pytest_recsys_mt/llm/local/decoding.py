"""Answers of the library's ``generate``, a batch at a
time, and the probabilities of given ones.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from transformers import (
    Cache,
    DynamicCache,
    LogitsProcessor,
    StoppingCriteria,
    TopPLogitsWarper,
)
from transformers.cache_utils import LinearAttentionCacheLayerMixin

from pytest_recsys_mt.llm.local.batches import Tokens
from pytest_recsys_mt.llm.reading.layout import pieces
from pytest_recsys_mt.safety.sanitize import without_controls


@dataclass(frozen=True)
class Writing:
    """How answers are written."""

    max_tokens: int
    ends: frozenset[int]  # tokens that end an answer
    decode: Callable[[Sequence[int]], str]
    temperature: float = 0.0  # at least 0
    top_p: float = 1.0  # in (0, 1]
    stops: tuple[str, ...] = ()  # texts that end an answer
    _breaks: dict[int, bool] = field(default_factory=dict, repr=False)

    def sampling(self, seeds: Sequence[int]) -> SeededSampling | None:
        """Turns scores into draws, one seed per row; None if the best token is taken."""
        if self.temperature == 0:
            return None
        return SeededSampling(seeds, self.temperature, self.top_p)

    def is_over(self, answer: Sequence[int], k: int | None) -> bool:
        """Whether an answer has ended: by its last token, by a text that ends it, or
        because it has listed `k` entries.
        """
        last = answer[-1]
        if last in self.ends:
            return True
        if self.stops:
            text = self.decode(answer)
            if any(stop in text for stop in self.stops):
                return True
        if k is None:
            return False
        if last not in self._breaks:
            self._breaks[last] = "\n" in self.decode([last])
        return self._breaks[last] and is_listed(self.decode(answer), k)


def keeps_tokens(network: Any) -> bool:
    """Whether a model keeps keys and values of the read tokens, so that any row can go
    on from them.

    A recurrent model keeps a state instead, which some architectures cannot continue.
    """
    layers = DynamicCache(config=network.config).layers
    recurrent = any(
        isinstance(layer, LinearAttentionCacheLayerMixin) for layer in layers
    )
    return (
        not recurrent
        and "past_key_values" in inspect.signature(network.forward).parameters
    )


def read(
    network: Any,
    tokens: torch.Tensor,
    mask: torch.Tensor,
    rows: Sequence[int],
) -> tuple[torch.Tensor, Cache]:
    """Read prompts once, to continue each as often as needed; for a model that
    `keeps_tokens`.

    Tokens and mask (1 for those that count) have the shape `(prompts, length)`; `rows`
    is the prompt of each row that is continued. Returns the logits of the token after
    each prompt, `(prompts, vocabulary)`, and the cache of the rows.
    """
    output = network.generate(
        input_ids=tokens,
        attention_mask=mask,
        max_new_tokens=1,
        output_logits=True,
        return_dict_in_generate=True,
    )
    output.past_key_values.reorder_cache(torch.tensor(rows, device=tokens.device))
    return output.logits[0], output.past_key_values


def write(
    network: Any,
    prompts: Sequence[Tokens],
    seeds: Sequence[int],
    lines: Sequence[int | None],
    how: Writing,
) -> list[list[int]]:
    """Answer the prompts of a batch by one ``generate``, padded in front; `lines` are
    the entries after which each answer ends, None for free text.

    Returns the tokens of each answer, including the ending token.
    """
    longest = max(map(len, prompts))
    # Repetitions are read once.
    read_once = (
        longest > 1 and len(set(prompts)) < len(prompts) and keeps_tokens(network)
    )
    distinct = list(dict.fromkeys(prompts)) if read_once else prompts
    pads = [longest - len(prompt) for prompt in distinct]
    padded = [[0] * pad + [*prompt] for pad, prompt in zip(pads, distinct, strict=True)]
    tokens = torch.tensor(padded, device=network.device)
    mask = torch.tensor(
        [[0] * pad + [1] * (longest - pad) for pad in pads],
        device=network.device,
    )
    cache = None
    if read_once:
        rows = [distinct.index(prompt) for prompt in prompts]
        # `generate` reads the last token itself.
        _, cache = read(network, tokens[:, :-1], mask[:, :-1], rows)
        tokens, mask = tokens[rows], mask[rows]
    sampling = how.sampling(seeds)
    over = Over(longest, lines, how)
    output = network.generate(
        max_new_tokens=how.max_tokens,
        input_ids=tokens,
        attention_mask=mask,
        past_key_values=cache,
        logits_processor=[] if sampling is None else [sampling],
        stopping_criteria=[over],
    )
    answers = output[:, longest:].tolist()
    return [answer[:end] for answer, end in zip(answers, over.ends, strict=True)]


class Over(StoppingCriteria):
    """Ends each row of ``generate`` as `Writing.is_over` says;
    `ends` are the tokens of ended answers.
    """

    def __init__(self, start: int, lines: Sequence[int | None], how: Writing) -> None:
        self.ends: list[int | None] = [None] * len(lines)
        self._start = start
        self._lines = lines
        self._how = how

    def __call__(
        self,
        input_ids: torch.Tensor,
        scores: object = None,
        **kwargs: object,
    ) -> Any:
        """Which rows are over, `(rows,)`, for tokens `(rows, length)`."""
        for row, answer in enumerate(input_ids[:, self._start :].tolist()):
            if self.ends[row] is None and self._how.is_over(answer, self._lines[row]):
                self.ends[row] = len(answer)
        return torch.tensor(
            [end is not None for end in self.ends],
            device=input_ids.device,
        )


def is_listed(text: str, k: int) -> bool:
    """Whether the answer so far has `k` complete entries of a list, each with its line
    ended.

    They are numbered lines, or bulleted ones if no line is numbered; reasoning contains
    none.
    """
    done = text[: text.rfind("\n") + 1]
    places = [piece.place for piece in pieces(without_controls(done))]
    numbered = places.count("numbered")
    return numbered >= k or (not numbered and places.count("bulleted") >= k)


class SeededSampling(LogitsProcessor):
    """Turns greedy decoding into sampling, each row by its own seed.

    The largest of ``scores / temperature + g`` with independent standard Gumbel ``g``
    is an exact draw from ``softmax(scores / temperature)`` (Maddison, Tarlow & Minka
    2014, A* Sampling, section 2, https://arxiv.org/abs/1411.0030). So a row's draws
    depend only on its seed and its scores. With one generator for all, they would also
    depend on the neighbours in the batch.
    """

    def __init__(
        self,
        seeds: Sequence[int],
        temperature: float,
        top_p: float = 1.0,
    ) -> None:
        # On the CPU, so that a seed means the same draws on every device.
        self._generators = [
            torch.Generator().manual_seed(seed % 2**63) for seed in seeds
        ]
        self._temperature = temperature
        self._nucleus = TopPLogitsWarper(top_p) if top_p < 1 else None

    def __call__(
        self,
        input_ids: torch.LongTensor,
        scores: torch.Tensor,
    ) -> torch.Tensor:
        """Scores whose argmax is the draw, `(rows, vocabulary)`,
        for the tokens so far, `(rows, length)`.
        """
        scores = scores.float() / self._temperature
        if self._nucleus is not None:
            scores = self._nucleus(input_ids, scores)
        # In double precision: float32 has too few values near 0 for the largest noise.
        exponential = torch.stack(
            [
                torch.empty(scores.shape[1], dtype=torch.float64).exponential_(
                    generator=generator,
                )
                for generator in self._generators
            ],
        )
        return scores - exponential.log().to(scores)


def log_probabilities(
    network: Any,
    prompt: Tokens,
    choices: Sequence[Tokens],
) -> list[float]:
    """The logarithm of the probability that the model continues with each choice, in
    nats.

    It is the sum of the log-probabilities of the choice's tokens, each given the prompt
    and the tokens before it. It is not divided by their number, as in ``acc`` of the
    Language Model Evaluation Harness
    (https://github.com/EleutherAI/lm-evaluation-harness, ``loglikelihood``). So a
    choice is never less probable than a longer choice that begins with it. Prompt and
    choices have at least one token. The prompt is read once, but again for each choice
    by a recurrent model (not `keeps_tokens`).
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
        # The output after the last token is not needed.
        read_on = torch.tensor(padded, device=network.device)[:, :-1]
        after = network(input_ids=read_on, past_key_values=cache, use_cache=True).logits
        for row, choice in enumerate(choices):
            following = torch.tensor(choice[1:], dtype=torch.long, device=after.device)
            scores = after[row, : len(following)].float().log_softmax(-1)
            totals[row] += (
                scores.gather(1, following[:, None]).double().sum().to(totals.device)
            )
    return [float(total) for total in totals]


def _alone(network: Any, prompt: Tokens, choice: Tokens) -> float:
    tokens = torch.tensor([[*prompt, *choice]], device=network.device)
    logits = (
        network(input_ids=tokens)
        .logits[0, len(prompt) - 1 : -1]
        .float()
        .log_softmax(-1)
    )
    following = tokens[0, len(prompt) :, None].to(logits.device)
    return float(logits.gather(1, following).double().sum())
