"""Writing answers token by token, a batch at a time."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from transformers import StoppingCriteria

from pytest_recsys_mt.llm.local import kv_cache
from pytest_recsys_mt.llm.local.batches import Batch, Tokens, common
from pytest_recsys_mt.llm.local.kv_cache import Reading
from pytest_recsys_mt.llm.local.stopping import is_listed
from pytest_recsys_mt.llm.local.token_sampling import SeededSampling

COMPACT = 0.75
"""Ended rows leave the batch when at most this share of it continues."""


@dataclass(frozen=True)
class Writing:
    """How answers are written.

    Attributes:
        max_tokens: The most tokens of one answer.
        ends: Tokens that end an answer.
        decode: The text of some tokens.
        temperature: At least 0.
        top_p: In (0, 1].
    """

    max_tokens: int
    ends: frozenset[int]
    decode: Callable[[Sequence[int]], str]
    temperature: float = 0.0
    top_p: float = 1.0
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


def read(network: Any, prompts: Sequence[Tokens], batch: Batch) -> Reading:
    """Read the prompts of a batch, each shared beginning once."""
    reading = Reading(network)
    members = [member for group in batch for member in group.members]
    if all(group.head for group in batch):
        heads = [prompts[group.members[0]][: group.head] for group in batch]
        owner = [place for place, group in enumerate(batch) for _ in group.members]
        cut = [group.head for group in batch for _ in group.members]
    else:
        shared = common([prompts[member] for member in members]) if len(members) > 1 else 0
        heads = [prompts[members[0]][:shared]]
        owner = [0] * len(members)
        cut = [shared] * len(members)
    if heads[0]:
        reading.read(heads)
        reading.select(owner)
    # Repetitions of one prompt are read once.
    first: dict[Tokens, int] = {}
    for row, member in enumerate(members):
        first.setdefault(prompts[member], row)
    rows = list(first.values())
    if len(rows) < len(members) and heads[0]:
        reading.select(rows)
    reading.read([prompts[members[row]][cut[row] :] for row in rows])
    if len(rows) < len(members):
        place = {row: at for at, row in enumerate(rows)}
        reading.select([place[first[prompts[member]]] for member in members])
    return reading


def write(
    network: Any,
    prompts: Sequence[Tokens],
    batch: Batch,
    seeds: Sequence[int],
    lines: Sequence[int | None],
    how: Writing,
) -> list[list[int]]:
    """Answer the prompts of a batch; ended answers make room for the others.

    Args:
        network: Any causal model. A model that does not fit (`kv_cache.fits`) uses ``generate``,
            which reads every prompt completely and keeps every row to the end.
        prompts: The tokens of each prompt.
        batch: The prompts to answer.
        seeds: The seed of each prompt.
        lines: Entries after which each answer ends; None for free text.
        how: How answers are written.

    Returns:
        The tokens of each answer, in the order of the batch's members, including the ending token.
    """
    members = [member for group in batch for member in group.members]
    own_seeds = [seeds[member] for member in members]
    own_lines = [lines[member] for member in members]
    if not kv_cache.fits(network):
        return _generated(network, [prompts[m] for m in members], own_seeds, own_lines, how)
    reading = read(network, prompts, batch)
    sampling = how.sampling(own_seeds)
    unread: Any = torch.empty((len(members), 0), dtype=torch.long)  # draws need no tokens so far
    answers: list[list[int]] = [[] for _ in members]
    rows = list(range(len(members)))  # the member at each place of the batch
    going = set(rows)
    for written in range(1, how.max_tokens + 1):
        scores = reading.logits if sampling is None else sampling(unread, reading.logits)
        tokens = scores.argmax(-1).tolist()
        for row, token in zip(rows, tokens, strict=True):
            if row in going:
                answers[row].append(token)
                if how.is_over(answers[row], own_lines[row]):
                    going.remove(row)
        if not going or written == how.max_tokens:
            break
        if len(going) <= COMPACT * len(rows):
            places = [place for place, row in enumerate(rows) if row in going]
            reading.select(places)
            if sampling is not None:
                sampling.keep(places)
            rows = [rows[place] for place in places]
            tokens = [tokens[place] for place in places]
        reading.read([[token] for token in tokens])
    return answers


class Over(StoppingCriteria):
    """Ends each row of ``generate`` as `Writing.is_over` says."""

    def __init__(self, start: int, lines: Sequence[int | None], how: Writing) -> None:
        self._start = start
        self._lines = lines
        self._how = how
        self._over = [False] * len(lines)

    def __call__(self, input_ids: torch.Tensor, scores: object = None, **kwargs: object) -> Any:
        """Which rows are over, `(rows,)`, for tokens `(rows, length)`."""
        for row, answer in enumerate(input_ids[:, self._start :].tolist()):
            self._over[row] = self._over[row] or self._how.is_over(answer, self._lines[row])
        return torch.tensor(self._over, device=input_ids.device)


def _generated(
    network: Any,
    prompts: Sequence[Tokens],
    seeds: Sequence[int],
    lines: Sequence[int | None],
    how: Writing,
) -> list[list[int]]:
    longest = max(map(len, prompts))
    pad = [[0] * (longest - len(prompt)) for prompt in prompts]
    tokens = [[*before, *prompt] for before, prompt in zip(pad, prompts, strict=True)]
    mask = [[0] * len(before) + [1] * (longest - len(before)) for before in pad]
    sampling = how.sampling(seeds)
    output = network.generate(
        max_new_tokens=how.max_tokens,
        input_ids=torch.tensor(tokens, device=network.device),
        attention_mask=torch.tensor(mask, device=network.device),
        logits_processor=[] if sampling is None else [sampling],
        stopping_criteria=[Over(longest, lines, how)],
    )
    answers = []
    for row, answer in enumerate(output[:, longest:].tolist()):
        end = next(
            (n for n in range(1, len(answer)) if how.is_over(answer[:n], lines[row])), len(answer)
        )
        answers.append(answer[:end])
    return answers
