"""Sends requests to a recommender of the run, one failure at a time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from pytest_recsys_mt.requests import Request


def lists_of(
    recsys: Any,
    requests: Sequence[Request],
    purpose: str,
) -> list[Sequence[str] | None]:
    """The list of each request; None where the recommender failed, refused, or was not
    asked because a limit of the run is reached.

    Args:
        recsys: The fixture of the recommender.
        requests: Of any user.
        purpose: As whose calls they are counted; see `calls.causes.Purpose`.
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
    found: list[Sequence[str] | None] = []
    for request, call, answer in zip(requests, calls, answers, strict=True):
        is_answer = "unasked" not in answer and "not_applicable" not in answer
        read = runner.reader.read(request, call, answer) if is_answer else None
        found.append(None if read is None or read.error else read.items)
    return found
