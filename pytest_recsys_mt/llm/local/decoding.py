"""Answers of the library's ``generate``, a batch at a time."""

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from transformers import Cache, DynamicCache, StoppingCriteria
from transformers.cache_utils import LinearAttentionCacheLayerMixin

from pytest_recsys_mt.llm.local.batches import Tokens
from pytest_recsys_mt.llm.local.stopping import is_listed
from pytest_recsys_mt.llm.local.token_sampling import SeededSampling


@dataclass(frozen=True)
class Writing:
    """How answers are written."""

    max_tokens: int
    ends: frozenset[int]  # tokens that end an answer
    decode: Callable[[Sequence[int]], str]
    temperature: float = 0.0  # at least 0
    top_p: float = 1.0  # in (0, 1]
    _breaks: dict[int, bool] = field(default_factory=dict, repr=False)

    def sampling(self, seeds: Sequence[int]) -> SeededSampling | None:
        """Turns scores into draws, one seed per row; None if the best token is taken."""
        if self.temperature == 0:
            return None
        return SeededSampling(seeds, self.temperature, self.top_p)

    def is_over(self, answer: Sequence[int], k: int | None) -> bool:
        """Whether an answer has ended, by its last token or because it has listed `k` entries."""
        last = answer[-1]
        if last in self.ends:
            return True
        if k is None:
            return False
        if last not in self._breaks:
            self._breaks[last] = "\n" in self.decode([last])
        return self._breaks[last] and is_listed(self.decode(answer), k)


def keeps_tokens(network: Any) -> bool:
    """Whether a model keeps keys and values of what it read, so that any row can go on from them.

    A recurrent model keeps a state instead, which some architectures cannot continue.
    """
    layers = DynamicCache(config=network.config).layers
    recurrent = any(isinstance(layer, LinearAttentionCacheLayerMixin) for layer in layers)
    return not recurrent and "past_key_values" in inspect.signature(network.forward).parameters


def read(
    network: Any, tokens: torch.Tensor, mask: torch.Tensor, rows: Sequence[int]
) -> tuple[torch.Tensor, Cache]:
    """Read prompts once, to continue each as often as needed; for a model that `keeps_tokens`.

    Tokens and mask (1 for those that count) have the shape `(prompts, length)`; `rows` is the
    prompt of each row that is continued. Returns the logits of the token after each prompt,
    `(prompts, vocabulary)`, and the cache of the rows.
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
    """Answer the prompts of a batch by one ``generate``, padded in front; `lines` are the entries
    after which each answer ends, None for free text.

    Returns the tokens of each answer, including the ending token.
    """
    longest = max(map(len, prompts))
    # Repetitions are read once.
    read_once = longest > 1 and len(set(prompts)) < len(prompts) and keeps_tokens(network)
    distinct = list(dict.fromkeys(prompts)) if read_once else prompts
    pads = [longest - len(prompt) for prompt in distinct]
    padded = [[0] * pad + [*prompt] for pad, prompt in zip(pads, distinct, strict=True)]
    tokens = torch.tensor(padded, device=network.device)
    mask = torch.tensor([[0] * pad + [1] * (longest - pad) for pad in pads], device=network.device)
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
    """Ends each row of ``generate`` as `Writing.is_over` says; `ends` are the tokens of ended
    answers.
    """

    def __init__(self, start: int, lines: Sequence[int | None], how: Writing) -> None:
        self.ends: list[int | None] = [None] * len(lines)
        self._start = start
        self._lines = lines
        self._how = how

    def __call__(self, input_ids: torch.Tensor, scores: object = None, **kwargs: object) -> Any:
        """Which rows are over, `(rows,)`, for tokens `(rows, length)`."""
        for row, answer in enumerate(input_ids[:, self._start :].tolist()):
            if self.ends[row] is None and self._how.is_over(answer, self._lines[row]):
                self.ends[row] = len(answer)
        return torch.tensor([end is not None for end in self.ends], device=input_ids.device)
