"""Changes of a request that several relations share, and which item of its history to change."""

from collections.abc import Callable, Collection

from pytest_recsys_mt.requests import Item, Rating, Request, World
from pytest_recsys_mt.safety.errors import NotApplicable


def revalued(request: Request, value: Callable[[Rating], float]) -> Request:
    """The request with another value of each rating."""
    if not request.history:
        raise NotApplicable("the history is empty")
    history = (Rating(one.item, value(one), one.timestamp) for one in request.history)
    return request.replace(history=tuple(history))


class Changed:
    """Another item for each item, made once for each object: a catalogue's items stand in thousands of requests."""

    def __init__(self, change: Callable[[Item], Item]) -> None:
        self._change = change
        self._made: dict[int, tuple[Item, Item]] = {}  # by the id of the item, which is kept beside

    def __call__(self, item: Item) -> Item:
        """The other item."""
        known = self._made.get(id(item))
        if known is None:
            known = self._made[id(item)] = item, self._change(item)
        return known[1]


def with_items(request: Request, changed: Callable[[Item], Item]) -> Request:
    """The request with another item for each of its history and its candidates."""
    history = tuple(Rating(changed(one.item), one.value, one.timestamp) for one in request.history)
    offered = request.candidates
    candidates = None if offered is None else tuple(map(changed, offered))
    return request.replace(history=history, candidates=candidates)


def later(history: tuple[Rating, ...], seconds: int) -> tuple[Rating, ...]:
    """The history with all its timestamps moved."""
    return tuple(
        rating
        if rating.timestamp is None
        else Rating(rating.item, rating.value, rating.timestamp + seconds)
        for rating in history
    )


def instructed(request: Request, added: str, what: str = "instruction") -> Request:
    """The request with a sentence after its instruction."""
    if added in request.instruction:
        raise NotApplicable(f"the request already has this {what}")
    return request.replace(instruction=f"{request.instruction} {added}".strip())


def telling(request: Request, world: World, change: Callable[[Rating], float]) -> Rating:
    """The rating whose change says most: it is large, and the item has many neighbours among the offered ones.

    `change` says how much a rating can be changed, 0 for one that cannot. The latest of several ratings with the largest
    product of both is taken. It is not applicable if the history is empty, no rating can be changed so, or no neighbour
    of a changed item is offered.
    """
    if not request.history:
        raise NotApplicable("the history is empty")
    changes = [change(rating) for rating in request.history]
    if not any(changes):
        raise NotApplicable("no rating of the history can be changed so")
    known = request.known
    offered = None if request.candidates is None else {item.id for item in request.candidates}

    def near(rating: Rating) -> int:
        found = set(world.neighbours.get(rating.item.id, ())) - known
        return len(found if offered is None else found & offered)

    says = [
        change * near(rating) if change else 0.0
        for rating, change in zip(request.history, changes, strict=True)
    ]
    most = max(says)
    if not most:
        raise NotApplicable("no neighbour of such an item is offered")
    return request.history[len(says) - 1 - says[::-1].index(most)]


def alike(item: str, world: World) -> set[str]:
    """An item and its neighbours."""
    return {item, *world.neighbours.get(item, ())}


def rerated(request: Request, items: Collection[str], value: float) -> Request:
    """The request with another rating of some items, wherever its history has them."""
    return revalued(request, lambda rating: value if rating.item.id in items else rating.value)
