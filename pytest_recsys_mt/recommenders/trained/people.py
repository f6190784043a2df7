"""Attributes of users as features, besides the history."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from pytest_recsys_mt.recommenders.ranking import Ints
from pytest_recsys_mt.recommenders.trained.data import padded

Feature = tuple[str, str]
"""The name of an attribute and one of its values, as text."""


@dataclass(frozen=True, eq=False)
class People:
    """The features of users that a network knows, in the order of their numbers.

    Each value of each attribute is a separate feature, even a number: 25 and 26 are as different as
    two occupations. An attribute with several values has a feature for each.
    """

    features: tuple[Feature, ...]

    @classmethod
    def of(cls, users: Iterable[Mapping[str, object]]) -> People:
        """All features that any of `users` has."""
        return cls(tuple(sorted({feature for user in users for feature in _features(user)})))

    @cached_property
    def numbers(self) -> Mapping[Feature, int]:
        """Numbers by feature."""
        return {feature: number for number, feature in enumerate(self.features)}

    def table(self, users: Sequence[Mapping[str, object]]) -> Ints:
        """The numbers of each user's features, sorted, padded by `PAD`; shape (users, most)."""
        known = [
            sorted({self.numbers[each] for each in _features(user) if each in self.numbers})
            for user in users
        ]
        return padded(known)

    def digest(self, table: Ints) -> str:
        """SHA-256 of the features and of which user has which, in hexadecimal."""
        total = hashlib.sha256(json.dumps([self.features, table.shape]).encode())
        total.update(table.astype("<i8").tobytes())
        return total.hexdigest()


def _features(user: Mapping[str, object]) -> Iterator[Feature]:
    for name, found in user.items():
        values = found if isinstance(found, (tuple, list, set, frozenset)) else (found,)
        for value in values:
            if value is not None and value != "" and value == value:  # noqa: PLR0124 - NaN is not
                yield name, str(value)
