"""The items of a request, their ratings, and the request to a recommender: wrong values
are refused where they are given.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property, partial
from itertools import chain
from numbers import Integral, Real
from typing import Any, Protocol, TypedDict, Unpack, runtime_checkable


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


# A tuple: `isinstance` takes twice as long with a union, and is called for each item.
_FIXED = (str, int, float)


def _is_fixed(value: object) -> bool:
    if isinstance(value, tuple):
        return all(map(_is_fixed, value))
    return value is None or isinstance(value, _FIXED)


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
        withheld: Ids of the other items that the data keep from a sampled user, by user:
            neither in the history nor candidates.
        kept: The values that a transformation computed of these facts alone, for its
            next request, by its own name.
    """

    catalogue: tuple[Item, ...] = ()
    histories: Mapping[str, tuple[Rating, ...]] = field(default_factory=dict)
    relevant: Mapping[str, frozenset[str]] = field(default_factory=dict)
    neighbours: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    popularity: Mapping[str, int] = field(default_factory=dict)
    withheld: Mapping[str, frozenset[str]] = field(default_factory=dict)
    kept: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)

    @cached_property
    def ids(self) -> frozenset[str]:
        """Ids of the items of the catalogue."""
        return frozenset(item.id for item in self.catalogue)


@runtime_checkable
class Edit(Protocol):
    """A change to the text of a prompt, applied after rendering.

    Make it a frozen dataclass with plain fields (a rate, a seed): its fields are part
    of the key under which an answer is cached. Its result must depend on them and the
    text alone, because it is called once for all replicates of a request.
    """

    def __call__(self, text: str, /) -> str:
        """The changed text."""
        ...


class _Changes(TypedDict, total=False):
    user: str
    history: tuple[Rating, ...]
    scale: Scale
    candidates: tuple[Item, ...] | None
    k: int
    instruction: str
    edits: tuple[Edit, ...]
    replicate: int
    attributes: Mapping[str, Any]
    seen: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Request:
    """One question to a recommender.

    Attributes:
        user: Id of the user. Recommenders answer for `history`, not for this name.
        history: Past interactions, oldest first.
        scale: The scale of the ratings in `history`.
        candidates: Items to choose from, or None for the whole catalogue except the
            `known` items.
        k: Number of items to answer with.
        instruction: An additional sentence for recommenders that read text.
        edits: Changes to the rendered prompt, in order; only recommenders that read
            text see them.
        replicate: The number of this call. The runner sets it; a stochastic recommender
            may draw its seed from it.
        attributes: Facts about the user (age, occupation); empty by default.
        seen: Ids of items that the user has and `history` does not show, sorted; empty
            if there are candidates. An answer should name none of them: such an entry
            is not a valid recommendation. Text models do not see them, so against those
            they do not count.
    """

    user: str
    history: tuple[Rating, ...]
    scale: Scale
    candidates: tuple[Item, ...] | None
    k: int
    instruction: str = ""
    edits: tuple[Edit, ...] = ()
    replicate: int = 0
    attributes: Mapping[str, Any] = field(default=NO_ATTRIBUTES, hash=False)
    seen: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        self._check(_SOUND)

    def _check(self, names: Iterable[str]) -> None:
        """Refuse wrong values here, where the code that made them is in
        the traceback.
        """
        for name in names:
            if name in _SOUND:
                given = getattr(self, name)
                sound = _SOUND[name](given)
                if sound is not given:
                    object.__setattr__(self, name, sound)

    @property
    def fixed(self) -> bool:
        """Whether nothing in it can be changed in place, so that its
        text may be kept.
        """
        items = chain((each.item for each in self.history), self.candidates or ())
        return are_fixed(self.attributes) and all(item.fixed for item in items)

    @property
    def known(self) -> frozenset[str]:
        """Ids of all items that the user is known to have: the history, and `seen`."""
        return frozenset(rating.item.id for rating in self.history).union(self.seen)

    def replace(self, **changes: Unpack[_Changes]) -> Request:
        """This request with some fields changed."""
        if self.__class__ is not Request or not changes.keys() <= _FIELDS:
            return dataclasses.replace(self, **changes)
        # A run makes thousands: unchanged values have been checked.
        changed = object.__new__(Request)
        for name in _FIELDS:
            value = changes[name] if name in changes else getattr(self, name)  # type: ignore[literal-required]
            object.__setattr__(changed, name, value)
        changed._check(changes)
        return changed


_FIELDS = dict.fromkeys(field.name for field in dataclasses.fields(Request)).keys()


def _whole(name: str, least: int | None, value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, Integral):
        limit = "" if least is None else f" from {least}"
        raise TypeError(f"Request.{name} must be a whole number{limit}, got {value!r}")
    if least is not None and value < least:
        raise ValueError(f"{name} must be at least {least}, got {value!r}")
    return int(value)


def _sound_scale(scale: object) -> Scale:
    if not isinstance(scale, Scale):
        raise TypeError(
            f"Request.scale must be a Scale, such as Scale(1, 5), got {scale!r}",
        )
    return scale


def _sound_history(history: object) -> tuple[Rating, ...]:
    ratings = _each("history", history, Rating, "a Rating: Rating(item, value)")
    for rating in ratings:
        if rating.item.__class__ is not Item and not isinstance(rating.item, Item):
            raise TypeError(
                f"Request.history holds a rating of {rating.item!r}; what is rated is an Item: Item(id)",
            )
        if rating.value.__class__ is not float and not isinstance(rating.value, Real):
            raise TypeError(
                f"Request.history holds the rating {rating.value!r}; it must be a number",
            )
    return ratings


def _tuple(name: str, value: object) -> tuple[Any, ...]:
    if isinstance(value, tuple):
        return value
    if isinstance(value, str) or not isinstance(value, Iterable):
        raise TypeError(f"Request.{name} must be a tuple, got {value!r}")
    return tuple(value)


def _each(name: str, value: object, kind: type, means: str) -> tuple[Any, ...]:
    entries = _tuple(name, value)
    for entry in entries:
        # The usual classes are known at once.
        if entry.__class__ is not kind and not isinstance(entry, kind):
            raise TypeError(f"Request.{name} holds {entry!r}; each entry is {means}")
    return entries


def _text(name: str, value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"Request.{name} must be a text, got {value!r}")
    return value


_SOUND: Mapping[str, Callable[[Any], Any]] = {
    "user": partial(_text, "user"),
    "instruction": partial(_text, "instruction"),
    "replicate": partial(_whole, "replicate", None),
    "k": partial(_whole, "k", 1),
    "history": _sound_history,
    "candidates": lambda given: (
        None
        if given is None
        else _each("candidates", given, Item, "an Item, as in request.candidates")
    ),
    "edits": partial(
        _each,
        "edits",
        kind=Callable,  # type: ignore[arg-type]
        means="a function from a text to a text",
    ),
    "seen": partial(_tuple, "seen"),
    "scale": _sound_scale,
    "attributes": lambda given: (
        given if isinstance(given, Attributes) else Attributes(given)
    ),
}
"""The function that makes a given value of a field sound, or refuses it."""
