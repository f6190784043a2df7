"""Keys and values of the tokens read so far, with room for the next ones."""

import inspect
from collections.abc import Sequence
from typing import Any

import torch
from transformers import DynamicCache
from transformers.cache_utils import Cache, DynamicLayer

ROOM = 64
"""Tokens by which a layer grows. The library's own layer is copied completely for every token (16 prompts
of 700 tokens on one core of a CPU, 8 layers: 51 ms a token against 42, with the same logits)."""

STEP = {"cpu": 4096}
"""Tokens read at a time, rows and columns together, by kind of device; others read all at once. A
larger part does not fit into the caches of a CPU (16 prompts of 700 tokens: 671 tokens a second
against 476)."""


class RoomyLayer(DynamicLayer):  # type: ignore[no-untyped-call]
    """A layer of full attention that writes new tokens after the old ones, in place."""

    _held: tuple[torch.Tensor, torch.Tensor] | None = None

    def update(
        self, key_states: torch.Tensor, value_states: torch.Tensor, *args: Any, **kwargs: Any
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Add keys and values, `(rows, heads, tokens, size)`; returns all stored ones."""
        if not self.is_initialized:
            self.lazy_initialization(key_states, value_states)
        start = self.get_seq_length()
        end = start + key_states.shape[-2]
        old = (self.keys, self.values)
        new = (key_states, value_states)
        if self._held is None or self._held[0].shape[-2] < end:
            rooms = [part.new_empty((*part.shape[:2], end + ROOM, part.shape[3])) for part in new]
            for room, part in zip(rooms, old, strict=True):
                if start and part is not None:
                    room[:, :, :start] = part
            self._held = (rooms[0], rooms[1])
        for room, part in zip(self._held, new, strict=True):
            room[:, :, start:end] = part
        self.keys, self.values = (room[:, :, :end] for room in self._held)
        return self.keys, self.values

    def batch_select_indices(self, indices: torch.Tensor) -> None:
        """Continue with some of the rows, in this order; a row may be named more than once."""
        super().batch_select_indices(indices)
        self._held = None


def fits(network: Any) -> bool:
    """Whether a model stores only plain keys and values, so that its rows can be rearranged.

    Sliding windows count slots, and recurrent states have none: padding between a shared beginning
    and the rest would change the answers of such models.
    """
    accepted = inspect.signature(network.forward).parameters
    needed = ("attention_mask", "position_ids", "past_key_values", "logits_to_keep")
    if not all(name in accepted for name in needed):
        return False
    layers = DynamicCache(config=network.config).layers
    return bool(layers) and all(type(layer) is DynamicLayer for layer in layers)


class Reading:
    """The tokens that a model has read in each row of a batch, and its next prediction.

    Attributes:
        logits: Logits of the next token, `(rows, vocabulary)`.
    """

    def __init__(self, network: Any) -> None:
        layers = len(DynamicCache(config=network.config).layers)
        self._network = network
        self._layers: list[Any] = [RoomyLayer() for _ in range(layers)]  # type: ignore[no-untyped-call]
        self._cache = Cache(layers=self._layers)
        self._mask = torch.zeros((1, 0), dtype=torch.long, device=network.device)
        self.logits = torch.empty((1, 0), device=network.device)

    def read(self, rows: Sequence[Sequence[int]]) -> None:
        """Read more tokens in every row; shorter ones are padded before them.

        Args:
            rows: One per row of the batch. The first call makes the batch.
        """
        longest = max(map(len, rows))
        padded = [[0] * (longest - len(row)) + list(row) for row in rows]
        columns = max(1, STEP.get(self._network.device.type, longest * len(rows)) // len(rows))
        for start in range(0, longest, columns):
            end = min(start + columns, longest)
            pads = [longest - len(row) for row in rows]
            own = [
                row[max(0, start - pad) : max(0, end - pad)]
                for row, pad in zip(rows, pads, strict=True)
            ]
            self._step([row[start:end] for row in padded], own, 1, left=True)

    def score(self, rows: Sequence[Sequence[int]]) -> torch.Tensor:
        """Read the last tokens of every row; shorter rows are padded at the end.

        Returns:
            Logits of the token after each, `(rows, tokens, vocabulary)`.
        """
        longest = max(map(len, rows))
        padded = [list(row) + [0] * (longest - len(row)) for row in rows]
        return self._step(padded, rows, longest, left=False)

    def select(self, rows: Sequence[int]) -> None:
        """Continue with some of the rows, in this order; a row may be named more than once."""
        index = torch.tensor(rows, device=self._mask.device)
        for layer in self._layers:
            layer.batch_select_indices(index.to(layer.keys.device))
        self._mask = self._mask[index]
        self.logits = self.logits[index]

    def _step(
        self, padded: list[list[int]], rows: Sequence[Sequence[int]], keep: int, *, left: bool
    ) -> torch.Tensor:
        device = self._mask.device
        tokens = torch.tensor(padded, device=device)
        lengths = torch.tensor([len(row) for row in rows], device=device)[:, None]
        place = torch.arange(tokens.shape[1], device=device)[None]
        new = place >= tokens.shape[1] - lengths if left else place < lengths
        read = self._mask.sum(1, keepdim=True)
        self._mask = torch.cat([self._mask.expand(len(rows), -1), new.long()], dim=1)
        positions = (read + new.cumsum(1) - 1).clamp(min=0)
        output = self._network(
            input_ids=tokens,
            attention_mask=self._mask,
            position_ids=positions,
            past_key_values=self._cache,
            use_cache=True,
            logits_to_keep=keep,
        )
        logits: torch.Tensor = output.logits.to(device)
        self.logits = logits[:, -1]
        return logits
