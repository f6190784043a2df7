"""Draws wrong options uniformly among those that are
less right, and the right one's place.
"""

import itertools
from collections.abc import Callable, Collection, Iterator
from typing import Any

import numpy as np

from pytest_recsys_mt.suites.lrworld.generator_settings import Settings
from pytest_recsys_mt.suites.lrworld.histories import Ints
from pytest_recsys_mt.suites.lrworld.same import form

Draft = dict[str, Any]
"""The fields of a question that its kind does not
determine, and ``behind``, see `standing`.
"""

LOOKED_AT = 1000
"""Most candidates for wrong options to draw before a question is given up."""

SPREAD = 2
"""How many times as many options as needed are nearest in popularity, on either side."""

Wrong = tuple[str, int]
"""A wrong option: its text and its number."""


class LackingError(Exception):
    """The data are insufficient for a kind of question;
    `generate` reports it and continues.
    """


def _matched(
    rng: np.random.Generator,
    count: int,
    distance: Ints,
    pool: Ints,
    fitting: Callable[[Ints], Iterator[Wrong]],
) -> list[Wrong]:
    """`count` wrong options next in popularity to the right one, at that `distance`
    from it. They are all as popular as it, or as often more popular as less, so that
    popularity does not show which is right. None if there are not enough on either side
    of it.
    """
    drawn = rng.permutation(pool)
    nearest = drawn[np.argsort(np.abs(distance[drawn]), kind="stable")]
    away = distance[nearest]
    equal, *sides = (
        list(itertools.islice(fitting(nearest[side]), SPREAD * count))
        for side in (away == 0, away < 0, away > 0)
    )
    if len(equal) >= count:
        return _some(rng, equal, count)
    if min(map(len, sides)) < count:
        return []
    less = int(rng.integers(count + 1))
    return _some(rng, sides[0], less) + _some(rng, sides[1], count - less)


def _some(rng: np.random.Generator, given: list[Wrong], count: int) -> list[Wrong]:
    return [
        given[place] for place in rng.choice(len(given), count, replace=False).tolist()
    ]


def matched_of(settings: Settings, popularity: Ints) -> Ints | None:
    """The popularity that wrong options share with the right one; None draws uniformly."""
    return popularity if settings.wrong == "popular" else None


def choose(
    rng: np.random.Generator,
    count: int,
    right: int,
    pool: Ints,
    text: Callable[[int], str],
    *,
    taken: Collection[str] = (),
    matched: Ints | None = None,
) -> tuple[Draft, tuple[int, ...]] | None:
    """The options of a question, the right one at any place alike; None if there are
    too few, or it is empty or taken.

    They come with their numbers. No two options say the same, see `same.form`, and none
    has a text in `taken`. The right option and the pool of possible wrong ones are
    numbers for `text`, which is empty for an impossible one, and for `matched`, see
    `matched_of`.
    """
    right_text = text(right)
    used = {form(one) for one in taken}
    if len(pool) < count - 1 or not right_text or form(right_text) in used:
        return None
    used.add(form(right_text))

    def fitting(rows: Ints) -> Iterator[Wrong]:
        for row in rows[:LOOKED_AT].tolist():
            one = text(row)
            if one and form(one) not in used:
                used.add(form(one))
                yield one, row

    if matched is None:
        drawn = rng.choice(len(pool), min(len(pool), LOOKED_AT), replace=False)
        wrong = list(itertools.islice(fitting(pool[drawn]), count - 1))
    else:
        wrong = _matched(rng, count - 1, matched - matched[right], pool, fitting)
        wrong = [wrong[place] for place in rng.permutation(len(wrong)).tolist()]
    if len(wrong) < count - 1:
        return None
    answer = int(rng.integers(count))
    wrong.insert(answer, (right_text, right))
    options, rows = zip(*wrong, strict=True)
    return {"options": options, "answer": answer}, rows
