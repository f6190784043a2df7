"""Traits of users and of items, by which the changed answers of a failure may be told from the others.

The list is fixed, and is made of the requests and the data alone: no answer decides what is looked at.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pytest_recsys_mt.answers import Asked, Context
from pytest_recsys_mt.requests import Item
from pytest_recsys_mt.wording import plural

THRESHOLDS = (5, 10, 15, 20, 50, 100)
"""Where numbers are split, beside their median."""

FEWEST = 5
"""Users with a trait, and without it, that it takes to look at it; likewise shares of the looked-at items, in percent."""

MOST_VALUES = 25
"""Values of one attribute that are looked at: the most frequent."""

FEW_VALUES = 6
"""Up to so many different numbers of an attribute are names of groups, and are not split."""

MOST_ATTRIBUTES = 8
"""Attributes of users, and of items, that are looked at."""

LARGE = 200_000
"""In a larger catalogue, neither ranks of popularity nor shared titles are looked at: they take too long."""

_NUMBER = re.compile(r"(\d+)\D*$")
_AGES = ((3600, "hour"), (86400, "day"), (604_800, "week"), (2_592_000, "30 days"))
_DIGITS = (9, 99, 999, 9999, 99_999)  # the largest numbers of so many digits
_QUARTER = 21_600  # seconds of a quarter of a day

Mask = NDArray[np.bool_]
Texts = Sequence[str]


@dataclass(frozen=True)
class Trait:
    """Some of the users or items, ``(n,)``.

    Attributes:
        words: What they share, after "users" (``with an odd id``) or after "the items" (``have an odd id``).
        mask: Which ones they are.
    """

    words: str
    mask: Mask


def user_traits(asked: Sequence[Asked], context: Context) -> list[Trait]:
    """What may tell users apart, the simplest first; `asked` are their original requests, in the order of asking."""
    things = plural(context.thing or "item")
    requests = [each.request for each in asked]
    sizes = [len(request.history) for request in requests]
    offered = [
        None if request.candidates is None else len(request.candidates) for request in requests
    ]
    found = [
        *_of_ids([each.user for each in asked], "with an odd id", "with an even id", "with an id"),
        *_split(sizes, "with {} {} " + f"{things} in the history", _counted),
        *_of_ratings(asked),
        *_of_attributes([request.attributes for request in requests], "whose {} is {}"),
        *_of_times(asked),
        *_split(offered, "with {} {} candidates", _counted),
        Trait(
            f"whose history holds {things} with other than ASCII characters in the title",
            _where(
                not all(rating.item.title.isascii() for rating in request.history)
                for request in requests
            ),
        ),
        *_of_order(len(asked)),
    ]
    return [each for each in found if FEWEST <= each.mask.sum() <= len(asked) - FEWEST]


def item_traits(items: Sequence[Item], context: Context) -> list[Trait]:
    """What may tell items apart, the simplest first; those that share it are at least `FEWEST` percent of them."""
    titles = [item.title for item in items]
    years = [item.year for item in items]
    found = [
        Trait(
            "have other than ASCII characters in the title",
            _where(not title.isascii() for title in titles),
        ),
        Trait("have a digit in the title", _where(bool(re.search(r"\d", t)) for t in titles)),
        Trait("have a comma in the title", _where("," in title for title in titles)),
        Trait("have a colon in the title", _where(":" in title for title in titles)),
        Trait("have a bracket in the title", _where("(" in t or "[" in t for t in titles)),
        Trait("have more than 30 characters in the title", _where(len(t) > 30 for t in titles)),
        *_of_shared_titles(titles, context),
        *_of_ids([item.id for item in items], "have an odd id", "have an even id", "have an id"),
        *_of_popularity(items, context),
        Trait("have no year", _where(year is None for year in years)),
        *_split(years, "are of {} {}", _later, thresholds=()),
        *_of_attributes([item.attributes for item in items], "have the {} {}"),
    ]
    least = max(1, len(items) * FEWEST // 100)
    return [each for each in found if least <= each.mask.sum() < len(items)]


def places_among(places: Sequence[int | None], sizes: Sequence[int], among: str) -> list[Trait]:
    """Traits of items by their places among the candidates, from 0; None where there is no such place."""
    at = np.array([math.nan if place is None else place for place in places], np.float64)
    size = np.array(sizes, np.float64)
    return [
        Trait(f"stand first among {among}", at == 0),
        Trait(f"stand last among {among}", at == size - 1),
        Trait(f"stand in the first half of {among}", at < size / 2),
        Trait(f"stand in the second half of {among}", at >= size / 2),
        *(Trait(f"stand beyond place {most} of {among}", at >= most) for most in THRESHOLDS),
        *(Trait(f"stand up to place {most} of {among}", at < most) for most in THRESHOLDS),
    ]


def places_in_list(places: NDArray[np.intp], sizes: NDArray[np.intp]) -> list[Trait]:
    """Traits of entries by their places in lists of these sizes, from 0."""
    return [
        *(Trait(f"stand at place {at + 1} of the list", places == at) for at in range(10)),
        Trait("stand at the last place of the list", places == sizes - 1),
        Trait("stand at the first three places", places < 3),
        Trait("stand in the first half of the list", places < sizes / 2),
        Trait("stand in the second half of the list", places >= sizes / 2),
    ]


def distinct(traits: Sequence[Trait]) -> list[Trait]:
    """Each set once, under its first words, without those of all or of none."""
    found: dict[bytes, Trait] = {}
    for trait in traits:
        if trait.mask.any() and not trait.mask.all():
            found.setdefault(np.packbits(trait.mask).tobytes(), trait)
    return list(found.values())


def _of_ids(ids: Texts, odd: str, even: str, of_id: str) -> Iterator[Trait]:
    """By the last number in an id."""
    found = [_NUMBER.search(each) for each in ids]
    numbers = [None if each is None else int(each[1]) for each in found]
    yield Trait(odd, _where(each is not None and each % 2 == 1 for each in numbers))
    yield Trait(even, _where(each is not None and each % 2 == 0 for each in numbers))
    yield from _split(numbers, of_id + " {} {}", _compared, thresholds=_DIGITS)


def _of_ratings(asked: Sequence[Asked]) -> Iterator[Trait]:
    values = [[float(each.value) for each in one.request.history] for one in asked]
    scales = [one.request.scale for one in asked]
    means = [math.fsum(own) / len(own) if own else None for own in values]
    whole = _where(all(value.is_integer() for value in own) for own in values)
    yield Trait("whose ratings are all whole numbers", whole)
    yield Trait("with ratings that are no whole numbers", ~whole)
    yield Trait("whose ratings are all equal", _where(len(set(own)) == 1 for own in values))
    lowest = _where(scale.low in own for scale, own in zip(scales, values, strict=True))
    yield Trait("with a rating at the low end of the scale", lowest)
    yield Trait("without a rating at the low end of the scale", ~lowest)
    yield from _split(means, "whose mean rating is {} {}", _compared, thresholds=())


def _of_times(asked: Sequence[Asked]) -> Iterator[Trait]:
    stamps = [
        [each.timestamp for each in one.request.history if each.timestamp is not None]
        for one in asked
    ]
    latest = np.array([max(own, default=math.nan) for own in stamps], np.float64)
    if np.isnan(latest).all():
        return
    end = np.nanmax(latest)
    for seconds, name in _AGES:
        yield Trait(
            f"whose latest rating is of the last {name} of the data", latest > end - seconds
        )
        yield Trait(f"without a rating in the last {name} of the data", latest <= end - seconds)
    quarter = latest % 86400 // _QUARTER
    for at in range(4):
        hours = f"{6 * at} and {6 * at + 6} o'clock UTC"
        yield Trait(f"whose latest rating was given between {hours}", quarter == at)


def _of_order(users: int) -> Iterator[Trait]:
    at = np.arange(users)
    yield Trait("in the first half of those asked", at < users / 2)
    yield Trait("in the second half of those asked", at >= users / 2)
    yield from (Trait(f"among the first {most} asked", at < most) for most in (10, 20, 50))


def _of_attributes(attributes: Sequence[Mapping[str, Any]], words: str) -> Iterator[Trait]:
    """By the values of each attribute, and by each of several values; many numbers are split."""
    names = list(dict.fromkeys(name for each in attributes for name in each))[:MOST_ATTRIBUTES]
    for name in names:
        values = [each.get(name) for each in attributes]
        known = [value for value in values if value is not None]
        if all(_is_number(value) for value in known) and len(set(known)) > FEW_VALUES:
            template = words.format(_plain(name), "{} {}")
            yield from _split(values, template, _compared, tenths=True)
            continue
        own = [_texts(value) for value in values]
        count = Counter(text for each in own for text in dict.fromkeys(each))
        for text, _ in count.most_common(MOST_VALUES):
            told = words.format(_plain(name).removesuffix("s") if words[0] == "h" else name, text)
            yield Trait(told, _where(text in each for each in own))


def _of_shared_titles(titles: Texts, context: Context) -> Iterator[Trait]:
    if len(context.items) <= LARGE:
        count = Counter(item.title.casefold() for item in context.items.values() if item.title)
        shared = _where(count[title.casefold()] > 1 for title in titles)
        yield Trait("share their title with another item", shared)


def _of_popularity(items: Sequence[Item], context: Context) -> Iterator[Trait]:
    popularity = context.popularity
    if not popularity or len(popularity) > LARGE:
        return
    counts = np.array([popularity.get(item.id, 0) for item in items], np.float64)
    every = np.sort(np.fromiter(popularity.values(), np.float64, len(popularity)))[::-1]
    for most in (10, 20, 50, 100):
        if 2 * most <= len(every):
            least = max(1.0, every[most - 1])
            yield Trait(f"are among the {most} most popular of the data", counts >= least)
    middle = float(np.median(counts))
    yield Trait(f"are more popular than half of them ({middle:g} interactions)", counts > middle)
    yield Trait(f"are less popular than half of them ({middle:g} interactions)", counts < middle)
    yield Trait("have no interaction in the training data", counts == 0)
    yield Trait("have fewer than 5 interactions in the training data", counts < 5)


def _split(
    values: Sequence[Any],
    words: str,
    sides: Mapping[bool, str],
    *,
    thresholds: Sequence[float] = THRESHOLDS,
    tenths: bool = False,
) -> Iterator[Trait]:
    """Those above each threshold, and those that are not; a number that is unknown is in neither."""
    numbers = np.array([math.nan if value is None else value for value in values], np.float64)
    known = numbers[np.isfinite(numbers)]
    if not len(known):
        return
    shares = np.arange(1, 10) / 10 if tenths else (0.5,)
    middle = np.quantile(known, shares, method="lower").tolist()
    for limit in dict.fromkeys([*map(float, thresholds), *middle]):
        for above in (True, False):
            mask = numbers > limit if above else numbers <= limit
            yield Trait(words.format(sides[above], f"{limit:.10g}"), mask)


_counted = {True: "more than", False: "at most"}
_compared = {True: "above", False: "up to"}
_later = {True: "later years than", False: "years up to"}


def _where(facts: Iterator[bool]) -> Mask:
    return np.fromiter(facts, np.bool_)


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def _texts(value: Any) -> Texts:
    """The values of an attribute, short enough to be named; none of what is no plain value."""
    several = value if isinstance(value, (tuple, list)) else (value,)
    plain = [each for each in several if isinstance(each, (str, int, float))]
    return [text for text in map(str, plain) if 0 < len(text) <= 40]


def _plain(name: object) -> str:
    return str(name).replace("_", " ").replace("{", "(").replace("}", ")")[:40]
