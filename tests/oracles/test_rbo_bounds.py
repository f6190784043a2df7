"""The range of rank-biased overlap, against lists that
were carried on for thousands of places.
"""

from collections.abc import Callable
from itertools import count

import numpy as np
import pytest

from pytest_recsys_mt import OracleError
from pytest_recsys_mt.oracles import rbo, rbo_min, rbo_residual
from tests.support.oracles import Floats

DEPTH = 3_000
Pair = tuple[list[int], list[int]]


def overlap_of(a: list[int], b: list[int], p: float) -> float:
    """RBO of two long lists, place by place (equation 4 of Webber et al.)."""
    seen_a: set[int] = set()
    seen_b: set[int] = set()
    total, common = 0.0, 0
    for depth, (x, y) in enumerate(zip(a, b, strict=True), start=1):
        seen_a.add(x)
        seen_b.add(y)
        common += (x in seen_b) + (y in seen_a) - (x == y)
        total += p ** (depth - 1) * common / depth
    return (1 - p) * total


def carried_on(a: list[int], b: list[int]) -> tuple[Pair, Pair]:
    """Both lists with nothing further in common, and with
    as much in common as there can be.
    """
    fresh = count(10_000)

    def apart(one: list[int]) -> list[int]:
        return [*one, *(next(fresh) for _ in range(DEPTH - len(one)))]

    longer, shorter = (a, b) if len(a) >= len(b) else (b, a)
    low, high = list(shorter), list(longer)
    low += [item for item in longer if item not in shorter]
    high += [item for item in shorter if item not in longer]
    # The two now hold the same items; whatever follows may follow in both.
    tail = [next(fresh) for _ in range(DEPTH)]
    return (apart(a), apart(b)), ((low + tail)[:DEPTH], (high + tail)[:DEPTH])


@pytest.mark.parametrize("p", [0.5, 0.9])
def test_bounds_are_those_of_lists_that_go_on(p: float) -> None:
    rng = np.random.default_rng(0)
    for _ in range(40):
        lengths = rng.integers(1, 9, size=2)
        a, b = (rng.permutation(12)[:length].tolist() for length in lengths)
        least, most = carried_on(a, b)
        low = rbo_min([a], [b], p)[0]
        assert low == pytest.approx(overlap_of(*least, p), abs=1e-12)
        assert low + rbo_residual([a], [b], p)[0] == pytest.approx(
            overlap_of(*most, p),
            abs=1e-12,
        )


def test_the_extrapolated_value_lies_between() -> None:
    rng = np.random.default_rng(1)
    a, b = (
        rng.permuted(np.tile(np.arange(16), (2_000, 1)), axis=1)[:, :10]
        for _ in range(2)
    )
    b[:1_000, 7:] = -1
    low, rest = rbo_min(a, b), rbo_residual(a, b)
    assert np.all(low <= rbo(a, b) + 1e-12)
    assert np.all(rbo(a, b) <= low + rest + 1e-12)


def test_ten_equal_places_leave_an_eighth_open() -> None:
    same = [list(range(10))]
    assert rbo_min(same, same)[0] == pytest.approx(0.856, abs=5e-4)
    assert rbo_residual(same, same)[0] == pytest.approx(1 - rbo_min(same, same)[0])
    assert np.isnan(rbo_min([[-1]], [[0]])).all()


@pytest.mark.parametrize("function", [rbo_min, rbo_residual])
def test_patience_is_a_share(function: Callable[..., Floats]) -> None:
    with pytest.raises(OracleError, match=r"must lie in \(0, 1\), got 1"):
        function([[0]], [[0]], 1)
