"""Which entries of two lists of one user changed: those that left, are new, or moved."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from pytest_recsys_mt.requests import Item
from pytest_recsys_mt.verdict.answers import Asked

Offer = Mapping[str, int] | None
"""The places of candidates by their ids; None if a request has none."""


class Offers(NamedTuple):
    """The candidates of both requests of a user; one object if they are the same."""

    source: Offer
    followup: Offer

    @property
    def are_same(self) -> bool:
        """Whether both requests have the same candidates in the same order, or none."""
        return self.source is self.followup


class ListPair(NamedTuple):
    """The lists of both sides of a user, and for each entry whether it changed."""

    source: Sequence[str]
    followup: Sequence[str]
    source_changed: Sequence[bool]
    followup_changed: Sequence[bool]


def offers_of(source: Asked, followup: Asked) -> Offers:
    """The places of the candidates of both requests."""
    of_source = _places(source.request.candidates)
    if source.request.candidates == followup.request.candidates:
        return Offers(of_source, of_source)
    return Offers(of_source, _places(followup.request.candidates))


def _places(candidates: Sequence[Item] | None) -> Offer:
    """The place of each candidate by its id."""
    if candidates is None:
        return None
    return {item.id: place for place, item in enumerate(candidates)}


def compared_lists(
    source: Asked,
    followup: Asked,
    offers: Offers,
    *,
    is_changed: bool,
    ordered: bool,
) -> ListPair:
    """The first answer of each side, without repeats and without what only one request
    offers.

    Args:
        source: The answers to the original request.
        followup: Those to the transformed one.
        offers: The candidates of both.
        is_changed: Whether the user's lists count as changed; if not, none of their
            entries does.
        ordered: Whether an item that moved counts as changed.
    """
    before = first_list(source)
    after = first_list(followup)
    ours, theirs = offers
    if not offers.are_same and ours is not None and theirs is not None:
        before = _without_own(before, ours, theirs)
        after = _without_own(after, theirs, ours)
    if is_changed:
        changed = left_or_moved(before, after, ordered=ordered)
        return ListPair(before, after, *changed)
    return ListPair(before, after, [False] * len(before), [False] * len(after))


def _without_own(
    items: Sequence[str],
    own: Mapping[str, int],
    other: Mapping[str, int],
) -> list[str]:
    """The items without those that only the `own` request offers."""
    kept = []
    for item in items:
        is_only_here = item in own and item not in other
        if not is_only_here:
            kept.append(item)
    return kept


def first_list(asked: Asked) -> list[str]:
    """The first answer, without repeats and cut at the number of items asked for."""
    without_repeats = dict.fromkeys(asked.answers[0].items)
    return list(without_repeats)[: asked.request.k]


def left_or_moved(
    source: Sequence[str],
    followup: Sequence[str],
    *,
    ordered: bool = True,
) -> tuple[list[bool], list[bool]]:
    """Which entries of each list changed: those that are not in every longest sequence
    that both lists have in common.

    So an item that moved far changed, and those that moved up for it did not; of two
    neighbours that changed places, both did. Without `ordered`, only those changed that
    the other list lacks.
    """
    place_in_followup = {item: place for place, item in enumerate(followup)}
    common = [place_in_followup[item] for item in source if item in place_in_followup]
    kept = _in_every_longest_sequence(common) if ordered else set(common)
    source_changed = [place_in_followup.get(item, -1) not in kept for item in source]
    followup_changed = [place not in kept for place in range(len(followup))]
    return source_changed, followup_changed


def _in_every_longest_sequence(numbers: Sequence[int]) -> set[int]:
    """The numbers that are in every longest increasing subsequence."""
    lengths_to = _longest_lengths(numbers)
    mirrored = [-number for number in reversed(numbers)]
    lengths_from = _longest_lengths(mirrored)[::-1]
    longest = max(lengths_to, default=0)
    # All longest sequences go through a number if it is the only one that can take its
    # position in them.
    numbers_at_position: dict[int, list[int]] = defaultdict(list)
    for number, length_to, length_from in zip(
        numbers,
        lengths_to,
        lengths_from,
        strict=True,
    ):
        length_through = length_to + length_from - 1
        if length_through == longest:
            numbers_at_position[length_to].append(number)
    alone = set()
    for here in numbers_at_position.values():
        if len(here) == 1:
            alone.update(here)
    return alone


def _longest_lengths(numbers: Sequence[int]) -> list[int]:
    """The length of the longest increasing subsequence that ends at each number."""
    smallest_ends: list[int] = []  # of the subsequences of each length
    lengths = []
    for number in numbers:
        length = bisect_left(smallest_ends, number)
        smallest_ends[length : length + 1] = [number]
        lengths.append(length + 1)
    return lengths
