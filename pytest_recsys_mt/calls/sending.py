"""How calls are sent: one by one as they arrive, or together, or each alone."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

from pytest_recsys_mt.calls.answer import Answer, failure
from pytest_recsys_mt.safety.errors import RecommenderError

FAILURES = (Exception, SystemExit, BaseExceptionGroup)
"""Errors of users' code that fail only its call: not a Ctrl-C, nor the exceptions by
which pytest skips or ends.
"""

Asked = TypeVar("Asked")


def as_they_arrive(
    ask: Callable[[Sequence[Asked]], Iterator[list[tuple[int, Any]]]],
    asked: Sequence[Asked],
    plain: Callable[[int, Any], Answer],
    unanswered: set[int] | None = None,
) -> Iterator[list[tuple[int, Answer]]]:
    """The answers as they arrive; an error fails those that have not arrived.

    Args:
        ask: Yields positions and answers; the answer is None for an attempt that is
            made once more.
        asked: The calls to send.
        plain: Takes a position and what arrived for it; returns it as plain data.
        unanswered: The positions without an answer, which the caller may add to; by
            default those of `asked`.
    """
    if unanswered is None:
        unanswered = set(range(len(asked)))
    try:
        for arrived in ask(asked):
            unanswered.difference_update(
                position for position, answer in arrived if answer is not None
            )
            yield [(position, plain(position, answer)) for position, answer in arrived]
    except FAILURES as error:
        failed = failure(error)
        if isinstance(error, RecommenderError):  # nothing was sent
            failed["usage"] = [0, 0]
        yield [(position, failed) for position in sorted(unanswered)]


def together_or_apart(
    ask: Callable[[Sequence[Asked]], list[Answer]],
    asked: Sequence[Asked],
) -> Iterator[list[tuple[int, Answer]]]:
    """Send all as one batch; if that fails, one by one, so that each fails alone."""
    answers = _answers_or_none(ask, asked)
    if answers is not None:
        yield list(enumerate(answers))
        return
    for position, one in enumerate(asked):
        for arrived in together_or_apart(ask, [one]):
            [(_, answer)] = arrived
            yield [(position, answer)]


def _answers_or_none(
    ask: Callable[[Sequence[Asked]], list[Answer]],
    asked: Sequence[Asked],
) -> list[Answer] | None:
    """The answers of a batch; None if it failed and holds
    several, of which others may succeed.
    """
    try:
        return ask(asked)
    except FAILURES as error:
        if len(asked) == 1:
            return [failure(error)]
        return None
