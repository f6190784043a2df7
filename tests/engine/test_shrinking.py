"""Delta debugging finds selections from which nothing can be left out, in few trials."""

import contextlib
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from tests.support.engine import ddmin


def last(parts: tuple[int, ...], fails: set[frozenset[int]]) -> tuple[int, ...]:
    """The smallest selection found, where one fails that holds all of any of `fails`."""
    return [parts, *ddmin(parts, lambda kept: any(one <= set(kept) for one in fails))][
        -1
    ]


def test_the_example_of_the_paper() -> None:
    assert last(tuple(range(1, 9)), {frozenset({1, 7, 8})}) == (1, 7, 8)


@given(st.integers(1, 40), st.data())
def test_the_one_cause_is_all_that_is_left(n: int, data: st.DataObject) -> None:
    cause = data.draw(st.sets(st.integers(0, n - 1), min_size=1))
    assert last(tuple(range(n)), {frozenset(cause)}) == tuple(sorted(cause))


@given(st.integers(1, 12), st.data())
def test_nothing_can_be_left_out_of_the_last_whatever_the_input(
    n: int,
    data: st.DataObject,
) -> None:
    parts = tuple(range(n))
    failing = data.draw(st.sets(st.frozensets(st.integers(0, n - 1), min_size=1)))
    tried = []

    def fails(kept: tuple[int, ...]) -> bool:
        tried.append(kept)
        return frozenset(kept) in failing

    found = [parts, *ddmin(parts, fails)]
    assert all(len(small) < len(large) for large, small in pairwise(found))
    assert all(fails(kept) for kept in found[1:])
    smallest = found[-1]
    if len(smallest) > 1:
        assert not any(
            fails(tuple(p for p in smallest if p != out)) for out in smallest
        )
    assert all(kept and list(kept) == sorted(set(kept)) for kept in tried)


@given(st.integers(1, 60), st.data())
def test_trials_stay_within_the_bounds_of_the_paper(
    n: int,
    data: st.DataObject,
) -> None:
    cause = data.draw(st.frozensets(st.integers(0, n - 1), min_size=1))
    tried = 0

    def fails(kept: tuple[int, ...]) -> bool:
        nonlocal tried
        tried += 1
        return cause <= set(kept)

    list(ddmin(tuple(range(n)), fails))
    assert tried <= n * n + 3 * n
    if len(cause) == 1:
        assert tried <= 2 * n.bit_length()


def test_stopped_at_any_time_it_has_shown_its_best() -> None:
    trials = iter(range(4))

    def fails(kept: tuple[int, ...]) -> bool:
        if next(trials, None) is None:
            raise TimeoutError
        return 5 in kept

    found = []
    with contextlib.suppress(TimeoutError):
        for kept in ddmin(tuple(range(64)), fails):
            found.append(kept)  # noqa: PERF402 - list() would lose all of them
    assert found[-1] == tuple(range(8))
