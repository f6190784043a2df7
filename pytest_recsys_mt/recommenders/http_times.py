"""How long a server took for a batch: the attempts that were answered, without the waits
before and between them; and how many attempts failed before these.
"""

import contextlib
import time
from collections.abc import Iterator, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field, replace

from pytest_recsys_mt.llm.api.retries import Earlier
from pytest_recsys_mt.recommenders.http_contract import Answered
from pytest_recsys_mt.requests import Recommendation


@dataclass
class Counted:
    """The attempts at a batch.

    Attributes:
        seconds: Of each attempt that was answered.
        earlier: Those that failed before them.
    """

    seconds: list[float] = field(default_factory=list)
    earlier: Earlier = field(default_factory=Earlier)


_current: ContextVar[Counted | None] = ContextVar("counted", default=None)


@contextlib.contextmanager
def attempt() -> Iterator[None]:
    """Surrounds an attempt; one that raises is not counted."""
    began = time.perf_counter()
    yield
    counted = _current.get()
    if counted is not None:
        counted.seconds.append(time.perf_counter() - began)


@contextlib.contextmanager
def counting(failed: int = 0) -> Iterator[Counted]:
    """The attempts that are made inside, after so many that failed before."""
    counted = Counted(earlier=Earlier(failed))
    before = _current.set(counted)
    try:
        yield counted
    finally:
        _current.reset(before)


def earlier() -> Earlier | None:
    """Counts the attempts that fail within `counting`; None outside of it."""
    counted = _current.get()
    return None if counted is None else counted.earlier


def timed(answers: Sequence[Answered], counted: Counted) -> list[Answered]:
    """The answers of a batch, with the time that the server took for all of them, and
    the attempts that failed before.
    """
    if not counted.seconds:
        return list(answers)
    return [
        replace(
            answer,
            took=(sum(counted.seconds), len(answers)),
            failed_before=counted.earlier.failed,
            refused_before=counted.earlier.refused,
        )
        if isinstance(answer, Recommendation)
        else answer
        for answer in answers
    ]
