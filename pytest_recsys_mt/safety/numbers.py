"""Many numbers by name, in little memory: the values of
users, which are most of a large record.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterator, KeysView, Mapping, Sequence
from functools import cached_property
from typing import Any


class Names:
    """Names in their order, which the numbers of several rows share."""

    def __init__(self, names: tuple[str, ...]) -> None:
        self.names = names

    @cached_property
    def places(self) -> dict[str, int]:
        """The place of each name."""
        return {name: place for place, name in enumerate(self.names)}


class Numbers(Mapping[str, float]):
    """Finite numbers by name, in their order; equal to the `dict` of the same numbers.

    A number takes 8 bytes, where a `dict` takes some 70.

    Attributes:
        values_in_order: One for each name.
    """

    __slots__ = ("_shared", "values_in_order")

    def __init__(self, shared: Names, values: array[float]) -> None:
        self._shared = shared
        self.values_in_order = values

    @property
    def names(self) -> tuple[str, ...]:
        """The names in their order."""
        return self._shared.names

    def of(self, names: Sequence[str]) -> Sequence[float]:
        """Those of some of the names, in their order."""
        if len(names) == len(self) and tuple(names) == self.names:
            return self.values_in_order
        places = map(self._shared.places.__getitem__, names)
        return list(map(self.values_in_order.__getitem__, places))

    def __getitem__(self, name: str) -> float:
        return self.values_in_order[self._shared.places[name]]

    def __iter__(self) -> Iterator[str]:
        return iter(self._shared.names)

    def __len__(self) -> int:
        return len(self.values_in_order)

    def __contains__(self, name: object) -> bool:
        return name in self._shared.places

    def keys(self) -> KeysView[str]:
        """The names, as those of a `dict`."""
        return self._shared.places.keys()

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Numbers) and other._shared is self._shared:
            return self.values_in_order == other.values_in_order
        return super().__eq__(other)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return repr(dict(self))


def numbers_of(values: Mapping[str, float], names: Sequence[str]) -> Sequence[float]:
    """The numbers of some names, in their order."""
    if isinstance(values, Numbers):
        return values.of(names)
    return [values[name] for name in names]


def names_in_both(
    first: Mapping[str, float],
    second: Mapping[str, float],
) -> Sequence[str]:
    """The names that two mappings have, in the order of the first."""
    if (
        isinstance(first, Numbers)
        and isinstance(second, Numbers)
        and first.names == second.names
    ):
        return first.names
    return [name for name in first if name in second]


class Packer:
    """Makes `Numbers` of mappings; equal names are kept once."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, ...], Names] = {}

    def pack(self, values: dict[str, Any]) -> Mapping[str, Any]:
        """The same mapping, packed if it has nothing but finite numbers with a
        fraction; else as it is.

        Whole numbers and truth values would be others afterwards, and the check of
        a record has to see them.
        """
        if set(map(type, values.values())) != {float}:
            return values
        numbers = array("d", values.values())
        if not math.isfinite(sum(numbers)):
            return values
        names = tuple(values)
        return Numbers(self._known.setdefault(names, Names(names)), numbers)
