"""Delta debugging: finds a few parts of an input that still fail, such as a request at
which users' code raises.
"""

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import pairwise
from typing import TypeVar

from pytest_recsys_mt.calls.failures import Failure, key_of
from pytest_recsys_mt.calls.subject import Subject
from pytest_recsys_mt.requests import Item, Request

Part = TypeVar("Part")

MOST_CALLS = 200
"""Calls to spend on the smallest request at which users' code raises."""


def ddmin(
    parts: tuple[Part, ...],
    fails: Callable[[tuple[Part, ...]], bool],
) -> Iterator[tuple[Part, ...]]:
    """Find ever smaller selections of `parts` that still fail; nothing if none is
    smaller.

    The algorithm ddmin of Zeller and Hildebrandt (2002), Simplifying and isolating
    failure-inducing input, IEEE Transactions on Software Engineering 28(2), 183-200,
    figure 5. The last selection yielded is 1-minimal: without any one of its parts it
    does not fail. The search tries at most ``n**2 + 3 n`` selections of `n` parts
    (proposition 11 there), and about ``2 log2(n)`` if one part causes the failure. It
    keeps the order of the parts and never tries the empty selection.

    It yields each selection when found, so the caller may stop at any time, also by an
    exception from `fails`, and still has the best one. `fails` must answer alike for
    equal selections.
    """
    grain = 2
    while len(parts) > 1:
        chunks = _split(parts, grain)
        for chunk in chunks:
            if fails(chunk):
                parts, grain = chunk, 2
                yield parts
                break
        else:
            for rest in _complements(chunks):
                if fails(rest):
                    parts, grain = rest, max(grain - 1, 2)
                    yield parts
                    break
            else:
                if grain == len(parts):
                    return
                grain = min(2 * grain, len(parts))


def smaller(request: Request, shows: Callable[[Request], bool]) -> Request:
    """`request` with as little of its history, then of
    its candidates, as still shows it.
    """
    shorter = request
    for history in ddmin(
        request.history,
        lambda kept: shows(request.replace(history=kept)),
    ):
        shorter = request.replace(history=history)
    smallest = shorter
    for offered in ddmin(
        request.candidates or (),
        lambda kept: shows(_offering(shorter, kept)),
    ):
        smallest = _offering(shorter, offered)
    return smallest


def _offering(request: Request, candidates: tuple[Item, ...]) -> Request:
    return request.replace(candidates=candidates, k=min(request.k, len(candidates)))


def smallest_raising(
    subject: Subject,
    failure: Failure,
    until: float,
) -> Request | None:
    """Minimise the request of a failure: the same lines raise the same kind of error.

    Its code is called directly, so no call is counted or kept. None if even the request
    that failed does not raise so.
    """
    request = failure.request
    if request is None:
        return None
    left = MOST_CALLS

    def raises(candidate: Request) -> bool:
        nonlocal left
        left -= 1
        if left < 0 or time.monotonic() > until:
            return False
        answers = [
            answer
            for arrived in subject.ask([subject.call(candidate, repeat=False)])
            for _, answer in arrived
        ]
        return any(key_of(subject.name, answer) == failure.key for answer in answers)

    if not raises(request):
        return None
    for simpler in (
        _without_seconds,
        _without_facts,
        lambda candidate: candidate.replace(history=()),
    ):
        changed = simpler(request)
        if changed != request and raises(changed):
            request = changed
    return smaller(request, raises)


def _without_seconds(request: Request) -> Request:
    history = tuple(replace(rating, timestamp=None) for rating in request.history)
    return request.replace(history=history, replicate=0)


def _without_facts(request: Request) -> Request:
    offered = request.candidates
    return request.replace(
        history=tuple(
            replace(each, item=_plain(each.item)) for each in request.history
        ),
        candidates=None if offered is None else tuple(map(_plain, offered)),
        attributes={},
    )


def _plain(item: Item) -> Item:
    return replace(item, attributes={})


def _split(parts: tuple[Part, ...], grain: int) -> list[tuple[Part, ...]]:
    ends = [round(piece * len(parts) / grain) for piece in range(grain + 1)]
    return [parts[start:end] for start, end in pairwise(ends)]


def _complements(chunks: list[tuple[Part, ...]]) -> Iterator[tuple[Part, ...]]:
    if len(chunks) > 2:
        for left_out in range(len(chunks)):
            kept = chunks[:left_out] + chunks[left_out + 1 :]
            yield tuple(part for chunk in kept for part in chunk)
