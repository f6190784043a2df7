"""Answers over the whole catalogue, of two requests that leave out different items."""

import dataclasses

from pytest_recsys_mt.answers import Asked, Pairs


def open_to_both(pairs: Pairs) -> Pairs:
    """The pairs, without the items that the user is known to have on only one side."""
    reduced = [_level(a, b) for a, b in zip(pairs.source, pairs.followup, strict=True)]
    return dataclasses.replace(
        pairs, source=tuple(a for a, _ in reduced), followup=tuple(b for _, b in reduced)
    )


def _level(a: Asked, b: Asked) -> tuple[Asked, Asked]:
    # An item that both sides know is a fault of the answer that names it, so it stays.
    one_sided = a.request.known ^ b.request.known
    if not one_sided or a.request.candidates is not None or b.request.candidates is not None:
        return a, b
    lost = max(
        sum(item in one_sided for item in answer.items)
        for side in (a, b)
        for answer in side.answers
    )
    k = max(1, min(a.request.k, b.request.k) - lost)
    return _without(a, one_sided, k), _without(b, one_sided, k)


def _without(asked: Asked, items: frozenset[str], k: int) -> Asked:
    answers = tuple(
        dataclasses.replace(answer, items=tuple(item for item in answer.items if item not in items))
        for answer in asked.answers
    )
    return dataclasses.replace(asked, request=asked.request.replace(k=k), answers=answers)
