"""Items, their ratings, and the facts about all of them."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any


class Attributes(Mapping[str, Any]):
    """An immutable, hashable mapping; values are plain data (strings, numbers, tuples).

    Attributes:
        fixed: Whether no value can be changed in place, as a list can.
    """

    __slots__ = ("_data", "fixed")

    def __init__(self, data: Mapping[str, Any] | None = None, /, **more: Any) -> None:
        self._data: dict[str, Any] = {**(data or {}), **more}
        self.fixed = all(map(_is_fixed, self._data.values()))

    def __getitem__(self, key: str) -> Any:
        return self._data[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._data)

    def __len__(self) -> int:
        return len(self._data)

    def __hash__(self) -> int:
        return hash(frozenset(self._data))

    def __repr__(self) -> str:
        return repr(self._data)


def _is_fixed(value: object) -> bool:
    if isinstance(value, tuple):
        return all(map(_is_fixed, value))
    return value is None or isinstance(value, str | int | float)


def are_fixed(attributes: Mapping[str, Any]) -> bool:
    """Whether no attribute can be changed in place, as a list can."""
    return isinstance(attributes, Attributes) and attributes.fixed


NO_ATTRIBUTES = Attributes()


@dataclass(frozen=True, slots=True)
class Item:
    """Something that can be recommended.

    Attributes:
        id: Unique in its catalogue.
        title: As people write it, without the year.
        year: Year of release, if known.
        attributes: Anything else: ``genres``, ``directors``, ``cast`` (tuples of
            strings), ``logline``, an image.
    """

    id: str
    title: str = ""
    year: int | None = None
    attributes: Mapping[str, Any] = field(default=NO_ATTRIBUTES, hash=False)

    def __post_init__(self) -> None:
        if not isinstance(self.attributes, Attributes):
            object.__setattr__(self, "attributes", Attributes(self.attributes))

    @property
    def fixed(self) -> bool:
        """Whether no attribute can be changed in place, as a list can."""
        attributes = self.attributes
        return attributes.__class__ is Attributes and attributes.fixed  # pyright: ignore

    @property
    def label(self) -> str:
        """The title with its year, as prompts and reports print it:
        ``Click (2006)``.
        """
        title = self.title or self.id
        return title if self.year is None else f"{title} ({self.year})"


@dataclass(frozen=True, slots=True)
class Scale:
    """The rating scale: both anchors, in the unit of the ratings."""

    low: float = 1.0
    high: float = 5.0

    def __post_init__(self) -> None:
        if not (
            math.isfinite(self.low)
            and math.isfinite(self.high)
            and self.low < self.high
        ):
            raise ValueError(
                f"a rating scale needs two finite anchors, the low one below the high one, "
                f"got low={self.low!r}, high={self.high!r}",
            )

    def unit(self, value: float) -> float:
        """`value` as a share of the scale: 0 at the low anchor, 1 at the high one."""
        return (value - self.low) / (self.high - self.low)


@dataclass(frozen=True, slots=True)
class Rating:
    """One past interaction: the item, its rating on the
    request's scale, and when (Unix s).
    """

    item: Item
    value: float
    timestamp: int | None = None


@dataclass(frozen=True)
class World:
    """The facts beyond the request that a transformation may use: the catalogue and
    histories.

    Attributes:
        catalogue: All items, in the order of their ids.
        histories: The history of every sampled user, by user.
        relevant: Ids of the items held out for every sampled user, by user; for
            transformations that move an item among the candidates, never for the
            recommender.
        neighbours: The items that the same users have, nearest first, by item id; see
            `pytest_recsys_mt.datasets.neighbours.Neighbours`.
        popularity: Training interactions by item id; items without any may be missing.
        kept: The values that a transformation computed of these facts alone, for its
            next request, by its own name.
    """

    catalogue: tuple[Item, ...] = ()
    histories: Mapping[str, tuple[Rating, ...]] = field(default_factory=dict)
    relevant: Mapping[str, frozenset[str]] = field(default_factory=dict)
    neighbours: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    popularity: Mapping[str, int] = field(default_factory=dict)
    kept: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)

    @cached_property
    def ids(self) -> frozenset[str]:
        """Ids of the items of the catalogue."""
        return frozenset(item.id for item in self.catalogue)
