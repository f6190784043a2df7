"""A recommender that closes a stream or lowers a limit
fails its own test, and no other.
"""

import resource
import sys
from collections.abc import Callable

import pytest

from pytest_recsys_mt import RecommenderError
from tests.support.calls import Patience


@pytest.mark.parametrize(
    "seconds",
    [None, 5.0],
    ids=["in this thread", "in one of its own"],
)
def test_streams_and_limits_are_as_before_after_a_call(seconds: float | None) -> None:
    def state() -> tuple[object, ...]:
        files = resource.getrlimit(resource.RLIMIT_NOFILE)
        return sys.stdout, sys.stderr, sys.getrecursionlimit(), *files

    before = state()

    def harm(name: str) -> None:
        sys.setrecursionlimit(sys.getrecursionlimit() // 2)
        resource.setrlimit(
            resource.RLIMIT_NOFILE,
            (4, resource.getrlimit(resource.RLIMIT_NOFILE)[1]),
        )
        print("said", file=getattr(sys, name))
        getattr(sys, name).close()

    for name in ("stdout", "stderr"):
        with pytest.raises(ValueError, match=f"sys.{name} belongs to the whole run"):
            Patience(seconds).call(harm, name)
    assert state() == before
    assert not sys.stdout.closed
    assert not sys.stderr.closed


@pytest.mark.parametrize("end", [pytest.skip, pytest.xfail])
def test_no_recommender_leaves_its_test_out(end: Callable[[str], None]) -> None:
    with pytest.raises(RecommenderError, match=r"it ended the test \(\w+: not today\)"):
        Patience(None).call(end, "not today")


def test_what_pytest_timeout_raises_in_a_call_ends_the_test() -> None:
    with pytest.raises(pytest.fail.Exception):
        Patience(None).call(pytest.fail, "Timeout (>1.0s) from pytest-timeout.")


def test_without_a_stream_print_says_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", None)
    Patience(None).call(print, "said to nobody")
    assert sys.stdout is None
