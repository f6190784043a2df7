"""A fault that can be planted around any recommender: its
effect, its strengths, and a test that finds it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

from pytest_recsys_mt.faults.cure import Cure
from pytest_recsys_mt.requests import (
    UNKNOWN_PREFIX,
    Entry,
    Item,
    Recommendation,
    Request,
)
from pytest_recsys_mt.requests.design import generator

if TYPE_CHECKING:
    from numpy.random import Generator

Ask = Callable[[Sequence[Request]], list[Recommendation]]
"""Sends requests to the sound recommender; one answer per request, in their order."""


@dataclass(frozen=True)
class Known:
    """The facts that a fault may use in addition to the requests.

    Attributes:
        items: The catalogue, by id.
        popularity: How many users have each item, by id.
        users: Ids of the users in the training data.
        seed: Seed of the run.
    """

    items: Mapping[str, Item] = field(default_factory=dict)
    popularity: Mapping[str, int] = field(default_factory=dict)
    users: frozenset[str] = frozenset()
    seed: int = 0


class Fault:
    """A fault of a recommender, of a given strength. Make your own by a subclass.

    Override `request` (changes the request that the recommender receives), `answer`
    (changes its list), or, for a fault with a memory or of a whole batch, `recommend`.
    An answer costs no further call of the recommender; a changed request does.
    Everything that is drawn comes from `chance` or `rng`, so that a run can be
    repeated.

    Attributes:
        does: Its effect, in words that follow "the recommender"; ``{strength:g}``
            stands for the strength, ``{share}`` for the strength as a percentage.
        strengths: From the weakest to the whole fault.
        cure: The test that finds it, ready to paste.
        deterministic: The value that the recommender then declares; None leaves it as
            it is.
        asks_more: Whether the sound recommender is sent other requests than the
            test's; None: if `request` is overridden.

    Args:
        strength: One of `strengths`.
        known: The facts that it may use.
    """

    does: ClassVar[str] = ""
    strengths: ClassVar[tuple[float, ...]] = (1.0,)
    cure: ClassVar[Cure | None] = None
    deterministic: ClassVar[bool | None] = None
    asks_more: ClassVar[bool | None] = None

    def __init__(self, strength: float, known: Known) -> None:
        self.strength = strength
        self.known = known

    @classmethod
    def words(cls, strength: float) -> str:
        """The effect of the fault at a strength, in words."""
        return cls.does.format(strength=strength, share=f"{strength:.0%}")

    @classmethod
    def costs(cls) -> bool:
        """Whether the sound recommender is sent other requests than the tests'."""
        return (
            cls.request is not Fault.request if cls.asks_more is None else cls.asks_more
        )

    def request(self, request: Request) -> Request:
        """The request that the recommender receives."""
        return request

    def answer(self, request: Request, items: tuple[str, ...]) -> tuple[str, ...]:
        """The list with the fault, best first, for a request as the test sent it."""
        return items

    def recommend(self, requests: Sequence[Request], ask: Ask) -> list[Recommendation]:
        """The answers to requests as the tests sent them; failed ones stay as they are.

        `ask` sends requests to the sound recommender.
        """
        answers = ask([self.request(request) for request in requests])
        return [
            having(request, answer, self.answer(request, answer.items))
            for request, answer in zip(requests, answers, strict=True)
        ]

    def chance(self, *parts: str | int) -> float:
        """A number in [0, 1) that depends on `parts`, the
        seed and the kind of the fault alone.
        """
        text = repr((self.known.seed, type(self).__name__, *parts))
        return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big") / 2**64

    def hits(self, *parts: str | int) -> bool:
        """True for the share `strength` of all `parts`."""
        return self.chance(*parts) < self.strength

    def rng(self, *parts: str | int) -> Generator:
        """A generator that depends on `parts`, the seed
        and the kind of the fault alone.
        """
        return generator(self.known.seed, type(self).__name__, *parts)

    def offered(self, request: Request, items: Sequence[str] = ()) -> list[str]:
        """Ids that a list may name: `items` first, then the other candidates, or the
        most popular of the catalogue.
        """
        if request.candidates is not None:
            others: Iterable[str] = (item.id for item in request.candidates)
        else:
            others = (item for item in self._popular if item not in request.known)
        return list(dict.fromkeys((*items, *others)))

    def by_popularity(self, items: Iterable[str]) -> list[str]:
        """The items, the most popular first."""
        counts = self.known.popularity
        return sorted(items, key=lambda item: (-counts.get(item, 0), item))

    @cached_property
    def _popular(self) -> list[str]:
        return self.by_popularity(self.known.items)[:500]


def content(request: Request) -> str:
    """The content of a request, in its order, without its user and its replicate."""
    history = [(rating.item.id, rating.value) for rating in request.history]
    offered = (
        None if request.candidates is None else [item.id for item in request.candidates]
    )
    edits = list(map(repr, request.edits))
    return repr(
        (history, request.scale, offered, request.k, request.instruction, edits),
    )


def having(
    request: Request,
    answer: Recommendation,
    items: Sequence[str],
) -> Recommendation:
    """`answer` with other items; its entries follow, and
    a failed answer stays as it is.
    """
    if answer.error is not None or tuple(items) == answer.items:
        return answer
    if not answer.entries:
        return replace(answer, items=tuple(items))
    known = {
        entry.item: entry
        for entry in answer.entries
        if entry.item and entry.kind != "duplicate"
    }
    offered = (
        None if request.candidates is None else {item.id for item in request.candidates}
    )

    def added(item: str) -> Entry:
        if item.startswith(UNKNOWN_PREFIX):
            return Entry(item, "unknown", item)
        if item in request.known:
            return Entry(item, "history", item)
        return Entry(
            item,
            "candidate" if offered is None or item in offered else "catalogue",
            item,
        )

    entries = [entry for entry in answer.entries if entry.item is None]
    named: set[str] = set()
    for item in items:
        entry = known.get(item) or added(item)
        entries.append(replace(entry, kind="duplicate") if item in named else entry)
        named.add(item)
    return replace(answer, items=tuple(items), entries=tuple(entries))
