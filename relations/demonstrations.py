"""One demonstration in the prompt, made from the choices of several other users."""

from typing import Final

from pytest_recsys_mt.errors import NotApplicable
from pytest_recsys_mt.prompt_texts import said
from pytest_recsys_mt.relations import arguments
from pytest_recsys_mt.relations.histories import instructed
from pytest_recsys_mt.relations.sources import AGGREGATED_DEMONSTRATIONS
from pytest_recsys_mt.relations.transformation import Generator, Transformation, built_in, usual
from pytest_recsys_mt.requests import Item, Request, World

DONORS: Final = 16
"""How many users are considered."""

BEFORE: Final = 2
"""Items of each user that the demonstration shows before the one they chose next."""


@usual(1)
@usual(2)
def demonstrations(n: int) -> Transformation:
    """Show in one joint example which items `n` other users chose, and what they chose next.

    There is at least one. The others are those of `DONORS` randomly drawn users whose histories share most with the user's
    own. Each gives the last `BEFORE` + 1 items of the history: the chosen items and the next one.
    The example shows no held-out item of any user, and no candidate of the request.

    It is not applicable to an empty history, if fewer other users have something to show, or if the request already
    has this demonstration.

    Source:
        "The Whole is Better than the Sum: Using Aggregated Demonstrations in In-Context Learning for Sequential
        Recommendation", https://arxiv.org/abs/2403.10135, one of the strategies of https://arxiv.org/abs/2411.00331.
        There, embeddings find the nearest users. The sentences are our own.

    Example:
        >>> mine, theirs = (Rating(Item("a"), 5),), tuple(Rating(Item(x), 4) for x in "abc")
        >>> request = Request("me", mine, Scale(), candidates=(Item("z"),), k=1)
        >>> world = World(histories={"me": mine, "you": theirs})
        >>> demonstrations(1)(request, np.random.default_rng(0), world).instruction
        'For example, users who had chosen a, b chose next: c.'
    """
    users = arguments.count("demonstrations", "n", n)

    def apply(request: Request, rng: Generator, world: World) -> Request:
        if not request.history:
            raise NotApplicable("the history is empty")
        donors = _nearest(request, rng, world)[:users]
        if len(donors) < users:
            raise NotApplicable(f"fewer than {users} other users have something to show")
        before = dict.fromkeys(item.label for donor in donors for item in donor[:-1])
        after = dict.fromkeys(donor[-1].label for donor in donors)
        added = said(
            "instructions.demonstrations", before=", ".join(before), after=", ".join(after)
        )
        return instructed(request, added, "demonstration")

    return built_in(
        ("demonstrations", users),
        apply=apply,
        promise="The answer is not worse when the prompt shows what others chose next.",
        changes={"instruction"},
        needs={"ratings", "text"},
        origin=AGGREGATED_DEMONSTRATIONS,
    )


def _nearest(request: Request, rng: Generator, world: World) -> list[list[Item]]:
    """The latest items of other users, oldest first; the most similar users first."""
    names = sorted(name for name in world.histories if name != request.user)
    own = {rating.item.id for rating in request.history}
    offered = {item.id for item in request.candidates or ()}
    found = []
    for at in rng.permutation(len(names))[:DONORS]:
        history = [
            rating.item for rating in world.histories[names[at]] if rating.item.id not in offered
        ]
        if len(history) >= 2:
            shared = sum(item.id in own for item in history) / len(history)
            found.append((-shared, history[-BEFORE - 1 :]))
    return [history for _, history in sorted(found, key=lambda each: each[0])]
