"""The monitor of nightly records alarms as rarely as it says, and soon after a break."""

import math

import numpy as np
import pytest
from scipy.stats import binom

from benchmarks.calibration import FAMILY
from benchmarks.monitor import (
    ALPHA,
    GOOD,
    NIGHTS,
    USERS,
    alarms,
    evidence,
    fresh,
    on_changes,
    on_values,
    same,
)
from benchmarks.shapes import MARGIN, SHAPES

ROWS = 100
ONCE_IN_A_THOUSAND = float(binom.ppf(0.999, ROWS, ALPHA)) / ROWS


def ever(*how: object) -> float:
    return float(np.isfinite(alarms(evidence(*how))).mean())  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "name",
    ["normal, sd .12", "1 in 100 by .9 more", "1 in 20 by .5 less"],
)
def test_without_a_break_there_is_hardly_ever_an_alarm(name: str) -> None:
    flat = [MARGIN] * NIGHTS
    assert ever(fresh(SHAPES[name]), on_values, flat, 50, ROWS) <= ONCE_IN_A_THOUSAND


def test_a_break_is_seen_within_three_nights() -> None:
    means = [0.0] * GOOD + [2 * MARGIN] * 5
    found = evidence(fresh(SHAPES["normal, sd .12"]), on_values, means, USERS, ROWS)
    for family in (1, FAMILY):
        nights = alarms(found, family)
        assert np.median(nights) <= GOOD + 3
        assert (nights > GOOD).all()


def test_the_same_users_are_evidence_of_a_change_only() -> None:
    flat = [MARGIN] * 60
    assert ever(same, on_values, flat, 100, ROWS) > 2 * ONCE_IN_A_THOUSAND
    assert ever(same, on_changes, flat, 100, ROWS) <= ONCE_IN_A_THOUSAND
    means = [0.0] * GOOD + [2 * MARGIN] * 5
    found = evidence(same, on_changes, means, USERS, ROWS)
    assert np.median(alarms(found)) <= GOOD + 3


def test_a_long_break_overflows_nothing() -> None:
    found = evidence(fresh(SHAPES["normal, sd .06"]), on_values, [0.3] * 150, USERS, 1)
    assert np.isfinite(found).all()
    assert found[-1, 0] > math.log(1e308)
