"""What a relation's transformation is, with the promise it makes and what it needs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from pytest_recsys_mt.requests import Request, World

if TYPE_CHECKING:
    from numpy.random import Generator

Asked = Literal["together", "alone", "elsewhere"]
"""How calls are sent: as one batch with those of other users, each by itself, or by another process,
in which the recommender is made anew."""

Need = Literal["ratings", "candidates", "text"]
"""What a request or a recommender must have: ratings in the history, candidates to choose from, or
a recommender that reads text."""

NO_WORLD = World()


@dataclass(frozen=True)
class Transformation:
    """A named `(request, rng) -> request`.

    Attributes:
        name: The call that makes it, ``scale_ratings(2)``; the same for equal arguments.
        apply: Draws from the given generator only. Raises `NotApplicable` for requests it cannot
            serve.
        promise: What must be true of the two answers, as one sentence.
        needs: See `Need`.
        origin: The paper or page it comes from.
        same_seed: The follow-up is asked anew with the seeds of the source; this is how the same
            request, asked twice, becomes a relation.
        may_keep: A request that it leaves as it is is a follow-up too; elsewhere the relation is
            not applicable to it.
        asked: How the follow-up is asked; see `Asked`.
        before: Makes of the follow-up another request, which is sent right before it; its answer is
            nobody's. For what is asked alone.
    """

    name: str
    apply: Callable[[Request, Generator, World], Request] = field(repr=False, compare=False)
    promise: str = ""
    needs: frozenset[Need] = frozenset()
    origin: str = ""
    same_seed: bool = False
    may_keep: bool = False
    asked: Asked = "together"
    before: Callable[[Request, Generator, World], Request] | None = field(
        default=None, repr=False, compare=False
    )

    def __call__(self, request: Request, rng: Generator, world: World = NO_WORLD) -> Request:
        """The follow-up request.

        Raises:
            NotApplicable: If the request lacks what the transformation needs.
        """
        return self.apply(request, rng, world)


def call_name(function: str, *positional: Any, **keywords: Any) -> str:
    """The call as text, ``typos(0.1)``; keywords are given only where they differ from defaults."""
    parts = [_plain(value) for value in positional]
    parts += [f"{key}={_plain(value)}" for key, value in keywords.items()]
    return f"{function}({', '.join(parts)})"


def _plain(value: Any) -> str:
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return repr(value)
