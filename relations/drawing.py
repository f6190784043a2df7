"""Random draws that several relations share; they use only
the given generator or a stored seed.
"""

import random
import re
from collections.abc import Callable, Hashable
from itertools import count

from pytest_recsys_mt.relations.transformation import Generator
from pytest_recsys_mt.requests import Item, Request, World
from pytest_recsys_mt.safety.errors import NotApplicable


def new_order(keys: tuple[Hashable, ...], rng: Generator) -> list[int]:
    """A permutation of the positions of `keys`, uniform among those that change their
    sequence.

    At least two keys must differ. Two different ones take two draws on average, more
    keys take fewer.
    """
    while True:
        order = [int(position) for position in rng.permutation(len(keys))]
        if tuple(keys[position] for position in order) != keys:
            return order


def offered(request: Request) -> set[str]:
    """Ids of the candidates of a request."""
    return {item.id for item in request.candidates or ()}


def held_out(request: Request, world: World) -> frozenset[str]:
    """Ids of the items that are held out of the user of a request."""
    user = request.user
    asked = world.relevant.get(user, frozenset())
    return asked | world.withheld.get(user, frozenset())


def strays(n: int, request: Request, rng: Generator, world: World) -> list[Item]:
    """`n` items of the catalogue, in a random order, that are neither candidates nor
    known items of the user, nor held out of the user.
    """
    known = request.known | offered(request)
    barred = known | held_out(request, world)
    # At least n of n + len(barred) different items are strays. Mostly n + len(known) are
    # enough, and what is held out does not change their draw then.
    for most in (n + len(known), n + len(barred)):
        size = min(len(world.catalogue), most)
        drawn = rng.choice(len(world.catalogue), size, replace=False) if size else ()
        items = [world.catalogue[at] for at in drawn]
        found = [item for item in items if item.id not in barred][:n]
        if len(found) == n:
            return found
    others = "the history and candidates"
    if barred > known:
        others = "the history, the candidates and what is held out"
    raise NotApplicable(f"the catalogue has too few items beyond {others}")


def edit_seed(rng: Generator) -> int:
    """The seed of a prompt edit, a plain integer below 2**63."""
    return int(rng.integers(2**63))


def here_and_there(
    text: str,
    pattern: re.Pattern[str],
    change: Callable[[str, random.Random], str],
    rate: float,
    seed: int,
) -> str:
    """`text` with each match of `pattern` changed with probability `rate`, and at least
    one if there is any.

    An unchanged text would be asked twice and test nothing. Of the draws, only the
    `random` method is used, because Python promises never to change it.
    """
    draws = random.Random(seed)
    places = len(pattern.findall(text))
    chosen = {place for place in range(places) if draws.random() < rate} or {
        below(places, draws),
    }
    numbers = count()
    return pattern.sub(
        lambda match: change(match[0], draws) if next(numbers) in chosen else match[0],
        text,
    )


def below(n: int, draws: random.Random) -> int:
    """A uniform integer in [0, n)."""
    return int(draws.random() * n)
