"""The vocabulary: items, ratings, requests, and the answers to them.

Everything here is frozen, light to import, and imports no other module of the package, so that
relations, recommenders and users' own code can all share it.
"""

from __future__ import annotations

import dataclasses
import math
import operator
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from itertools import chain
from numbers import Integral, Real
from typing import Any, Literal, Protocol, TypedDict, Unpack, runtime_checkable

EntryKind = Literal[
    "candidate", "history", "catalogue", "outside", "unknown", "duplicate", "unparsed"
]
"""The kind of one entry of a text answer.

* ``candidate``: an item that the request offered (without candidates: any item of the catalogue
  that the user is not known to have)
* ``history``: an item that the user is known to have: see `Request.known`
* ``catalogue``: an item of the catalogue that the request did not offer
* ``outside``: an existing title outside the catalogue
* ``unknown``: a title of no known item
* ``duplicate``: an item that this answer has already named
* ``unparsed``: text that names no title
"""

Aspect = Literal["ratings", "history", "candidates", "user", "instruction"]
"""A part of a request that a recommender may or may not read.

* ``ratings``: the values of the ratings, not the items that have them
* ``history``: the history as a whole, and whatever a prompt tells of the user
* ``candidates``: which items are offered
* ``user``: who asks: the name together with the history
* ``instruction``: the additional sentence of the prompt
"""

Promised = Literal["ratings", "recency", "scale"]
"""What a recommender may promise beside what all do, in the attribute ``promises``.

* ``ratings``: every rating counts, and an item the more, the higher it is rated.
* ``recency``: an item counts the more, the later it was chosen.
* ``scale``: what is learnt does not depend on the unit of the ratings that it is fitted to.
"""

UNKNOWN_PREFIX = "unknown:"
"""Titles outside the catalogue are stored in an answer under this prefix and their normal form, so
that two answers with the same unknown film still agree."""


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


def _fixed(attributes: Mapping[str, Any]) -> bool:
    return isinstance(attributes, Attributes) and attributes.fixed


NO_ATTRIBUTES = Attributes()


@dataclass(frozen=True, slots=True)
class Item:
    """Something that can be recommended.

    Attributes:
        id: Unique in its catalogue.
        title: As people write it, without the year.
        year: Year of release, if known.
        attributes: Anything else: ``genres``, ``directors``, ``cast`` (tuples of strings), ``logline``, an image.
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
        return _fixed(self.attributes)

    @property
    def label(self) -> str:
        """The title with its year, as prompts and reports print it: ``Click (2006)``."""
        title = self.title or self.id
        return title if self.year is None else f"{title} ({self.year})"


@dataclass(frozen=True, slots=True)
class Scale:
    """The rating scale: both anchors, in the unit of the ratings."""

    low: float = 1.0
    high: float = 5.0

    def __post_init__(self) -> None:
        if not (math.isfinite(self.low) and math.isfinite(self.high) and self.low < self.high):
            raise ValueError(
                f"a rating scale needs two finite anchors, the low one below the high one, "
                f"got low={self.low!r}, high={self.high!r}"
            )

    def unit(self, value: float) -> float:
        """`value` as a share of the scale: 0 at the low anchor, 1 at the high one."""
        return (value - self.low) / (self.high - self.low)


@dataclass(frozen=True, slots=True)
class Rating:
    """One past interaction: the item, its rating on the request's scale, and when (Unix s)."""

    item: Item
    value: float
    timestamp: int | None = None


@runtime_checkable
class Edit(Protocol):
    """A change to the text of a prompt, applied after rendering.

    Make it a frozen dataclass with plain fields (a rate, a seed): its fields are part of the key
    under which an answer is cached. Its result must depend on them and the text alone, because it is
    called once for all replicates of a request.
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
        candidates: Items to choose from, or None for the whole catalogue except the `known` items.
        k: Number of items to answer with.
        instruction: An additional sentence for recommenders that read text.
        edits: Changes to the rendered prompt, in order; only recommenders that read text see them.
        replicate: The number of this call. The runner sets it; a stochastic recommender may draw its seed from it.
        attributes: Facts about the user (age, occupation); empty by default.
        seen: Ids of items that the user has and `history` does not show, sorted; empty if there are candidates. An
            answer should name none of them: such an entry is not a valid recommendation. Text models do not see them.
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
        """Refuse wrong values here, where the code that made them is in the traceback."""
        for name in names:
            if name in _SOUND:
                given = getattr(self, name)
                sound = _SOUND[name](given)
                if sound is not given:
                    object.__setattr__(self, name, sound)

    @property
    def fixed(self) -> bool:
        """Whether nothing in it can be changed in place, so that its text may be kept."""
        return _fixed(self.attributes) and all(
            _fixed(item.attributes)
            for item in chain((each.item for each in self.history), self.candidates or ())
        )

    @property
    def known(self) -> frozenset[str]:
        """Ids of all items that the user is known to have: the history, and `seen`."""
        return frozenset(rating.item.id for rating in self.history).union(self.seen)

    def replace(self, **changes: Unpack[_Changes]) -> Request:
        """This request with some fields changed."""
        if self.__class__ is not Request or not changes.keys() <= _FIELDS:
            return dataclasses.replace(self, **changes)
        # A run makes thousands: what is not changed has been checked.
        changed = object.__new__(Request)
        for name in _FIELDS:
            value = changes[name] if name in changes else getattr(self, name)  # type: ignore[literal-required]
            object.__setattr__(changed, name, value)
        changed._check(changes)
        return changed


_FIELDS = dict.fromkeys(field.name for field in dataclasses.fields(Request)).keys()


def _sound_k(k: object) -> int:
    if isinstance(k, bool) or not isinstance(k, Integral):
        raise TypeError(f"Request.k must be a whole number from 1, got {k!r}")
    if k < 1:
        raise ValueError(f"k must be at least 1, got {k!r}")
    return k  # type: ignore[return-value]  # an integer of NumPy is one too


def _sound_scale(scale: object) -> Scale:
    if not isinstance(scale, Scale):
        raise TypeError(f"Request.scale must be a Scale, such as Scale(1, 5), got {scale!r}")
    return scale


def _sound_history(history: object) -> tuple[Rating, ...]:
    ratings = _tuple("history", history)
    # The usual classes are known at once.
    for rating in ratings:
        if rating.__class__ is not Rating and not isinstance(rating, Rating):
            raise TypeError(
                f"Request.history holds {rating!r}; each entry is a Rating: Rating(item, value)"
            )
        if rating.item.__class__ is not Item and not isinstance(rating.item, Item):
            raise TypeError(
                f"Request.history holds a rating of {rating.item!r}; what is rated is an Item: Item(id)"
            )
        if rating.value.__class__ is not float and not isinstance(rating.value, Real):
            raise TypeError(
                f"Request.history holds the rating {rating.value!r}; it must be a number"
            )
    return ratings


def _sound_candidates(candidates: object) -> tuple[Item, ...] | None:
    if candidates is None:  # the whole catalogue
        return None
    items = _tuple("candidates", candidates)
    for item in items:
        if item.__class__ is not Item and not isinstance(item, Item):
            raise TypeError(
                f"Request.candidates holds {item!r}; each entry is an Item, as in request.candidates"
            )
    return items


def _sound_edits(edits: object) -> tuple[Edit, ...]:
    functions = _tuple("edits", edits)
    for edit in functions:
        if not callable(edit):
            raise TypeError(
                f"Request.edits holds {edit!r}; each entry is a function from a text to a text"
            )
    return functions


def _sound_attributes(attributes: Mapping[str, Any]) -> Attributes:
    return attributes if isinstance(attributes, Attributes) else Attributes(attributes)


def _tuple(name: str, value: object) -> tuple[Any, ...]:
    if isinstance(value, tuple):
        return value
    if isinstance(value, str) or not isinstance(value, Iterable):
        raise TypeError(f"Request.{name} must be a tuple, got {value!r}")
    return tuple(value)


def _sound_replicate(replicate: object) -> int:
    if isinstance(replicate, bool) or not isinstance(replicate, Integral):
        raise TypeError(f"Request.replicate must be a whole number, got {replicate!r}")
    return int(replicate)


def _text(name: str, value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"Request.{name} must be a text, got {value!r}")
    return value


_SOUND: Mapping[str, Callable[[Any], Any]] = {
    "user": partial(_text, "user"),
    "instruction": partial(_text, "instruction"),
    "replicate": _sound_replicate,
    "k": _sound_k,
    "history": _sound_history,
    "candidates": _sound_candidates,
    "edits": _sound_edits,
    "seen": partial(_tuple, "seen"),
    "scale": _sound_scale,
    "attributes": _sound_attributes,
}
"""What makes a given value of a field sound, or refuses it."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry of a text answer: its text, its kind, and the item it named.

    `item` is an id of the catalogue, an `UNKNOWN_PREFIX` id, or None for unparsed text.
    """

    text: str
    kind: EntryKind
    item: str | None = None


MOST_TOKENS = 10**9
"""No answer takes more tokens: a larger reported number is an error."""


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens that one answer took.

    Attributes:
        prompt_tokens: Tokens of the prompt.
        completion_tokens: Tokens that the model wrote, with its thinking.
        reasoning_tokens: Those of them that it spent on thinking.
        cached_tokens: Those of the prompt that the provider took from its own cache.
    """

    prompt_tokens: int = 0
    completion_tokens: int = 0
    reasoning_tokens: int = 0
    cached_tokens: int = 0

    @classmethod
    def said(
        cls,
        prompt_tokens: object,
        completion_tokens: object,
        reasoning_tokens: object = 0,
        cached_tokens: object = 0,
    ) -> Usage | None:
        """A reported usage; None, which is unknown and not zero, unless all are whole numbers from 0 to `MOST_TOKENS`.

        The last two are parts of the others, 0 if they are None. One that is larger was counted beside its whole, so
        the sum is what was taken.
        """
        parts = (0 if part is None else part for part in (reasoning_tokens, cached_tokens))
        counts = [_count(each) for each in (prompt_tokens, completion_tokens, *parts)]
        prompt, written, thought, cached = (count or 0 for count in counts)
        if None in counts:
            return None
        prompt += cached * (cached > prompt)
        written += thought * (thought > written)
        return cls(prompt, written, thought, cached)


def _count(said: object) -> int | None:
    if isinstance(said, bool):
        return None
    try:
        count = operator.index(said)  # type: ignore[arg-type]
    except TypeError:
        return None
    return count if 0 <= count <= MOST_TOKENS else None


@dataclass(frozen=True, slots=True)
class Recommendation:
    """The answer to one request.

    Attributes:
        items: Item ids, best first, as the recommender gave them (repeats included). Titles outside
            every catalogue have `UNKNOWN_PREFIX` ids.
        entries: For text answers, the kind of each entry.
        text: The raw text, if any.
        usage: Tokens, if counted.
        error: Why there is no answer; such a request is an error case, never an empty list.
        version: The model that answered and its fingerprint, if the recommender reports it.
        how: For text answers, which part was taken for the list and why, in words; of an answer without a
            list, why there is none.
        ambiguous: Whether several of its lists have equal claims, so that none was taken.
    """

    items: tuple[str, ...]
    entries: tuple[Entry, ...] = ()
    text: str | None = None
    usage: Usage | None = None
    error: str | None = None
    version: str | None = None
    how: str = ""
    ambiguous: bool = False

    def __post_init__(self) -> None:
        unordered = isinstance(self.items, str | set | frozenset)
        if unordered or not isinstance(self.items, Iterable):
            raise TypeError(
                f"Recommendation(items) takes a sequence of item ids, best first, got {self.items!r}; "
                f"an answer without items is Recommendation(())"
            )
        if not isinstance(self.items, tuple):
            object.__setattr__(self, "items", tuple(self.items))

    @property
    def unread(self) -> bool:
        """Whether it is a text of which nothing could be read: a refusal, an unknown form, or several lists of
        equal claims. An empty list of JSON is read.
        """
        if self.text is None or self.items or any(entry.item for entry in self.entries):
            return False
        return bool(self.entries) or "[" not in self.text


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a chat.

    Attributes:
        role: Role of the sender.
        content: Its text.
        images: Images before the text, as data URLs; for models with `reads_images`.
    """

    role: Literal["system", "user", "assistant"]
    content: str
    images: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Prompt:
    """A prompt for a text model.

    Attributes:
        messages: The chat so far, ending with the user's message.
        seed: For a model that samples. It depends only on the call (never on batch or worker), so
            another replicate of the same request carries another seed.
        k: Lines that the answer should list; a model may stop after them. None for free text.
        choices: The fixed answers of a multiple-choice question, for a model that can score them.
        schema: The JSON schema of the answer, for an endpoint that enforces one. The messages must
            ask for such JSON too.
    """

    messages: tuple[Message, ...]
    seed: int = 0
    k: int | None = None
    choices: tuple[str, ...] = ()
    schema: Mapping[str, Any] | None = field(default=None, hash=False)


def is_cut_off(finish_reason: str | None) -> bool:
    """Whether something other than the model ended an answer with this `finish_reason`: the limit
    of tokens, or a filter.
    """
    return finish_reason in ("length", "content_filter")


@dataclass(frozen=True, slots=True)
class Completion:
    """The answer of a text model; `text` is None only if `error` says why."""

    text: str | None
    usage: Usage | None = None
    finish_reason: str | None = None
    model: str | None = None
    system_fingerprint: str | None = None
    error: str | None = None


@runtime_checkable
class Recommender(Protocol):
    """Anything that answers requests, a batch at a time, in the order of the batch.

    Optional attributes: ``deterministic: bool`` (False), ``fingerprint: str`` (part of the cache key; without it
    answers are stored for one run only), ``fit(dataset, seed)`` (called once before the first request), ``reads_text:
    bool`` (False; True if it uses `instruction` and `edits`), ``ignores: Collection[Aspect]`` (empty; the parts of a
    request that it does not read). ``promises`` (nothing; ``("ratings",)`` if an item counts the more, the higher it is
    rated, ``("recency",)`` if the latest items count most). For a request that it cannot serve (no candidates, if it
    ranks candidates) it raises `NotApplicable`; any other exception is a failed call of that request.
    """

    def recommend(self, requests: Sequence[Request], /) -> Sequence[Recommendation]:
        """The answers, one per request, in their order."""
        ...


@runtime_checkable
class TextModel(Protocol):
    """Anything that completes prompts, a batch at a time, in the order of the batch.

    Optional attributes: ``fingerprint: str`` and ``ignores`` as in `Recommender`; ``scores_choices: bool`` (False; True
    if it scores `Prompt.choices`); ``reads_images: bool`` (False; True if it sees `Message.images`); ``lists_as_json:
    bool`` (False; True if recommendations are to be asked of it as JSON).
    """

    def complete(self, prompts: Sequence[Prompt], /) -> Sequence[Completion]:
        """The completions, one per prompt, in their order."""
        ...


@dataclass(frozen=True)
class World:
    """The facts beyond the request that a transformation may use: the catalogue and histories.

    Attributes:
        catalogue: All items, in the order of their ids.
        histories: The history of every sampled user, by user.
        relevant: Ids of the items held out for every sampled user, by user; for transformations that
            move an item among the candidates, never for the recommender.
        neighbours: The items that the same users have, nearest first, by item id; see
            `pytest_recsys_mt.datasets.dataset.Neighbours`.
    """

    catalogue: tuple[Item, ...] = ()
    histories: Mapping[str, tuple[Rating, ...]] = field(default_factory=dict)
    relevant: Mapping[str, frozenset[str]] = field(default_factory=dict)
    neighbours: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @cached_property
    def ids(self) -> frozenset[str]:
        """Ids of the items of the catalogue."""
        return frozenset(item.id for item in self.catalogue)
