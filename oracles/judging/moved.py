"""Which items of changed lists left or moved, and the traits by which these differ from the other items there."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import count, islice
from operator import attrgetter

import numpy as np
from numpy.typing import NDArray

from pytest_recsys_mt.answers import Asked, Context
from pytest_recsys_mt.oracles.arrays import Floats
from pytest_recsys_mt.oracles.judging.traits import (
    Mask,
    Trait,
    distinct,
    item_traits,
    places_among,
    places_in_list,
)
from pytest_recsys_mt.requests import Item

SIDES = ("left a changed list or moved in it", "are new in a changed list or moved in it")
"""What became of the items that are looked at, in the source's lists and in the follow-up's."""


TWO_OFFERS = ("the source's candidates", "the follow-up's candidates")

SAMPLE = 500
"""About so many of the offered items are looked at, beside those of the lists."""

_ID = attrgetter("id")

Offer = Mapping[str, int] | None
"""The places of candidates by their ids; None if a request has none."""


@dataclass(frozen=True)
class Look:
    """A trait of items, and how far the changed ones have it more often.

    Attributes:
        words: The trait.
        what: What became of the changed items.
        having: How many of the changed items have it.
        changed: How many items left or moved.
        elsewhere: The share of the other items of these lists that have it.
        p_value: Of the hypothesis that the changed items have it as often as any.
    """

    words: str
    what: str
    having: int
    changed: int
    elsewhere: float
    p_value: float


@dataclass(frozen=True)
class Entries:
    """The entries of all lists of a side, user by user, all ``(n,)``."""

    item: NDArray[np.intp]  # its number among all items
    owner: NDArray[np.intp]  # the index of the user
    place: NDArray[np.intp]  # in the list, from 0
    size: NDArray[np.intp]  # of the list
    changed: Mask  # left or moved, in a changed list


@dataclass(frozen=True)
class Shares:
    """How often traits ``(t,)`` are found among the changed items and the others."""

    having: NDArray[np.intp]
    changed: int
    elsewhere: Floats
    p_values: Floats


def looks_at_items(
    source: Sequence[Asked],
    followup: Sequence[Asked],
    marked: Mask,
    context: Context,
    *,
    ordered: bool,
) -> list[Look]:
    """Every trait of items that is looked at, of both sides' first answers, where the users `marked` have changed lists.

    Items that only one of the two requests offers are left out. Without `ordered`, items that moved count as kept.
    """
    offers = [_offers(*both) for both in zip(source, followup, strict=True)]
    lists = [_lists(*each) for each in zip(source, followup, offers, strict=True)]
    flags = [
        left_or_moved(*both, ordered=ordered)
        if hit
        else tuple([False] * len(each) for each in both)
        for both, hit in zip(lists, marked.tolist(), strict=True)
    ]
    numbers: dict[str, int] = {}
    sides = [
        _entries([both[at] for both in lists], [both[at] for both in flags], numbers)
        for at in (0, 1)
    ]
    if any(not side.changed.any() for side in sides):
        return []
    sample = [numbers.setdefault(item, len(numbers)) for item in _sample(offers, context)]
    items = _items(numbers, [*source, *followup], context)
    found: list[Look] = []
    of_items = item_traits(items, context)
    for at, (side, what) in enumerate(zip(sides, SIDES, strict=True)):
        traits = [Trait(each.words, each.mask[side.item]) for each in of_items]
        # What is new is one of many, which differ from the best anyway: so it is compared with all that is offered.
        usual = [each.mask[sample].mean() if at and sample else 0.0 for each in of_items]
        further = _of_candidates(side, [item.id for item in items], offers)
        found += _looks([*traits, *further], [*usual, *[0.0] * len(further)], side, what)
    return found + _places(sides)


def left_or_moved(
    source: Sequence[str], followup: Sequence[str], *, ordered: bool = True
) -> tuple[list[bool], list[bool]]:
    """Which entries of each list changed: those that are not in every longest sequence that both lists have in common.

    So an item that moved far changed, and those that moved up for it did not; of two neighbours that changed places,
    both did.
    """
    there = {item: at for at, item in enumerate(followup)}
    common = [there[item] for item in source if item in there]
    if ordered:
        ahead = _longest(common)
        behind = _longest([-at for at in reversed(common)])[::-1]
        longest = max(ahead, default=0)
        on = [one + two - 1 == longest for one, two in zip(ahead, behind, strict=True)]
        alike = Counter(one for one, inside in zip(ahead, on, strict=True) if inside)
        kept = {
            at
            for at, one, inside in zip(common, ahead, on, strict=True)
            if inside and alike[one] == 1
        }
    else:
        kept = set(common)
    return (
        [there.get(item, -1) not in kept for item in source],
        [at not in kept for at in range(len(followup))],
    )


def _longest(numbers: Sequence[int]) -> list[int]:
    """The length of the longest increasing sequence that ends at each."""
    ends: list[int] = []
    found = []
    for number in numbers:
        at = bisect_left(ends, number)
        ends[at : at + 1] = [number]
        found.append(at + 1)
    return found


def _offers(source: Asked, followup: Asked) -> tuple[Offer, Offer]:
    """The places of the candidates of both requests; one object if they are the same."""
    ours, theirs = source.request.candidates, followup.request.candidates
    first = None if ours is None else dict(zip(map(_ID, ours), count()))
    if ours == theirs:
        return first, first
    return first, None if theirs is None else dict(zip(map(_ID, theirs), count()))


def _lists(
    source: Asked, followup: Asked, offers: tuple[Offer, Offer]
) -> tuple[list[str], list[str]]:
    """The first answer of each side, without repeats and without what only one request offers."""
    one, other = (
        list(dict.fromkeys(each.answers[0].items))[: each.request.k] for each in (source, followup)
    )
    ours, theirs = offers
    if ours is theirs or ours is None or theirs is None:
        return one, other
    return (
        [item for item in one if item in theirs or item not in ours],
        [item for item in other if item in ours or item not in theirs],
    )


def _sample(offers: Sequence[tuple[Offer, Offer]], context: Context) -> list[str]:
    """Some of the items that the follow-ups offer; without candidates, of the catalogue."""
    given = [theirs for _, theirs in offers if theirs is not None]
    if not given:
        return [*islice(context.items, 0, None, 1 + len(context.items) // SAMPLE)]
    each = 1 + SAMPLE // len(given)
    return [item for own in given for item in islice(own, 0, None, 1 + len(own) // each)]


def _items(numbers: Mapping[str, int], asked: Sequence[Asked], context: Context) -> list[Item]:
    """The items of these numbers, in their order."""
    known = context.items
    if not all(item in known for item in numbers):
        given = (item for each in asked for item in each.request.candidates or ())
        known = {**{item.id: item for item in given}, **known}
    return [known.get(item) or Item(item) for item in numbers]


def _entries(
    lists: Sequence[Sequence[str]], flags: Sequence[Sequence[bool]], numbers: dict[str, int]
) -> Entries:
    sizes = np.array([len(each) for each in lists], np.intp)
    owner = np.repeat(np.arange(len(lists)), sizes)
    return Entries(
        np.array([numbers.setdefault(i, len(numbers)) for each in lists for i in each], np.intp),
        owner,
        np.array([at for each in lists for at in range(len(each))], np.intp),
        sizes[owner],
        np.array([flag for each in flags for flag in each], np.bool_),
    )


def _of_candidates(
    side: Entries, names: Sequence[str], offers: Sequence[tuple[Offer, Offer]]
) -> list[Trait]:
    """Places among the candidates of either request, because either order may be the one that matters."""
    alike = all(ours is theirs for ours, theirs in offers)
    found = []
    for at, name in enumerate(("the candidates",) if alike else TWO_OFFERS):
        own = [both[at] for both in offers]
        if any(each is None for each in own):
            continue
        given = [each or {} for each in own]
        places = [
            given[user].get(names[item])
            for user, item in zip(side.owner.tolist(), side.item.tolist(), strict=True)
        ]
        sizes = np.array([len(each) for each in given])[side.owner]
        found += places_among(places, sizes.tolist(), name)
    return found


def _looks(
    traits: Sequence[Trait], offered: Sequence[float], side: Entries, what: str
) -> list[Look]:
    share = {trait.words: least for trait, least in zip(traits, offered, strict=True)}
    told = distinct(traits)
    if not told:
        return []
    least = np.array([share[trait.words] for trait in told])
    shares = _compared(told, side, least, by_place=True)
    return [_look(trait, what, shares, at, shares.p_values[at]) for at, trait in enumerate(told)]


def _places(sides: Sequence[Entries]) -> list[Look]:
    """Traits of places in the list, if both sides show them: what is inserted anywhere always drives out the last item."""
    both = [places_in_list(side.place, side.size) for side in sides]
    pairs = [
        each
        for each in zip(*both, strict=True)
        if all(0 < t.mask.sum() < len(t.mask) for t in each)
    ]
    if not pairs:
        return []
    shares = [
        _compared([each[at] for each in pairs], side, np.zeros(len(pairs)), by_place=False)
        for at, side in enumerate(sides)
    ]
    return [
        _look(ours, SIDES[0], shares[0], at, max(each.p_values[at] for each in shares))
        for at, (ours, _) in enumerate(pairs)
    ]


def _look(trait: Trait, what: str, shares: Shares, at: int, p_value: float) -> Look:
    return Look(
        trait.words,
        what,
        int(shares.having[at]),
        shares.changed,
        float(shares.elsewhere[at]),
        float(p_value),
    )


def _compared(traits: Sequence[Trait], side: Entries, least: Floats, *, by_place: bool) -> Shares:
    """The changed items against the others of the same lists, one vote a user.

    A vote is the share of a user's changed items with the trait. Its mean is at most that of the whole list, if what
    changes does not depend on the trait, or `least`; and, `by_place`, at most that of all users' items at the same places, since what
    moves may depend on the place, and traits such as popularity do too. The largest of these is taken. The p-value is the
    bound of Hoeffding 1963 (theorem 1), which holds however the items of a user depend on each other.
    """
    having = np.column_stack([trait.mask for trait in traits]).astype(np.float64)
    at_place = _means(having, side.place) if by_place else np.zeros((1, len(traits)))
    usual = at_place[side.place if by_place else np.zeros(len(side.place), np.intp)]
    touched = np.zeros(side.owner.max() + 1, np.bool_)
    touched[side.owner[side.changed]] = True
    inside = touched[side.owner]
    hit = side.changed
    votes = _means(having[hit], side.owner[hit])
    expected = np.maximum(
        _means(having[inside], side.owner[inside]), _means(usual[hit], side.owner[hit])
    ).clip(min=least)
    users = np.flatnonzero(touched)
    p_values = hoeffding(votes[users].mean(axis=0), expected[users].mean(axis=0), len(users))
    others = having[inside & ~side.changed]
    elsewhere = others.mean(axis=0) if len(others) else np.ones(len(traits))
    return Shares(having[hit].sum(axis=0).astype(np.intp), int(hit.sum()), elsewhere, p_values)


def _means(rows: Floats, group: NDArray[np.intp]) -> Floats:
    """The mean row of each group, ``(groups, t)``; 0 of a group without rows."""
    found = np.zeros((int(group.max(initial=-1)) + 1, rows.shape[1]))
    if not len(group):
        return found
    if (np.diff(group) < 0).any():
        order = np.argsort(group, kind="stable")
        rows, group = rows[order], group[order]
    starts = np.flatnonzero(np.diff(group, prepend=-1))
    sizes = np.diff(starts, append=len(group))
    found[group[starts]] = np.add.reduceat(rows, starts, axis=0) / sizes[:, None]
    return found


def hoeffding(mean: Floats, expected: Floats, numbers: int) -> Floats:
    """The largest probability that so many independent numbers in [0, 1] have that mean or a larger one."""
    with np.errstate(divide="ignore", invalid="ignore"):
        up = np.where(mean > 0, mean * np.log(mean / expected), 0.0)
        down = np.where(mean < 1, (1 - mean) * np.log((1 - mean) / (1 - expected)), 0.0)
    return np.where(mean > expected, np.exp(-numbers * (up + down)), 1.0)
