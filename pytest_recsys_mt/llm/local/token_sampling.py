"""Sampling in which every row of a batch draws from its own generator."""

from collections.abc import Sequence

import torch
from transformers import LogitsProcessor, TopPLogitsWarper


class SeededSampling(LogitsProcessor):
    """Turns greedy decoding into sampling, each row by its own seed.

    The largest of ``scores / temperature + g`` with independent standard Gumbel ``g`` is an exact
    draw from ``softmax(scores / temperature)`` (Maddison, Tarlow & Minka 2014, A* Sampling, section
    2, https://arxiv.org/abs/1411.0030). So a row's draws depend only on its seed and its scores.
    With one generator for all, they would also depend on the neighbours in the batch.
    """

    def __init__(self, seeds: Sequence[int], temperature: float, top_p: float = 1.0) -> None:
        # On the CPU, so that a seed means the same draws on every device.
        self._generators = [torch.Generator().manual_seed(seed % 2**63) for seed in seeds]
        self._temperature = temperature
        self._nucleus = TopPLogitsWarper(top_p) if top_p < 1 else None

    def __call__(self, input_ids: torch.LongTensor, scores: torch.Tensor) -> torch.Tensor:
        """Scores whose argmax is the draw, `(rows, vocabulary)`, for the tokens so far, `(rows,
        length)`.
        """
        scores = scores.float() / self._temperature
        if self._nucleus is not None:
            scores = self._nucleus(input_ids, scores)
        # In double precision: float32 has too few values near 0 for the largest noise.
        exponential = torch.stack(
            [
                torch.empty(scores.shape[1], dtype=torch.float64).exponential_(generator=generator)
                for generator in self._generators
            ]
        )
        return scores - exponential.log().to(scores)
