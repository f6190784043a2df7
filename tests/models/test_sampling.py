from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from scipy.stats import chisquare

from tests.extras import need

need("transformers", "torch")

import torch

LOGITS = [2.0, 1.0, 0.0, -1.0, -9.0]


def draw(
    logits: Sequence[Sequence[float]],
    seeds: Sequence[int],
    *,
    steps: int = 1,
    **how: float,
) -> Any:
    """Drawn tokens, `(rows, steps)`."""
    from tests.support.llm_local_extras import SeededSampling

    sampling = SeededSampling(seeds, **{"temperature": 1.0, **how})
    tokens: Any = torch.zeros((len(logits), 1), dtype=torch.long)
    scores = torch.tensor(logits)
    return np.stack(
        [sampling(tokens, scores).argmax(1).numpy() for _ in range(steps)],
        axis=1,
    )


@pytest.mark.parametrize("temperature", [0.5, 1.0, 3.0])
def test_draws_follow_the_softmax(temperature: float) -> None:
    n = 20_000
    drawn = draw([LOGITS], [1], steps=n, temperature=temperature)
    weights = np.exp(np.array(LOGITS) / temperature)
    expected = weights / weights.sum() * n
    observed = np.bincount(drawn[0], minlength=len(LOGITS))
    rare = expected < 5
    assert observed[rare].sum() <= 10
    seen = observed[~rare]
    assert (
        chisquare(seen, expected[~rare] * seen.sum() / expected[~rare].sum()).pvalue
        > 1e-3
    )


def test_the_nucleus_keeps_the_most_probable_tokens_only() -> None:
    # Probabilities .644, .237, .087, ...: the first two reach .8, the first alone .5.
    assert set(draw([LOGITS], [1], steps=2000, top_p=0.8)[0]) == {0, 1}
    assert set(draw([LOGITS], [1], steps=2000, top_p=0.5)[0]) == {0}


def test_a_row_draws_alike_in_any_company() -> None:
    flat = [0.0] * 1000
    alone = draw([flat], [7], steps=5)
    together = draw([flat, LOGITS * 200, flat], [8, 9, 7], steps=5)
    assert together[2].tolist() == alone[0].tolist()
    assert together[0].tolist() != alone[0].tolist()


def test_a_cold_model_is_greedy() -> None:
    assert set(draw([LOGITS], [3], steps=500, temperature=0.01)[0]) == {0}


def test_any_seed_will_do_and_is_reproducible() -> None:
    seeds = [2**64 + 1, 0]
    once, again = (draw([LOGITS] * 2, seeds, steps=50) for _ in range(2))
    assert once.tolist() == again.tolist()
    assert once[0].tolist() != once[1].tolist()
