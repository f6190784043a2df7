"""A history with some random items added."""

from pytest_recsys_mt.relations import arguments
from pytest_recsys_mt.relations.drawing import strays
from pytest_recsys_mt.relations.sources import LRWORLD
from pytest_recsys_mt.relations.transformation import (
    Generator,
    Transformation,
    call_name,
    usual,
)
from pytest_recsys_mt.requests import Rating, Request, World
from pytest_recsys_mt.safety.errors import NotApplicable

STEPS = (1.0, 0.5)
"""Rating steps to look for, widest first: whole points and half points."""


@usual(1)
@usual(3)
@usual(2, paper=True)
def noisy_profile(n: int, *, paper: bool = False) -> Transformation:
    """Insert `n` random items of the catalogue, at least one, with random ratings, at
    random places of the history.

    The new items are neither in the history nor among the candidates. Their ratings are
    uniform over the scale, in whole or half points if all ratings of the history are
    whole or half points.

    It is not applicable to an empty history, if the catalogue has too few other items,
    or, with `paper`, if no original item would be left.

    Source:
        Robustness to noisy profiles in LRWorld, https://arxiv.org/abs/2512.17389. The
        paper *replaces* an item of the history by one of the item pool, so the length
        stays the same and information is lost as well; `paper` does that.

    Example:
        >>> history = (Rating(Item("a"), 5, 10), Rating(Item("b"), 4, 20))
        >>> request = Request("u", history, Scale(1, 5), candidates=None, k=2)
        >>> world = World(catalogue=(Item("a"), Item("b"), Item("z")))
        >>> followup = noisy_profile(1)(request, np.random.default_rng(5), world)
        >>> [(rating.item.id, rating.value, rating.timestamp) for rating in followup.history]
        [('a', 5, 10), ('z', 3.0, 15), ('b', 4, 20)]
    """
    more = arguments.count("noisy_profile", "n", n)

    def apply(request: Request, rng: Generator, world: World) -> Request:
        if not request.history:
            raise NotApplicable("the history is empty")
        if paper and len(request.history) <= more:
            raise NotApplicable(f"the history has no more than {more} items")
        step = _step(request)
        history = list(request.history)
        places = (
            rng.choice(len(history), more, replace=False) if paper else [None] * more
        )
        for item, place in zip(strays(more, request, rng, world), places, strict=True):
            value = _rating(request, step, rng)
            if place is None:
                at = int(rng.integers(len(history) + 1))
                history.insert(at, Rating(item, value, _between(history, at)))
            else:
                history[place] = Rating(item, value, history[place].timestamp)
        return request.replace(history=tuple(history))

    return Transformation(
        name=call_name("noisy_profile", more, paper=paper),
        apply=apply,
        promise="The answer hardly changes when the history contains a few random items.",
        changes=frozenset({"history"}),
        needs=frozenset({"ratings"}),
        origin=LRWORLD,
    )


def _step(request: Request) -> float | None:
    """The widest of `STEPS` on which the scale and all
    ratings lie, None for finer ratings.
    """
    low, high = request.scale.low, request.scale.high
    points = [high, *(rating.value for rating in request.history)]
    fits = lambda step: all(
        float((point - low) / step).is_integer() for point in points
    )
    return next(filter(fits, STEPS), None)


def _rating(request: Request, step: float | None, rng: Generator) -> float:
    low, high = request.scale.low, request.scale.high
    if step is None:
        return float(rng.uniform(low, high))
    return low + step * int(rng.integers(round((high - low) / step) + 1))


def _between(history: list[Rating], at: int) -> int | None:
    moments = [
        rating.timestamp
        for rating in history[max(at - 1, 0) : at + 1]
        if rating.timestamp is not None
    ]
    return sum(moments) // len(moments) if moments else None
