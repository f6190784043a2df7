from collections.abc import Callable

import numpy as np
import pytest

from pytest_recsys_mt import OracleError
from pytest_recsys_mt.oracles import cluster_bootstrap, rate_interval


def test_wilson_is_its_formula() -> None:
    z, p, n = 1.959963984540054, 0.1, 50
    centre = (p + z**2 / (2 * n)) / (1 + z**2 / n)
    half = z * np.sqrt(p * (1 - p) / n + z**2 / (4 * n**2)) / (1 + z**2 / n)
    assert rate_interval(5, 50) == pytest.approx((centre - half, centre + half))


def test_no_case_among_fifty_users_still_allows_seven_percent() -> None:
    assert rate_interval(0, 50) == pytest.approx((0, 0.0713), abs=5e-4)
    assert rate_interval(0, 50, method="exact") == pytest.approx((0, 0.0711), abs=5e-4)


def test_values_of_one_user_count_as_one() -> None:
    rng = np.random.default_rng(0)
    of_user = rng.normal(size=40)
    once = cluster_bootstrap(of_user, range(40))
    copied = cluster_bootstrap(
        np.repeat(of_user, 25),
        np.repeat(np.arange(40), 25).tolist(),
    )
    assert copied == pytest.approx(once)
    low, high = once
    assert high - low == pytest.approx(2 * 1.96 * of_user.std() / np.sqrt(40), rel=0.1)


def test_it_covers_the_mean_where_an_interval_that_ignores_users_does_not() -> None:
    rng, runs = np.random.default_rng(1), 200
    covered = ignorant = 0
    for _ in range(runs):
        users = np.repeat(np.arange(40), rng.integers(1, 6, size=40))
        values = rng.normal(size=40)[users] + 0.1 * rng.normal(size=len(users))
        low, high = cluster_bootstrap(values, users.tolist(), draws=499)
        covered += low <= 0 <= high
        ignorant += abs(values.mean()) <= 1.96 * values.std() / np.sqrt(len(values))
    assert covered / runs > 0.87
    assert ignorant / runs < 0.8


def test_users_that_do_not_differ_leave_no_width() -> None:
    assert cluster_bootstrap([0.2, 0.2, 0.2], ["a", "a", "b"]) == pytest.approx(
        (0.2, 0.2),
    )


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: rate_interval(3, 2), "count must lie between 0"),
        (lambda: rate_interval(0, 0), "at least 1"),
        (lambda: rate_interval(1, 2, 1), "confidence must lie"),
        (lambda: rate_interval(1, 2, method="wald"), "'wilson' or 'exact', got 'wald'"),  # type: ignore[arg-type]
        (
            lambda: cluster_bootstrap([1, 2], ["a", "a"]),
            "at least 2 different users are needed",
        ),
        (lambda: cluster_bootstrap([1, float("nan")], ["a", "b"]), "finite"),
        (lambda: cluster_bootstrap([1, 2, 3], ["a", "b"]), "needs its user"),
    ],
)
def test_impossible_arguments_are_named(call: Callable[[], object], words: str) -> None:
    with pytest.raises(OracleError, match=words):
        call()
