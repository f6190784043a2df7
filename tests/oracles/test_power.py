"""What an inconclusive verdict says of further users,
and of what this run could have shown.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from tests.oracles.test_betting import ALPHA
from tests.support.oracles import Floats
from tests.support.oracles_judging import POWER, Effects, extreme_visible, outlook
from tests.support.oracles_statistics import Bets

Draw = Callable[[np.random.Generator, int], Floats]
SHAPES: dict[str, tuple[Draw, float]] = {
    "both ends": (lambda rng, users: rng.choice([-1.0, 1.0], users), 0.05),
    "hits": (lambda rng, users: rng.choice([0.0, 1.0], users), 0.5),
    "spread": (lambda rng, users: np.clip(rng.normal(0.02, 0.2, users), -1, 1), 0.05),
}


def effects_of(values: Floats, low: float) -> Effects:
    return Effects(rows=np.arange(len(values)), effect=values, reach=(low, 1.0))


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("users", [50, 200])
def test_a_mean_that_could_be_told_is_the_mean_of_a_sample_that_tells_it(
    shape: str,
    users: int,
) -> None:
    """Samples moved so far, and no farther, make the claim as often as is said."""
    make, value = SHAPES[shape]
    values = make(np.random.default_rng(1), users)
    low = min(-1.0, values.min()) if shape != "hits" else 0.0
    mean = extreme_visible(effects_of(values, low), value, ALPHA, above=True)
    assert mean is not None
    assert value < mean < 1
    rng = np.random.default_rng(2)
    part = np.linspace(0, 2, 400)
    means = np.array([np.clip(values + each, low, 1).mean() for each in part])
    moved = np.clip(values + part[np.argmin(abs(means - mean))], low, 1)
    drawn = [moved[rng.integers(len(moved), size=users)] for _ in range(300)]
    told = [Bets(sample, low, 1).p_at_most(value) <= ALPHA for sample in drawn]
    assert np.mean(told) >= POWER - 0.15


def test_a_two_sided_promise_is_told_of_the_side_it_is_near() -> None:
    values = np.clip(np.random.default_rng(3).normal(-0.06, 0.3, 50), -1, 1)
    text = outlook(effects_of(values, -1.0), -0.05, False, ALPHA)
    assert "or less from -0.05" in text or "any mean below -0.05" in text


def test_users_that_the_data_does_not_have_are_not_asked_for() -> None:
    values = np.clip(np.random.default_rng(3).normal(-0.05, 0.2, 30), -1, 1)
    assert "but the data has only 60" in outlook(
        effects_of(values, -1.0),
        0.05,
        True,
        ALPHA,
        60,
    )
    assert "in all" not in outlook(effects_of(values, -1.0), 0.05, True, ALPHA, 10**6)


def test_a_far_mean_can_be_told_of_hits_too() -> None:
    hits = (np.random.default_rng(4).random(200) < 0.4).astype(np.float64)
    effects = Effects(rows=np.arange(200), effect=hits, reach=(0.0, 1.0), wide=True)
    mean = extreme_visible(effects, 0.25, ALPHA, above=False)
    assert mean is not None
    assert 0.1 < mean < 0.2


def test_a_mean_near_the_limit_is_not_claimed_to_be_the_true_one() -> None:
    effects = Effects(np.arange(40), np.array([0.0, 0.1] * 20), (-0.5, 1.0))
    told = outlook(effects, 0.05, True, ALPHA)
    assert "if the mean is really 0.05, 10,000 users would not settle" in told


@pytest.mark.parametrize(("value", "above"), [(1.0, False), (0.0, True)])
def test_no_sample_is_said_to_show_a_mean_at_the_end_of_its_range(
    value: float, above: bool
) -> None:
    effects = Effects(np.arange(300), np.full(300, value), (0.0, 1.0))
    told = outlook(effects, value, above, ALPHA)
    assert told.startswith(f"no sample shows that the mean is exactly {value:g}")
    assert f"give a limit {'above' if above else 'below'} {value:g};" in told
