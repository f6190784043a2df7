"""Values that depend on the order of asking are found, and the words stand beside the
verdict and in the run's notes.
"""

import numpy as np
import pytest

from tests.support.oracles_statistics import BLOCKS, QUARTERS, dependence


def series(values: np.ndarray) -> dict[str, float]:
    return {f"u{user}": float(value) for user, value in enumerate(values)}


def test_independent_values_and_few_or_equal_ones_depend_on_nothing() -> None:
    rng = np.random.default_rng(3)
    assert [dependence([series(rng.normal(0, 0.2, 200))]) for _ in range(40)] == [
        None,
    ] * 40
    warm = np.repeat([0.4, 0.0], 15)
    assert dependence([series(warm)]) is None, "30 users are too few"
    assert dependence([series(np.zeros(200))]) is None
    assert dependence([]) is None


@pytest.mark.parametrize(
    ("values", "what"),
    [
        pytest.param(np.tile(np.repeat([0.1, -0.1], 25), 4), BLOCKS, id="batches"),
        pytest.param(np.linspace(0.0, 0.2, 200), QUARTERS, id="drift"),
    ],
)
def test_a_shared_noise_and_a_drift_are_told_apart(
    values: np.ndarray,
    what: str,
) -> None:
    found = dependence([series(values + np.random.default_rng(5).normal(0, 0.1, 200))])
    assert found is not None
    assert what in found.what.split(" and ")
    assert (QUARTERS in found.what) == (what == QUARTERS), "batches are no drift"
    assert found.p_value <= 0.001


def test_what_no_verdict_shows_alone_is_seen_in_all_together_whatever_users_each_has() -> (
    None
):
    rng = np.random.default_rng(11)
    batch = np.repeat(rng.standard_normal(7), 32)[:200]
    many = []
    for _ in range(20):
        values = series(
            0.2 * (np.sqrt(0.96) * rng.standard_normal(200) + np.sqrt(0.04) * batch),
        )
        missing = set(rng.choice(200, 20, replace=False))
        many.append(
            {
                user: value
                for at, (user, value) in enumerate(values.items())
                if at not in missing
            },
        )
    assert sum(dependence([each]) is not None for each in many) <= 2
    assert dependence(many) is not None
