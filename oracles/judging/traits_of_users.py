"""Traits of users: their ids, histories, ratings, attributes,
times, and places in the order of asking.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np

from pytest_recsys_mt.oracles.judging.traits import (
    COMPARED,
    COUNTED,
    FEWEST,
    Trait,
    attribute_traits,
    id_traits,
    mask_of,
    split_traits,
)
from pytest_recsys_mt.requests import Request
from pytest_recsys_mt.requests.nouns import plural
from pytest_recsys_mt.verdict.answers import Asked, Context

_DAY = 86_400  # seconds
_QUARTER_DAY = 21_600  # seconds
_AGES = ((3600, "hour"), (_DAY, "day"), (604_800, "week"), (2_592_000, "30 days"))


def user_traits(asked: Sequence[Asked], context: Context) -> list[Trait]:
    """Traits that may distinguish users, the simplest first; `asked` are their original
    requests, in the order of asking.

    Each trait is one of at least `FEWEST` users, and at least so many do not have it.
    """
    requests = [one.request for one in asked]
    things = plural(context.thing or "item")
    traits = [
        *id_traits([one.user for one in asked], "with"),
        *_of_history_sizes(requests, things),
        *_of_ratings(requests),
        *attribute_traits(
            [request.attributes for request in requests],
            "whose {} is {}",
        ),
        *_of_times(requests),
        *_of_candidate_counts(requests),
        _of_titles(requests, things),
        *_of_order(len(asked)),
    ]
    most = len(asked) - FEWEST
    return [trait for trait in traits if FEWEST <= trait.mask.sum() <= most]


def _of_history_sizes(requests: Sequence[Request], things: str) -> Iterator[Trait]:
    sizes = [len(request.history) for request in requests]
    template = f"with {{}} {{}} {things} in the history"
    return split_traits(sizes, template, COUNTED)


def _of_candidate_counts(requests: Sequence[Request]) -> Iterator[Trait]:
    counts: list[int | None] = []
    for request in requests:
        if request.candidates is None:
            counts.append(None)
        else:
            counts.append(len(request.candidates))
    return split_traits(counts, "with {} {} candidates", COUNTED)


def _of_titles(requests: Sequence[Request], things: str) -> Trait:
    has_foreign_title = mask_of(map(_has_foreign_title, requests))
    words = (
        f"whose history holds {things} with other than ASCII characters in the title"
    )
    return Trait(words, has_foreign_title)


def _has_foreign_title(request: Request) -> bool:
    """Whether the history has a title with other than ASCII characters."""
    titles = [rating.item.title for rating in request.history]
    return not all(title.isascii() for title in titles)


def _of_ratings(requests: Sequence[Request]) -> Iterator[Trait]:
    """Traits by the values of the ratings in the history, and by their mean."""
    values_by_user = [_values_of(request) for request in requests]

    are_whole = mask_of(_are_whole(own) for own in values_by_user)
    yield Trait("whose ratings are all whole numbers", are_whole)
    yield Trait("with ratings that are no whole numbers", ~are_whole)

    are_equal = mask_of(len(set(own)) == 1 for own in values_by_user)
    yield Trait("whose ratings are all equal", are_equal)

    lowest_of_each = [request.scale.low for request in requests]
    values_and_lowest = zip(values_by_user, lowest_of_each, strict=True)
    has_lowest = mask_of(lowest in own for own, lowest in values_and_lowest)
    yield Trait("with a rating at the low end of the scale", has_lowest)
    yield Trait("without a rating at the low end of the scale", ~has_lowest)

    yield from split_traits(
        [_mean(own) for own in values_by_user],
        "whose mean rating is {} {}",
        COMPARED,
        thresholds=(),
    )


def _values_of(request: Request) -> list[float]:
    """The values of all ratings in the history."""
    return [float(rating.value) for rating in request.history]


def _mean(values: Sequence[float]) -> float | None:
    """The mean; None of no values."""
    if not values:
        return None
    return math.fsum(values) / len(values)


def _are_whole(values: Sequence[float]) -> bool:
    return all(value.is_integer() for value in values)


def _of_times(requests: Sequence[Request]) -> Iterator[Trait]:
    """Traits by the time of a user's latest rating: before
    the end of the data, and in the day.
    """
    latest = np.array([_latest_timestamp(request) for request in requests], np.float64)
    if np.isnan(latest).all():
        return
    end = np.nanmax(latest)
    for seconds, name in _AGES:
        start = end - seconds
        yield Trait(
            f"whose latest rating is of the last {name} of the data",
            latest > start,
        )
        yield Trait(f"without a rating in the last {name} of the data", latest <= start)
    quarter_of_day = latest % _DAY // _QUARTER_DAY
    for quarter in range(4):
        hours = f"{6 * quarter} and {6 * quarter + 6} o'clock UTC"
        yield Trait(
            f"whose latest rating was given between {hours}",
            quarter_of_day == quarter,
        )


def _latest_timestamp(request: Request) -> float:
    """The time of the latest rating in the history; NaN if none has a time."""
    timestamps = [
        rating.timestamp for rating in request.history if rating.timestamp is not None
    ]
    return max(timestamps, default=math.nan)


def _of_order(users: int) -> Iterator[Trait]:
    """Traits by the place in the order of asking."""
    place = np.arange(users)
    yield Trait("in the first half of those asked", place < users / 2)
    yield Trait("in the second half of those asked", place >= users / 2)
    for most in (10, 20, 50):
        yield Trait(f"among the first {most} asked", place < most)
