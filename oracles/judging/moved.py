"""Which items of changed lists left or moved, and the traits by
which these differ from the other items there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np

from pytest_recsys_mt.oracles.judging.changed_entries import Entries, Shares, compare
from pytest_recsys_mt.oracles.judging.list_changes import (
    ListPair,
    Offer,
    Offers,
    compared_lists,
    offers_of,
)
from pytest_recsys_mt.oracles.judging.trait_table import Table
from pytest_recsys_mt.oracles.judging.traits import Mask, Trait, distinct
from pytest_recsys_mt.oracles.judging.traits_of_items import (
    item_traits,
    places_among,
    places_in_list,
)
from pytest_recsys_mt.requests import Item
from pytest_recsys_mt.verdict.answers import Asked, Context

LEFT = "left a changed list or moved in it"
"""The change of the items that are looked at in the source's lists."""

NEW = "are new in a changed list or moved in it"
"""The change of those that are looked at in the follow-up's lists."""

SAMPLE = 500
"""About so many offered items are looked at, in addition to those of the lists."""


@dataclass(frozen=True)
class Look:
    """A trait of items, and how far the changed ones have it more often.

    Attributes:
        words: The trait.
        what: The change of the items.
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


def looks_at_items(
    source: Sequence[Asked],
    followup: Sequence[Asked],
    marked: Mask,
    context: Context,
    *,
    ordered: bool,
) -> list[Look]:
    """Every trait of items that is looked at, of both sides' first answers.

    Items that only one of the two requests offers are left out.

    Args:
        source: The answers of each user to the original request.
        followup: Those to the transformed one.
        marked: The users who have changed lists, ``(n,)``.
        context: The facts of the run.
        ordered: Whether an item that moved counts as changed.
    """
    both_sides = zip(source, followup, strict=True)
    offers = [offers_of(before, after) for before, after in both_sides]
    lists = [
        compared_lists(before, after, offer, is_changed=is_changed, ordered=ordered)
        for before, after, offer, is_changed in zip(
            source,
            followup,
            offers,
            marked.tolist(),
            strict=True,
        )
    ]
    numbers: dict[str, int] = {}
    source_entries, followup_entries = _entries(lists, numbers)
    if not source_entries.changed.any() or not followup_entries.changed.any():
        return []
    sample = [
        numbers.setdefault(item, len(numbers)) for item in _sample(offers, context)
    ]
    items = _items(numbers, [*source, *followup], context)
    traits = item_traits(items, context)
    # What is new is one of many, which differ from the best anyway: so it is compared
    # with all that is offered.
    offered_shares = {}
    if sample:
        offered_shares = {
            trait.words: float(trait.mask[sample].mean()) for trait in traits
        }
    ids = [item.id for item in items]
    of_source, of_followup = (
        [*_of_histories(side, ids, source), *_of_candidates(side, ids, offers)]
        for side in (source_entries, followup_entries)
    )
    return [
        *_looks_at_side(source_entries, LEFT, traits, of_source, {}),
        *_looks_at_side(followup_entries, NEW, traits, of_followup, offered_shares),
        *_looks_at_places(source_entries, followup_entries),
    ]


def _entries(
    lists: Sequence[ListPair],
    numbers: dict[str, int],
) -> tuple[Entries, Entries]:
    """The entries of both sides' lists; adds the numbers of items that have none."""
    source = Entries.of(
        [each.source for each in lists],
        [each.source_changed for each in lists],
        numbers,
    )
    followup = Entries.of(
        [each.followup for each in lists],
        [each.followup_changed for each in lists],
        numbers,
    )
    return source, followup


def _sample(offers: Sequence[Offers], context: Context) -> list[str]:
    """Some of the items that the follow-ups offer;
    without candidates, of the catalogue.
    """
    given = [offer.followup for offer in offers if offer.followup is not None]
    if not given:
        step = 1 + len(context.items) // SAMPLE
        return list(islice(context.items, 0, None, step))
    wanted_of_each = 1 + SAMPLE // len(given)
    sample: list[str] = []
    for offer in given:
        step = 1 + len(offer) // wanted_of_each
        sample += islice(offer, 0, None, step)
    return sample


def _items(
    numbers: Mapping[str, int],
    asked: Sequence[Asked],
    context: Context,
) -> list[Item]:
    """The items of these numbers, in their order."""
    known = context.items
    if not all(item in known for item in numbers):
        # A request may bring candidates that the catalogue lacks.
        known = {**_candidates(asked), **known}
    return [known.get(item) or Item(item) for item in numbers]


def _candidates(asked: Sequence[Asked]) -> dict[str, Item]:
    """The candidates of all requests, by their ids."""
    candidates: dict[str, Item] = {}
    for each in asked:
        for item in each.request.candidates or ():
            candidates[item.id] = item
    return candidates


def _looks_at_side(
    entries: Entries,
    what: str,
    of_items: Sequence[Trait],
    further: Sequence[Trait],
    offered_shares: Mapping[str, float],
) -> list[Look]:
    """The looks at traits of the items of a side.

    Args:
        entries: The entries of the side.
        what: The change of its items.
        of_items: Traits with a mask of all items, by their numbers.
        further: Traits with a mask of the entries.
        offered_shares: The shares of the offered items with a trait, by its words,
            where they matter.
    """
    of_entries = []
    for trait in of_items:
        mask_of_entries = trait.mask[entries.item]
        of_entries.append(Trait(trait.words, mask_of_entries))
    traits = distinct([*of_entries, *further])
    if not traits:
        return []
    expected = [offered_shares.get(trait.words, 0.0) for trait in traits]
    least = np.array(expected)
    shares = compare(traits, entries, least, by_place=True)
    mask_of_items = {trait.words: trait.mask for trait in of_items}
    looks = []
    for at, trait in enumerate(traits):
        p_value = float(shares.p_values[at])
        mask = mask_of_items.get(trait.words)
        if mask is not None and p_value < 1:
            p_value = max(p_value, _p_value_of_items(mask, entries))
        looks.append(_look(trait, what, shares, at, p_value))
    return looks


def _p_value_of_items(mask: Mask, entries: Entries) -> float:
    """Fisher's exact test that the distinct items which changed have a trait no more
    often than the others of the changed lists: a few items in many lists share much by
    chance.
    """
    owners = int(entries.owner.max()) + 1
    has_change = np.zeros(owners, np.bool_)
    has_change[entries.owner[entries.changed]] = True
    in_changed_lists = np.unique(entries.item[has_change[entries.owner]])
    changed_items = np.unique(entries.item[entries.changed])
    changed = np.isin(in_changed_lists, changed_items)
    table = Table.of(mask[in_changed_lists], changed)
    return table.tail_probability


def _of_histories(
    entries: Entries,
    ids: Sequence[str],
    source: Sequence[Asked],
) -> list[Trait]:
    """Whether the user of the source's request has rated the item already."""
    histories = []
    for each in source:
        rated = frozenset(rating.item.id for rating in each.request.history)
        histories.append(rated)
    owners_and_items = zip(entries.owner.tolist(), entries.item.tolist(), strict=True)
    is_rated = [ids[item] in histories[owner] for owner, item in owners_and_items]
    return [Trait("are in the user's history", np.array(is_rated, np.bool_))]


def _of_candidates(
    entries: Entries,
    ids: Sequence[str],
    offers: Sequence[Offers],
) -> list[Trait]:
    """Places among the candidates of either request, because
    either order may be the one that matters.
    """
    of_source = [offer.source for offer in offers]
    if all(offer.are_same for offer in offers):
        return _places_in_offers(entries, ids, of_source, "the candidates")
    of_followup = [offer.followup for offer in offers]
    return [
        *_places_in_offers(entries, ids, of_source, "the source's candidates"),
        *_places_in_offers(entries, ids, of_followup, "the follow-up's candidates"),
    ]


def _places_in_offers(
    entries: Entries,
    ids: Sequence[str],
    offers: Sequence[Offer],
    among: str,
) -> list[Trait]:
    """Traits by the places in the offer of each user;
    none if a request has no candidates.
    """
    given = [offer for offer in offers if offer is not None]
    if len(given) < len(offers):
        return []
    owners_and_items = zip(entries.owner.tolist(), entries.item.tolist(), strict=True)
    places = [given[owner].get(ids[item]) for owner, item in owners_and_items]
    size_by_owner = np.array([len(offer) for offer in given])
    sizes = size_by_owner[entries.owner]
    return places_among(places, sizes.tolist(), among)


def _looks_at_places(source: Entries, followup: Entries) -> list[Look]:
    """Looks at places in the list, with the larger p-value of both sides.

    Both have to show them, since an inserted item always drives out the last one.
    """
    of_source = []
    of_followup = []
    for before, after in zip(
        places_in_list(source.place, source.size),
        places_in_list(followup.place, followup.size),
        strict=True,
    ):
        if _divides(before) and _divides(after):
            of_source.append(before)
            of_followup.append(after)
    if not of_source:
        return []
    least = np.zeros(len(of_source))
    shares = compare(of_source, source, least, by_place=False)
    followup_shares = compare(of_followup, followup, least, by_place=False)
    p_values = np.maximum(shares.p_values, followup_shares.p_values)
    return [
        _look(trait, LEFT, shares, at, p_values[at])
        for at, trait in enumerate(of_source)
    ]


def _divides(trait: Trait) -> bool:
    """Whether some have the trait, and others do not."""
    has_some = trait.mask.any()
    has_all = trait.mask.all()
    return bool(has_some and not has_all)


def _look(trait: Trait, what: str, shares: Shares, at: int, p_value: float) -> Look:
    """The look at a trait, from its place in `shares`."""
    return Look(
        words=trait.words,
        what=what,
        having=int(shares.having[at]),
        changed=shares.changed,
        elsewhere=float(shares.elsewhere[at]),
        p_value=float(p_value),
    )
