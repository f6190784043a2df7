"""Answers over the whole catalogue, of two requests that leave out different items."""

import dataclasses

from pytest_recsys_mt.requests import Recommendation
from pytest_recsys_mt.verdict.answers import Asked, Pairs


def open_to_both(pairs: Pairs) -> Pairs:
    """The pairs, without the items that the user is known to have on only one side."""
    source = []
    followup = []
    for before, after in zip(pairs.source, pairs.followup, strict=True):
        reduced_before, reduced_after = _without_one_sided_items(before, after)
        source.append(reduced_before)
        followup.append(reduced_after)
    return dataclasses.replace(pairs, source=tuple(source), followup=tuple(followup))


def _without_one_sided_items(source: Asked, followup: Asked) -> tuple[Asked, Asked]:
    """Both sides of a user, without these items and with the same, smaller depth;
    unchanged if there are candidates.
    """
    # An item that both sides know is a fault of the answer that names it, so it stays.
    one_sided = source.request.known ^ followup.request.known
    if not one_sided or _has_candidates(source) or _has_candidates(followup):
        return source, followup
    depth = min(source.request.k, followup.request.k)
    # The answers that lose the most items have the fewest left, and all are compared to
    # that depth.
    answers = (*source.answers, *followup.answers)
    depth -= max(_count(one_sided, answer) for answer in answers)
    depth = max(1, depth)
    return _without(source, one_sided, depth), _without(followup, one_sided, depth)


def _has_candidates(asked: Asked) -> bool:
    return asked.request.candidates is not None


def _count(items: frozenset[str], answer: Recommendation) -> int:
    """How many places of an answer have one of these items."""
    return sum(item in items for item in answer.items)


def _without(asked: Asked, items: frozenset[str], depth: int) -> Asked:
    """The answers without these items, as those to a request of that depth."""
    answers = tuple(_answer_without(answer, items) for answer in asked.answers)
    return dataclasses.replace(
        asked,
        request=asked.request.replace(k=depth),
        answers=answers,
    )


def _answer_without(answer: Recommendation, items: frozenset[str]) -> Recommendation:
    kept = tuple(item for item in answer.items if item not in items)
    return dataclasses.replace(answer, items=kept)
