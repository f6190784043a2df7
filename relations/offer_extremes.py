"""The items at the ends of the catalogue as candidates.

A mean over users cannot see that one item of a thousand is never recommended. So each
user is offered the items that are lost first: the first and the last by id, the
smallest and the largest number as an id, the most and the least popular of the training
data, the oldest and the newest, those whose title another item has too except for its
case, and those whose title has other than ASCII letters. As many items are asked for as
are offered, so a list without one of them is too short.

It is not applicable if there are no candidates, or if fewer than two such items are
left outside the history.

Source:
    This project, after faults of libraries:
    https://github.com/benfred/implicit/issues/316 never recommends the item with the
    index 0.

Example:
    >>> films = tuple(Item(str(n), f"Film {n}", 1990 + n) for n in range(9))
    >>> request = Request("u", history=(), scale=Scale(), candidates=films[3:5], k=1)
    >>> world = World(catalogue=films, popularity={"4": 7, "5": 1})
    >>> followup = offer_extremes(request, np.random.default_rng(0), world)
    >>> sorted(item.id for item in followup.candidates), followup.k
    (['0', '1', '4', '5', '7', '8'], 6)
"""

from collections.abc import Iterator, Sequence

from pytest_recsys_mt.relations.transformation import Generator, transformation
from pytest_recsys_mt.requests import Item, Request, World
from pytest_recsys_mt.safety.errors import NotApplicable

_OF_EACH = 2
"""Items of each kind."""


@transformation(
    promise="Each of the items at the ends of the catalogue can be recommended.",
    changes={"candidates", "k"},
)
def offer_extremes(request: Request, rng: Generator, world: World) -> Request:
    if request.candidates is None:
        raise NotApplicable("there are no candidates")
    barred = request.known | world.withheld.get(request.user, frozenset())
    offered = [item for item in extremes(world) if item.id not in barred]
    if len(offered) < 2:
        raise NotApplicable(
            "fewer than two items at the ends of the catalogue are new to the user",
        )
    order = rng.permutation(len(offered))
    return request.replace(
        candidates=tuple(offered[at] for at in order),
        k=len(offered),
    )


def extremes(world: World) -> Sequence[Item]:
    """The items of a catalogue that are lost first, each once."""
    found = world.kept.get("extremes")
    if found is None:
        found = world.kept["extremes"] = [*{i.id: i for i in _extremes(world)}.values()]
    return found


def _extremes(world: World) -> Iterator[Item]:
    items = world.catalogue
    yield from _ends(items)
    yield from _ends(
        sorted((i for i in items if i.id.isdecimal()), key=lambda item: int(item.id)),
    )
    rated = [item for item in items if world.popularity.get(item.id)]
    yield from _ends(sorted(rated, key=lambda item: world.popularity[item.id]))
    yield from _ends(
        sorted((i for i in items if i.year is not None), key=lambda i: i.year or 0),
    )
    named: dict[str, list[Item]] = {}
    for item in items:
        named.setdefault(item.title.casefold(), []).append(item)
    namesakes = [own for title, own in named.items() if title and len(own) > 1]
    for own in namesakes[:_OF_EACH]:
        yield from own[:_OF_EACH]
    yield from [item for item in items if not item.title.isascii()][:_OF_EACH]


def _ends(ordered: Sequence[Item]) -> Iterator[Item]:
    yield from ordered[:_OF_EACH]
    yield from ordered[-_OF_EACH:]
