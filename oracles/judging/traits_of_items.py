"""Traits of items: their titles, ids, years, attributes and
popularity, and their places in lists.
"""

from __future__ import annotations

import datetime
import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from pytest_recsys_mt.oracles.judging.traits import (
    DATED,
    FEWEST,
    THRESHOLDS,
    Trait,
    attribute_traits,
    id_traits,
    mask_of,
    split_traits,
)
from pytest_recsys_mt.requests import Item
from pytest_recsys_mt.verdict.answers import Context

LARGE = 200_000
"""In a larger catalogue, neither ranks of popularity nor
shared titles are looked at: they take too long.
"""

RECENT = 15
"""So many of the latest years are limits too: items
newer than an index are of the last years.
"""

NEWEST = (3, 5, 10, 20, 50, 100)
"""So many of the items that were rated last for the first time are looked at."""

LONG_TITLE = 30
"""Characters of a title beyond which it is a long one."""

_DIGIT = re.compile(r"\d")

_OF_A_TITLE: Mapping[str, Callable[[str], bool]] = {
    "have other than ASCII characters in the title": lambda title: not title.isascii(),
    "have a digit in the title": lambda title: _DIGIT.search(title) is not None,
    "have a comma in the title": lambda title: "," in title,
    "have a colon in the title": lambda title: ":" in title,
    "have a bracket in the title": lambda title: "(" in title or "[" in title,
    f"have more than {LONG_TITLE} characters in the title": lambda title: (
        len(title) > LONG_TITLE
    ),
}
"""The traits by a title: their words, and whether a title has them."""


def item_traits(items: Sequence[Item], context: Context) -> list[Trait]:
    """Traits that may distinguish items, the simplest first; at least `FEWEST`
    items share each, except those of the newest items.
    """
    titles = [item.title for item in items]
    traits = [
        *_of_titles(titles),
        *_of_shared_titles(titles, context),
        *id_traits([item.id for item in items], "have"),
        *_of_popularity(items, context),
        *_of_years(items),
        *attribute_traits(
            [item.attributes for item in items],
            "have the {} {}",
            singular=True,
        ),
    ]
    hundredths = len(items) * FEWEST // 100
    least = min(FEWEST, max(1, hundredths))
    frequent = []
    for trait in traits:
        having = trait.mask.sum()
        if least <= having < len(items):
            frequent.append(trait)
    return [*frequent, *_of_first_times(items, context)]


def places_among(
    places: Sequence[int | None],
    sizes: Sequence[int],
    among: str,
) -> list[Trait]:
    """Traits of items by their places among the candidates.

    Args:
        places: The place of each item, from 0; None where it is no candidate.
        sizes: The number of candidates of which each is one.
        among: The words for the candidates: ``the candidates``.
    """
    place = np.array(
        [math.nan if each is None else each for each in places],
        np.float64,
    )
    size = np.array(sizes, np.float64)
    traits = [
        Trait(f"stand first among {among}", place == 0),
        Trait(f"stand last among {among}", place == size - 1),
        Trait(f"stand in the first half of {among}", place < size / 2),
        Trait(f"stand in the second half of {among}", place >= size / 2),
    ]
    for most in THRESHOLDS:
        traits.append(Trait(f"stand beyond place {most} of {among}", place >= most))
    for most in THRESHOLDS:
        traits.append(Trait(f"stand up to place {most} of {among}", place < most))
    return traits


def places_in_list(places: NDArray[np.intp], sizes: NDArray[np.intp]) -> list[Trait]:
    """Traits of entries by their places in lists of these sizes, from 0."""
    at_each_place = [
        Trait(f"stand at place {place + 1} of the list", places == place)
        for place in range(10)
    ]
    return [
        *at_each_place,
        Trait("stand at the last place of the list", places == sizes - 1),
        Trait("stand at the first three places", places < 3),
        Trait("stand in the first half of the list", places < sizes / 2),
        Trait("stand in the second half of the list", places >= sizes / 2),
    ]


def _of_titles(titles: Sequence[str]) -> Iterator[Trait]:
    for words, is_true in _OF_A_TITLE.items():
        mask = mask_of(is_true(title) for title in titles)
        yield Trait(words, mask)


def _of_shared_titles(titles: Sequence[str], context: Context) -> Iterator[Trait]:
    """Whether another item of the catalogue has the same title, in any case."""
    if len(context.items) > LARGE:
        return
    all_titles = [item.title.casefold() for item in context.items.values()]
    frequency = Counter(title for title in all_titles if title)
    is_shared = mask_of(frequency[title.casefold()] > 1 for title in titles)
    yield Trait("share their title with another item", is_shared)


def _of_years(items: Sequence[Item]) -> Iterator[Trait]:
    """Traits by the year, split where catalogues are cut."""
    years = [item.year for item in items]
    is_unknown = mask_of(year is None for year in years)
    yield Trait("have no year", is_unknown)
    known = [year for year in years if year is not None]
    if known:
        # Catalogues are cut at the beginning of a decade, or where some share of them
        # was known.
        first_decade = min(known) // 10 * 10
        decades = range(first_decade - 1, max(known), 10)
        latest = sorted({*known})[-RECENT:]
        limits = [*decades, *latest]
        yield from split_traits(
            years,
            "are of {} {}",
            DATED,
            thresholds=limits,
            tenths=True,
        )


def _of_first_times(items: Sequence[Item], context: Context) -> Iterator[Trait]:
    """The newest of all items: what an old catalogue or index lacks."""
    first_times = context.first_times()
    if not first_times or len(first_times) > LARGE:
        return
    own_times = [first_times.get(item.id, math.nan) for item in items]
    own = np.array(own_times, np.float64)
    all_times = np.fromiter(first_times.values(), np.float64, len(first_times))
    ascending = np.sort(all_times)
    for newest in NEWEST:
        if 2 * newest > len(ascending):
            return
        limit = float(ascending[-newest])
        mask = own >= limit
        if mask.any():
            yield Trait(
                f"are among the {newest} newest of the data, first rated since {_day(limit)}",
                mask,
            )


def _day(second: float) -> str:
    """The day of a time in UTC; the number itself where it is none that a date can have."""
    try:
        time = datetime.datetime.fromtimestamp(second, datetime.UTC)
        return time.date().isoformat()
    except (OverflowError, OSError, ValueError):
        return f"{second:.10g}"


def _of_popularity(items: Sequence[Item], context: Context) -> Iterator[Trait]:
    """Traits by the number of interactions in the training data."""
    popularity = context.popularity
    if not popularity or len(popularity) > LARGE:
        return
    own_counts = [popularity.get(item.id, 0) for item in items]
    counts = np.array(own_counts, np.float64)
    all_counts = np.fromiter(popularity.values(), np.float64, len(popularity))
    ranked_counts = np.sort(all_counts)[::-1]
    for most in (10, 20, 50, 100):
        # In a catalogue of fewer items, the most popular ones would be most of it.
        if 2 * most <= len(ranked_counts):
            count_at_limit = ranked_counts[most - 1]
            least = max(1.0, count_at_limit)
            yield Trait(
                f"are among the {most} most popular of the data",
                counts >= least,
            )
    median = float(np.median(counts))
    yield Trait(
        f"are more popular than half of them ({median:g} interactions)",
        counts > median,
    )
    yield Trait(
        f"are less popular than half of them ({median:g} interactions)",
        counts < median,
    )
    yield Trait("have no interaction in the training data", counts == 0)
    yield Trait("have fewer than 5 interactions in the training data", counts < 5)
