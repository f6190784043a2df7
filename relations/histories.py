"""Changes of a request that several relations share, and
which item of its history to change.
"""

from collections.abc import Callable, Collection

from pytest_recsys_mt.requests import Item, Rating, Request, World
from pytest_recsys_mt.safety.errors import NotApplicable


def revalued(request: Request, value: Callable[[Rating], float]) -> Request:
    """The request with another value of each rating.

    Args:
        request: The request.
        value: Gives the new value of a rating.

    Raises:
        NotApplicable: If the history is empty.
    """
    if not request.history:
        raise NotApplicable("the history is empty")
    history = []
    for rating in request.history:
        history.append(Rating(rating.item, value(rating), rating.timestamp))
    return request.replace(history=tuple(history))


class Changed:
    """Another item for each item, made once for each object: a catalogue's items stand
    in thousands of requests.
    """

    def __init__(self, change: Callable[[Item], Item]) -> None:
        self._change = change
        # By the `id` of the item, which is kept too: an object that is gone leaves its
        # `id` to another.
        self._made: dict[int, tuple[Item, Item]] = {}

    def __call__(self, item: Item) -> Item:
        """The other item."""
        known = self._made.get(id(item))
        if known is None:
            known = (item, self._change(item))
            self._made[id(item)] = known
        _, other = known
        return other


def with_items(request: Request, changed: Callable[[Item], Item]) -> Request:
    """The request with another item for each of its history and its candidates."""
    history = []
    for rating in request.history:
        history.append(Rating(changed(rating.item), rating.value, rating.timestamp))
    candidates = request.candidates
    if candidates is not None:
        candidates = tuple(map(changed, candidates))
    return request.replace(history=tuple(history), candidates=candidates)


def later(history: tuple[Rating, ...], seconds: int) -> tuple[Rating, ...]:
    """The history with all its timestamps moved; a rating without one stays as it is."""
    moved = []
    for rating in history:
        if rating.timestamp is None:
            moved.append(rating)
        else:
            moved.append(Rating(rating.item, rating.value, rating.timestamp + seconds))
    return tuple(moved)


def instructed(request: Request, added: str, what: str = "instruction") -> Request:
    """The request with a sentence after its instruction.

    Args:
        request: The request.
        added: The sentence.
        what: The kind of the sentence, in words.

    Raises:
        NotApplicable: If the instruction has the sentence already.
    """
    if added in request.instruction:
        raise NotApplicable(f"the request already has this {what}")
    return request.replace(instruction=f"{request.instruction} {added}".strip())


def most_effective(
    request: Request,
    world: World,
    change: Callable[[Rating], float],
) -> Rating:
    """The rating whose change has the largest effect: it is large, and the item has
    many neighbours among the offered ones.

    The latest of several ratings with the largest product of both is taken.

    Args:
        request: The request.
        world: Knows the neighbours of each item.
        change: Returns how much a rating can be changed, 0 for one that cannot.

    Raises:
        NotApplicable: If the history is empty, no rating can be changed so, or no
            neighbour of a changed item is offered.
    """
    if not request.history:
        raise NotApplicable("the history is empty")
    changes = [change(rating) for rating in request.history]
    if not any(changes):
        raise NotApplicable("no rating of the history can be changed so")

    known = request.known
    offered = None
    if request.candidates is not None:
        offered = {item.id for item in request.candidates}
    effects = []
    for rating, size in zip(request.history, changes, strict=True):
        if not size:
            effects.append(0.0)
            continue
        may_be_recommended = set(world.neighbours.get(rating.item.id, ())) - known
        if offered is not None:
            may_be_recommended &= offered
        effects.append(size * len(may_be_recommended))
    largest = max(effects)
    if not largest:
        raise NotApplicable("no neighbour of such an item is offered")
    latest = max(place for place, effect in enumerate(effects) if effect == largest)
    return request.history[latest]


def alike(item: str, world: World) -> set[str]:
    """An item and its neighbours."""
    return {item, *world.neighbours.get(item, ())}


def rerated(request: Request, items: Collection[str], value: float) -> Request:
    """The request with another rating of some items, wherever its history has them."""
    return revalued(
        request,
        lambda rating: value if rating.item.id in items else rating.value,
    )
