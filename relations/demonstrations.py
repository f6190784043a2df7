"""One demonstration in the prompt, made from the choices of several other users."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

from pytest_recsys_mt.llm.prompt_texts import said
from pytest_recsys_mt.relations import arguments
from pytest_recsys_mt.relations.histories import instructed
from pytest_recsys_mt.relations.sources import AGGREGATED_DEMONSTRATIONS
from pytest_recsys_mt.relations.transformation import (
    Generator,
    Transformation,
    built_in,
    call_name,
    usual,
)
from pytest_recsys_mt.requests import Item, Request, World
from pytest_recsys_mt.safety.errors import NotApplicable, RelationError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

DONORS: Final = 16
"""How many users are considered."""

BEFORE: Final = 2
"""Items of each user that the demonstration shows before the one they chose next."""


@usual(1)
@usual(2)
def demonstrations(
    n: int,
    *,
    embed: Callable[[list[str]], ArrayLike] | None = None,
) -> Transformation:
    """Show in one joint example which items `n` other users chose, and what they chose
    next.

    There is at least one. The others are those of `DONORS` randomly drawn users whose
    histories share most with the user's own; with `embed`, those whose histories, as
    texts, have the nearest vectors (cosine). `embed` gives the vectors of several
    texts, shape (texts, dimensions), such as ``SentenceTransformer(NAME).encode``. Each
    user gives the last `BEFORE` + 1 items of the history: the chosen items and the next
    one. The example shows no held-out item of any user, and no candidate of the
    request.

    It is not applicable to an empty history, if fewer other users have something to
    show, or if the request already has this demonstration.

    Source:
        "The Whole is Better than the Sum: Using Aggregated Demonstrations in In-Context
        Learning for Sequential Recommendation", https://arxiv.org/abs/2403.10135, one
        of the strategies of https://arxiv.org/abs/2411.00331. There, embeddings find
        the nearest users. The sentences are our own.

    Raises:
        RelationError: If `embed` has no name, or, when a request is made, does not give
            such vectors.

    Example:
        >>> mine, theirs = (Rating(Item("a"), 5),), tuple(Rating(Item(x), 4) for x in "abc")
        >>> request = Request("me", mine, Scale(), candidates=(Item("z"),), k=1)
        >>> world = World(histories={"me": mine, "you": theirs})
        >>> demonstrations(1)(request, np.random.default_rng(0), world).instruction
        'For example, users who had chosen a, b chose next: c.'
    """
    users = arguments.count("demonstrations", "n", n)
    by = {} if embed is None else {"embed": getattr(embed, "__name__", "")}
    if not all(name.isidentifier() for name in by.values()):
        raise RelationError(
            f"demonstrations: embed must be a function with a name, got {embed!r}",
        )

    def apply(request: Request, rng: Generator, world: World) -> Request:
        if not request.history:
            raise NotApplicable("the history is empty")
        donors = _nearest(request, rng, world, embed)[:users]
        _require_enough(donors, users)
        return instructed(request, _sentence(donors), "demonstration")

    return built_in(
        call_name("demonstrations", users, **by),
        apply=apply,
        promise="The answer is not worse when the prompt shows what others chose next.",
        changes={"instruction"},
        needs={"ratings", "text"},
        origin=AGGREGATED_DEMONSTRATIONS,
    )


def _require_enough(donors: Sequence[Sequence[Item]], users: int) -> None:
    if len(donors) < users:
        raise NotApplicable(f"fewer than {users} other users have something to show")


def _sentence(donors: Sequence[Sequence[Item]]) -> str:
    """The donors' choices and their next ones, as the prompt says them."""
    before = dict.fromkeys(item.label for donor in donors for item in donor[:-1])
    after = dict.fromkeys(donor[-1].label for donor in donors)
    return said(
        "instructions.demonstrations",
        before=", ".join(before),
        after=", ".join(after),
    )


def _nearest(
    request: Request,
    rng: Generator,
    world: World,
    embed: Callable[[list[str]], ArrayLike] | None,
) -> list[list[Item]]:
    names = sorted(name for name in world.histories if name != request.user)
    own = {rating.item.id for rating in request.history}
    offered = {item.id for item in request.candidates or ()}
    histories, shares = [], []
    for at in rng.permutation(len(names))[:DONORS]:
        history = [
            rating.item
            for rating in world.histories[names[at]]
            if rating.item.id not in offered
        ]
        if len(history) >= 2:
            histories.append(history)
            shares.append(sum(item.id in own for item in history) / len(history))
    if embed is not None and histories:
        shares = _cosines(
            embed,
            [[rating.item for rating in request.history], *histories],
        )
    nearest = sorted(range(len(shares)), key=lambda each: -shares[each])
    return [histories[each][-BEFORE - 1 :] for each in nearest]


def _cosines(
    embed: Callable[[list[str]], ArrayLike],
    histories: Sequence[Sequence[Item]],
) -> list[float]:
    import numpy as np

    texts = [", ".join(item.label for item in history) for history in histories]
    vectors = np.asarray(embed(texts), dtype=float)
    if (
        vectors.ndim != 2
        or len(vectors) != len(texts)
        or not np.isfinite(vectors).all()
    ):
        raise RelationError(
            f"demonstrations: embed must give {len(texts)} vectors of finite numbers for {len(texts)} texts, got an "
            f"array of shape {vectors.shape}",
        )
    lengths = np.linalg.norm(vectors, axis=1)
    cosines: list[float] = (
        vectors[1:] @ vectors[0] / np.maximum(lengths[1:], 1e-12)
    ).tolist()
    return cosines
