"""The smallest request at which users' code raises."""

from __future__ import annotations

import time
from dataclasses import replace

from pytest_recsys_mt.calls.failures import Failure, key_of
from pytest_recsys_mt.calls.subject import Subject
from pytest_recsys_mt.engine.shrinking import smaller
from pytest_recsys_mt.requests import Item, Request

MOST_CALLS = 200


def smallest_raising(subject: Subject, failure: Failure, until: float) -> Request | None:
    """Minimise the request of a failure: the same lines raise the same kind of error.

    Its code is asked directly, so no call is counted or kept. None if even the request that failed
    does not raise so.
    """
    request = failure.request
    if request is None:
        return None
    left = MOST_CALLS

    def raises(asked: Request) -> bool:
        nonlocal left
        left -= 1
        if left < 0 or time.monotonic() > until:
            return False
        answers = [
            answer
            for arrived in subject.ask([subject.call(asked, repeat=False)])
            for _, answer in arrived
        ]
        return any(key_of(subject.name, answer) == failure.key for answer in answers)

    if not raises(request):
        return None
    for simpler in (_without_seconds, _without_facts, lambda asked: asked.replace(history=())):
        changed = simpler(request)
        if changed != request and raises(changed):
            request = changed
    return smaller(request, raises)


def _without_seconds(request: Request) -> Request:
    history = tuple(replace(rating, timestamp=None) for rating in request.history)
    return request.replace(history=history, replicate=0)


def _without_facts(request: Request) -> Request:
    """The request without the attributes of its items and its user."""
    offered = request.candidates
    return request.replace(
        history=tuple(replace(each, item=_plain(each.item)) for each in request.history),
        candidates=None if offered is None else tuple(map(_plain, offered)),
        attributes={},
    )


def _plain(item: Item) -> Item:
    return replace(item, attributes={})
