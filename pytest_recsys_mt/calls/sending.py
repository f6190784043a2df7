"""How calls are sent: one by one as they arrive, or together, or each alone."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

from pytest_recsys_mt.calls.answer import Answer, failure
from pytest_recsys_mt.errors import RecommenderError

FAILURES = (Exception, SystemExit, BaseExceptionGroup)
"""Errors of users' code that fail only its call: not a Ctrl-C, nor the exceptions by which pytest skips or ends."""

Asked = TypeVar("Asked")


def as_they_arrive(
    ask: Callable[[Sequence[Asked]], Iterator[list[tuple[int, Any]]]],
    asked: Sequence[Asked],
    plain: Callable[[int, Any], Answer],
    waiting: set[int] | None = None,
) -> Iterator[list[tuple[int, Answer]]]:
    """The answers as they arrive; an error fails those that have not."""
    waiting = set(range(len(asked))) if waiting is None else waiting
    try:
        for arrived in ask(asked):
            waiting.difference_update(place for place, each in arrived if each is not None)
            yield [(place, plain(place, each)) for place, each in arrived]
    except FAILURES as error:
        failed = failure(error)
        if isinstance(error, RecommenderError):  # nothing was sent
            failed["usage"] = [0, 0]
        yield [(place, failed) for place in sorted(waiting)]


def together_or_apart(
    ask: Callable[[Sequence[Asked]], list[Answer]], asked: Sequence[Asked]
) -> Iterator[list[tuple[int, Answer]]]:
    """Ask all as one batch; if that fails, one by one, so that each fails alone."""
    answers: list[Answer] | None
    try:
        answers = ask(asked)
    except FAILURES as error:
        answers = [failure(error)] if len(asked) == 1 else None
    if answers is not None:
        yield list(enumerate(answers))
        return
    for position, one in enumerate(asked):
        for ((_, answer),) in together_or_apart(ask, [one]):
            yield [(position, answer)]
