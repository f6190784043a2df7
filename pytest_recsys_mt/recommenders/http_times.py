"""How long a server took for a batch: the attempts that were answered, without the waits
before and between them.
"""

import contextlib
import time
from collections.abc import Iterator, Sequence
from contextvars import ContextVar
from dataclasses import replace

from pytest_recsys_mt.recommenders.http_contract import Answered
from pytest_recsys_mt.requests import Recommendation

_seconds: ContextVar[list[float] | None] = ContextVar("seconds", default=None)


@contextlib.contextmanager
def attempt() -> Iterator[None]:
    """Surrounds an attempt; one that raises is not counted."""
    began = time.perf_counter()
    yield
    counted = _seconds.get()
    if counted is not None:
        counted.append(time.perf_counter() - began)


@contextlib.contextmanager
def counting() -> Iterator[list[float]]:
    """The seconds of each attempt that is answered inside."""
    counted: list[float] = []
    before = _seconds.set(counted)
    try:
        yield counted
    finally:
        _seconds.reset(before)


def timed(answers: Sequence[Answered], seconds: Sequence[float]) -> list[Answered]:
    """The answers of a batch, with the time that the server took for all of them."""
    if not seconds:
        return list(answers)
    took = sum(seconds), len(answers)
    return [
        replace(answer, took=took) if isinstance(answer, Recommendation) else answer
        for answer in answers
    ]
