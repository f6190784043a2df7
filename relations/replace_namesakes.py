"""Items of the history replaced by other items of the same title."""

import dataclasses
from collections.abc import Mapping, Sequence

from pytest_recsys_mt.relations import arguments
from pytest_recsys_mt.relations.drawing import held_out, offered
from pytest_recsys_mt.relations.transformation import (
    Generator,
    Transformation,
    built_in,
    usual,
)
from pytest_recsys_mt.requests import Item, Request, World
from pytest_recsys_mt.safety.errors import NotApplicable

_PROMISES = {
    "namesakes": "The ranking changes when items of the history are replaced by others of the same title.",
    "others": "The ranking changes when items of the history are replaced by others.",
}


@usual("namesakes")
@usual("others")
def replace_namesakes(by: str) -> Transformation:
    """Replace items of the history by other items of the same title.

    Remakes, editions and cover versions share a title except for its case, and are
    items of their own. A recommender that knows items by their titles takes them for
    one, so its answer stays the same.

    `by` says what stands in their places: ``"namesakes"``, the other items of the same
    title, or ``"others"``, for each namesake an item with the same attributes that is
    as popular, if there is one. A recommender whose answer changes with the others, and
    with no namesake, joins items by title. One that reads nothing but attributes
    changes with neither.

    A recommender to which an item is what its title says declares it: ``promises =
    ("titles",)``.

    Items whose namesakes the user has, or is offered, stay. It is not applicable if no
    other item has a namesake.

    Source:
        This project. Of the 351 films of the embedded data, 22 titles belong to two or
        three films.

    Example:
        >>> films = (Item("a", "Heat", 1986), Item("b", "HEAT", 1995), Item("c", "Babe", 1995))
        >>> request = Request("u", history=(Rating(films[0], 4),), scale=Scale(), candidates=None, k=1)
        >>> world = World(catalogue=films)
        >>> followup = replace_namesakes("namesakes")(request, np.random.default_rng(0), world)
        >>> [rating.item.id for rating in followup.history]
        ['b']
    """
    arguments.choice("replace_namesakes", "by", by, tuple(_PROMISES))

    def apply(request: Request, rng: Generator, world: World) -> Request:
        replaced = _replaced(request, world)
        if by == "others":
            replaced = _with_others(replaced, request, world)
        if not replaced:
            raise NotApplicable(
                "no item of the history has a namesake that is new to the user",
            )
        return request.replace(
            history=tuple(
                dataclasses.replace(
                    rating,
                    item=replaced.get(rating.item.id, rating.item),
                )
                for rating in request.history
            ),
        )

    return built_in(
        ("replace_namesakes", by),
        apply=apply,
        promise=_PROMISES[by],
        promises_change=True,
        changes={"history"},
        unless="titles" if by == "namesakes" else (),
    )


def _replaced(request: Request, world: World) -> dict[str, Item]:
    """For each item of the history that has a namesake, the
    first one that is new to the user, by its id.
    """
    namesakes, taken = _namesakes(world), _taken(request, world)
    replaced: dict[str, Item] = {}
    for rating in request.history:
        own = rating.item
        for other in namesakes.get(own.title.casefold(), ()):
            if other.id not in taken and own.id not in replaced:
                replaced[own.id] = other
                taken.add(other.id)
    return replaced


def _with_others(
    replaced: Mapping[str, Item],
    request: Request,
    world: World,
) -> dict[str, Item]:
    """The same items, each replaced by one that is like
    its namesake and has another title.
    """
    titles = {rating.item.title.casefold() for rating in request.history}
    taken = _taken(request, world)
    others: dict[str, Item] = {}
    for own, namesake in replaced.items():
        for item in _most_alike(namesake, world):
            if item.id not in taken and item.title.casefold() not in titles:
                others[own] = item
                taken.add(item.id)
                break
    return others


def _most_alike(item: Item, world: World) -> Sequence[Item]:
    """The catalogue, beginning with the items most like an item: of
    the same attributes first, then as popular.
    """
    name = f"like {item.id}"
    found: Sequence[Item] | None = world.kept.get(name)
    if found is None:
        kinds, popularity = _kinds(world), world.popularity

        def distance(other: Item) -> tuple[bool, int, str]:
            apart = abs(popularity.get(other.id, 0) - popularity.get(item.id, 0))
            return kinds[other.id] != kinds[item.id], apart, other.id

        found = world.kept[name] = sorted(world.catalogue, key=distance)
    return found


def _taken(request: Request, world: World) -> set[str]:
    return {*request.known, *offered(request), *held_out(request, world)}


def _kinds(world: World) -> Mapping[str, str]:
    """The attributes of each item of a catalogue as text, by its id."""
    found: Mapping[str, str] | None = world.kept.get("kinds")
    if found is None:
        found = {
            item.id: repr(sorted(item.attributes.items())) for item in world.catalogue
        }
        world.kept["kinds"] = found
    return found


def _namesakes(world: World) -> Mapping[str, Sequence[Item]]:
    """The items of a catalogue that share a title apart from case, by that title."""
    found: Mapping[str, Sequence[Item]] | None = world.kept.get("namesakes")
    if found is None:
        by_title: dict[str, list[Item]] = {}
        for item in world.catalogue:
            by_title.setdefault(item.title.casefold(), []).append(item)
        found = {
            title: own for title, own in by_title.items() if title and len(own) > 1
        }
        world.kept["namesakes"] = found
    return found
