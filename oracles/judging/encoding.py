"""Answers as arrays of numbers, in which the same item has the same number on both
sides; and answers over the whole catalogue, of two requests that leave out different
items.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pytest_recsys_mt.oracles.arrays import PAD, Lists
from pytest_recsys_mt.requests import Recommendation
from pytest_recsys_mt.safety.errors import OracleError
from pytest_recsys_mt.verdict.answers import Asked, Context, Pairs, offered


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
    """The answer without these items."""
    kept = [item for item in answer.items if item not in items]
    return dataclasses.replace(answer, items=tuple(kept))


@dataclass(frozen=True)
class Encoded:
    """Answers as numbers, for the users with a recommendation in at least one answer.

    Lists are ``(users, replicates, k)``, best first, without repeats; places that are
    not due are -1. An empty place counts as an item of its own, with the number of the
    place, from 0 to k - 1. Items have higher numbers.

    Attributes:
        rows: Indices of these users among the given ones.
        source: The lists of the source.
        followup: The lists of the follow-up.
        holes: The share of places that are empty or have an item that was not offered.
    """

    rows: NDArray[np.intp]
    source: Lists
    followup: Lists
    holes: float


class _Offer(NamedTuple):
    """The offer of a request: whether it has an item, and how
    many items are due, at most its candidates.
    """

    has: Callable[[str], bool]
    due: int


def encode(pairs: Pairs, context: Context, *, shared_only: bool = False) -> Encoded:
    """Number the items of both sides in the same way, and also every empty place.

    As many places are due as the request asks for, but at most its number of
    candidates, and on both sides the smaller number. Repeats are removed. Items that no
    request offered, including invented ones, count like any other.

    Args:
        pairs: The answers of both sides.
        context: The facts of the run.
        shared_only: Whether items that only the answer's own request offered are left
            out, and the gap is closed. As many fewer places are due, for all answers of
            the user.

    Raises:
        OracleError: If users of one side have different numbers of answers.
    """
    source_offers = [_offer(asked, context) for asked in pairs.source]
    followup_offers = [_offer(asked, context) for asked in pairs.followup]
    both_offers = zip(source_offers, followup_offers, strict=True)
    depths = [min(before.due, after.due) for before, after in both_offers]
    # One dictionary for both sides, so that an item has one number.
    numbers = _Numbers(places=max([1, *depths]))
    others_of_source = followup_offers if shared_only else None
    others_of_followup = source_offers if shared_only else None
    source, source_offered = _encode_side(
        pairs.source,
        source_offers,
        others_of_source,
        depths,
        numbers,
    )
    followup, followup_offered = _encode_side(
        pairs.followup,
        followup_offers,
        others_of_followup,
        depths,
        numbers,
    )
    both = zip(pairs.source, pairs.followup, strict=True)
    are_answered = [is_answered(before, after) for before, after in both]
    rows = np.flatnonzero(are_answered)
    source = source[rows]
    followup = followup[rows]

    # All answers of a user are compared to the same depth: the floor depends on the
    # depth.
    due = np.minimum(_shortest(source), _shortest(followup))
    is_due = np.arange(source.shape[2]) < due[:, None, None]
    source = np.where(is_due, source, PAD)
    followup = np.where(is_due, followup, PAD)

    places = int((source > PAD).sum() + (followup > PAD).sum())
    offered_places = int((source_offered[rows] & is_due).sum())
    offered_places += int((followup_offered[rows] & is_due).sum())
    holes = 1 - offered_places / places if places else 0.0
    return Encoded(rows, source, followup, holes)


class _Numbers(dict[str, int]):
    """The numbers of items, each given when it is first looked up.

    Args:
        places: How many numbers, from 0 on, are those of empty places.
    """

    def __init__(self, places: int) -> None:
        super().__init__()
        self.places = places

    def __missing__(self, item: str) -> int:
        self[item] = number = self.places + len(self)
        return number


def _shortest(side: Lists) -> NDArray[np.intp]:
    """The number of places of the shortest answer of each user, ``(n,)``."""
    shortest: NDArray[np.intp] = (side > PAD).sum(axis=2).min(axis=1)
    return shortest


def _offer(asked: Asked, context: Context) -> _Offer:
    """What a user's request offers."""
    request = asked.request
    due = request.k
    if request.candidates is not None:
        distinct = {item.id for item in request.candidates}
        due = min(due, len(distinct))
    return _Offer(offered(asked, context.items), due)


def _encode_side(
    side: Sequence[Asked],
    offers: Sequence[_Offer],
    others: Sequence[_Offer] | None,
    depths: Sequence[int],
    numbers: _Numbers,
) -> tuple[Lists, NDArray[np.bool_]]:
    """The numbers at all places of the answers of a side.

    Args:
        side: The answers.
        offers: The offers of their requests.
        others: The offers of the requests of the other side, if items that they lack
            are left out.
        depths: The largest number of places that are due of each user.
        numbers: The numbers of items, to which new ones are added.

    Returns:
        The numbers, and at which places is an item that its own request offered, both
        ``(n, replicates, k)``.
    """
    shape = (len(side), replicates_of(side), numbers.places)
    codes = np.full(shape, PAD, np.int32)
    is_offered = np.zeros(shape, np.bool_)
    for row, (asked, offer, depth) in enumerate(zip(side, offers, depths, strict=True)):
        other = None if others is None else others[row]
        for replicate, answer in enumerate(asked.answers):
            named = list(dict.fromkeys(answer.items))[: offer.due]
            items = named if other is None else _shared(named, offer, other)
            left_out = len(named) - len(items)
            due = min(depth, offer.due - left_out)
            items = items[:due]
            item_codes = [numbers[item] for item in items]
            codes[row, replicate, :due] = [*item_codes, *range(len(items), due)]
            is_offered[row, replicate, : len(items)] = [
                offer.has(item) for item in items
            ]
    return codes, is_offered


def _shared(items: Sequence[str], offer: _Offer, other: _Offer) -> list[str]:
    """The items without those that only the answer's own request offered."""
    shared = []
    for item in items:
        if other.has(item) or not offer.has(item):
            shared.append(item)
    return shared


def filled(side: Lists) -> Lists:
    """A side of `Encoded` whose empty places are not due:
    measures of papers count none as an item.
    """
    return np.where(side < side.shape[2], PAD, side)


def is_answered(*sides: Asked) -> bool:
    """Whether any answer of a user recommends anything."""
    answers = chain.from_iterable(asked.answers for asked in sides)
    return any(answer.items for answer in answers)


def replicates_of(asked: Sequence[Asked]) -> int:
    """The number of answers per user on this side, which must be the same for all, and
    at least one.

    Raises:
        OracleError: If it is not the same for all, or 0.
    """
    user_by_count = {}
    for one in asked:
        user_by_count[len(one.answers)] = one.user
    if len(user_by_count) > 1 or 0 in user_by_count:
        counts = ", ".join(
            f"{count} for user {user!r}"
            for count, user in sorted(user_by_count.items())
        )
        raise OracleError(
            f"every user needs the same number of answers, at least one, got {counts}; count users "
            f"with failed calls as errors instead of shortening their answers",
        )
    return next(iter(user_by_count), 1)
