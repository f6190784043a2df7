"""A trait of users or of items, and the ways to make traits of ids, numbers and
attributes.

`traits_of_users` and `traits_of_items` list the traits by which the changed answers of
a failure may differ from the others. These lists are fixed, and are made of the
requests and the data alone: no answer decides what is looked at.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

THRESHOLDS = (5, 10, 15, 20, 50, 100)
"""Where numbers are split, in addition to their median."""

FEWEST = 5
"""Users with a trait, and without it, that it takes to look at it; likewise items with
it, or so many percent of them where they are fewer than 100.
"""

MOST_VALUES = 60
"""Values of one attribute that are looked at: the most frequent."""

FEW_VALUES = 6
"""Up to so many different numbers of an attribute are
names of groups, and are not split.
"""

MOST_ATTRIBUTES = 8
"""Attributes of users, and of items, that are looked at."""

DIVISORS = (3, 4, 5, 8, 10, 16, 20)
"""Numbers of shards and buckets by which ids are often divided."""

_LAST_NUMBER = re.compile(r"(\d+)\D*$")
_DIGIT_LIMITS = (9, 99, 999, 9999, 99_999)  # the largest numbers of one to five digits
_LONGEST_TEXT = 40  # characters of a name or a value that a sentence can hold

Mask = NDArray[np.bool_]
"""Which users or items have a trait, ``(n,)``."""


@dataclass(frozen=True)
class Trait:
    """Some of the users or items, ``(n,)``.

    Attributes:
        words: Their property, after "users" (``with an odd id``) or after "the items"
            (``have an odd id``).
        mask: Which ones they are.
    """

    words: str
    mask: Mask


class Sides(NamedTuple):
    """The words for numbers above a threshold, and for those up to it."""

    above: str
    up_to: str


COUNTED = Sides("more than", "at most")
COMPARED = Sides("above", "up to")
DATED = Sides("later years than", "years up to")


def mask_of(facts: Iterable[bool]) -> Mask:
    """The mask of these facts, one for each user or item in their order."""
    return np.fromiter(facts, np.bool_)


def distinct(traits: Sequence[Trait]) -> list[Trait]:
    """Each set once, under its first words, without those of all or of none."""
    trait_by_mask: dict[bytes, Trait] = {}
    for trait in traits:
        if trait.mask.any() and not trait.mask.all():
            key = np.packbits(trait.mask).tobytes()
            trait_by_mask.setdefault(key, trait)
    return list(trait_by_mask.values())


def id_traits(ids: Sequence[str], verb: str) -> Iterator[Trait]:
    """Traits by the last number in an id; `verb` comes
    before "an id": ``with`` or ``have``.
    """
    numbers = [_last_number(each) for each in ids]
    parities = _remainders(numbers, 2)
    are_odd = mask_of(parity == 1 for parity in parities)
    yield Trait(f"{verb} an odd id", are_odd)
    are_even = mask_of(parity == 0 for parity in parities)
    yield Trait(f"{verb} an even id", are_even)
    for divisor in DIVISORS:
        remainders = _remainders(numbers, divisor)
        for remainder in range(divisor):
            yield Trait(
                f"{verb} an id that is {remainder} modulo {divisor}",
                mask_of(each == remainder for each in remainders),
            )
    template = f"{verb} an id {{}} {{}}"
    yield from split_traits(numbers, template, COMPARED, thresholds=_DIGIT_LIMITS)


def _remainders(numbers: Sequence[int | None], divisor: int) -> list[int | None]:
    """The remainder of each number; None where it is unknown."""
    return [None if number is None else number % divisor for number in numbers]


def _last_number(text: str) -> int | None:
    """The last number in a text; None without one."""
    match = _LAST_NUMBER.search(text)
    if match is None:
        return None
    return int(match[1])


def split_traits(
    values: Sequence[float | None],
    template: str,
    sides: Sides,
    *,
    thresholds: Sequence[float] = THRESHOLDS,
    tenths: bool = False,
) -> Iterator[Trait]:
    """Traits of being above a threshold and of being up to it; an unknown number is in
    neither.

    Args:
        values: The numbers, ``(n,)``; None where a number is unknown.
        template: The words of the traits, with two fields: the side, and the threshold.
        sides: The words of the two sides.
        thresholds: Where to split, in addition to the median of the known numbers.
        tenths: Whether to split at all deciles, in place of the median alone.
    """
    with_unknown = [math.nan if value is None else value for value in values]
    numbers = np.array(with_unknown, np.float64)
    known = numbers[np.isfinite(numbers)]
    if not len(known):
        return
    shares = np.arange(1, 10) / 10 if tenths else (0.5,)
    quantiles = np.quantile(known, shares, method="lower").tolist()
    limits = [*map(float, thresholds), *quantiles]
    for limit in dict.fromkeys(limits):
        shown = f"{limit:.10g}"
        yield Trait(template.format(sides.above, shown), numbers > limit)
        yield Trait(template.format(sides.up_to, shown), numbers <= limit)


def attribute_traits(
    attributes: Sequence[Mapping[str, Any]],
    template: str,
    *,
    singular: bool = False,
) -> Iterator[Trait]:
    """Traits by the values of each attribute, and by each of several values; many
    numbers are split.

    Args:
        attributes: The attributes of each user or item.
        template: The words of a trait, with two fields: the name of the attribute, and
            the value.
        singular: Whether a name such as ``genres`` is shown as ``genre``, because one
            of its values follows.
    """
    all_names = dict.fromkeys(name for each in attributes for name in each)
    for name in list(all_names)[:MOST_ATTRIBUTES]:
        values = [each.get(name) for each in attributes]
        if _are_many_numbers(values):
            of_number = template.format(_readable(name), "{} {}")
            yield from split_traits(values, of_number, COMPARED, tenths=True)
        else:
            shown = _readable(name).removesuffix("s") if singular else name
            yield from _frequent_values(values, template, shown)


def _are_many_numbers(values: Sequence[Any]) -> bool:
    """Whether all known values are numbers, and too many
    different ones to be names of groups.
    """
    known = [value for value in values if value is not None]
    if not all(_is_number(value) for value in known):
        return False
    return len(set(known)) > FEW_VALUES


def _frequent_values(
    values: Sequence[Any],
    template: str,
    name: str,
) -> Iterator[Trait]:
    """Traits of having each of the most frequent values of an attribute."""
    texts_of_each = [_texts(value) for value in values]
    frequency = Counter[str]()
    for texts in texts_of_each:
        frequency.update(list(dict.fromkeys(texts)))
    for text, _ in frequency.most_common(MOST_VALUES):
        mask = mask_of(text in texts for texts in texts_of_each)
        yield Trait(template.format(name, text), mask)


def _is_number(value: object) -> bool:
    return (
        isinstance(value, (int, float))
        and not isinstance(value, bool)
        and math.isfinite(value)
    )


def _texts(value: Any) -> list[str]:
    """The values of an attribute, short enough to be
    named; none of a value that is not plain.
    """
    several = value if isinstance(value, (tuple, list)) else (value,)
    texts = []
    for each in several:
        if isinstance(each, (str, int, float)):
            text = str(each)
            if 0 < len(text) <= _LONGEST_TEXT:
                texts.append(text)
    return texts


def _readable(name: object) -> str:
    """The name of an attribute, fit for a template."""
    # The result becomes part of a template, so it must have no braces.
    without_braces = str(name).replace("{", "(").replace("}", ")")
    return without_braces.replace("_", " ")[:_LONGEST_TEXT]
