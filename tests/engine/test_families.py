"""P-values of the relations of one run, adjusted for their number."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import false_discovery_control

from tests.support.oracles_statistics import benjamini_hochberg, holm


@pytest.mark.parametrize(
    ("p_values", "by_holm", "by_benjamini_hochberg"),
    [
        ([0.02, 0.04, 0.045], [0.06, 0.08, 0.08], [0.045, 0.045, 0.045]),
        ([0.045, 0.02, 0.04], [0.08, 0.06, 0.08], [0.045, 0.045, 0.045]),
        ([0.01, 0.02, 0.9], [0.03, 0.04, 0.9], [0.03, 0.03, 0.9]),
        ([0.6, 0.7], [1.0, 1.0], [0.7, 0.7]),
        ([0.03], [0.03], [0.03]),
        ([], [], []),
    ],
)
def test_adjusted_values_are_those_worked_out_by_hand(
    p_values: list[float],
    by_holm: list[float],
    by_benjamini_hochberg: list[float],
) -> None:
    assert holm(p_values) == pytest.approx(by_holm)
    assert benjamini_hochberg(p_values) == pytest.approx(by_benjamini_hochberg)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=30))
def test_benjamini_hochberg_is_scipys_and_never_stricter_than_holm(
    p_values: list[float],
) -> None:
    adjusted = benjamini_hochberg(p_values)
    assert adjusted == pytest.approx(list(false_discovery_control(p_values)))
    assert all(
        p <= bh <= most
        for p, bh, most in zip(p_values, adjusted, holm(p_values), strict=True)
    )
