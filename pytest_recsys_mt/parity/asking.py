"""Sends requests to a recommender of the run, one failure at a time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from pytest_recsys_mt.requests import Request


class Answered(NamedTuple):
    """The answer to one request.

    Attributes:
        items: The list; None without one.
        reason: Why there is none.
    """

    items: Sequence[str] | None
    reason: str = ""


def answers_of(
    recsys: Any,
    requests: Sequence[Request],
    purpose: str,
) -> list[Answered]:
    """The answer to each request; one without a list where the recommender failed,
    refused, or was not asked because a limit of the run is reached.

    Args:
        recsys: The fixture of the recommender.
        requests: Of any user.
        purpose: As whose calls they are counted; see `calls.call.Purpose`.
    """
    runner = recsys.runner
    calls = [
        replace(runner.subject.call(request, repeat=False), purpose=purpose)
        for request in requests
    ]
    answers = runner.executor.execute(runner.subject, calls)
    runner.executor.bill.causes.add(
        runner.subject.name,
        [call.key for call in calls],
        purpose,
    )
    found = []
    for request, call, answer in zip(requests, calls, answers, strict=True):
        if "unasked" in answer:
            found.append(Answered(None, f"not sent: {answer['unasked']}"))
        elif "not_applicable" in answer:
            reason = f"not applicable: {answer['not_applicable']}"
            found.append(Answered(None, reason))
        else:
            read = runner.reader.read(request, call, answer)
            items = None if read.error else read.items
            found.append(Answered(items, read.error or ""))
    return found
