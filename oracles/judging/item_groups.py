"""Groups of items, made from the catalogue and the training data alone."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pytest_recsys_mt.oracles.judging.slices import ITEMS, SWITCH
from pytest_recsys_mt.oracles.similarities.similarity import choices
from pytest_recsys_mt.requests import Item
from pytest_recsys_mt.safety.errors import OracleError
from pytest_recsys_mt.verdict.answers import Context

MOST = 10
"""The most groups of an attribute: those with the most items. The items of all others
are the group `OTHERS`.
"""

OTHERS = "others"

SHARE = 0.2
"""The share of the training interactions that the tail and the head hold at most."""

POPULARITY = "popularity"
"""The slicing by training interactions."""


@dataclass(frozen=True)
class ItemGroup:
    """Some of the items of the catalogue.

    Attributes:
        slicing: The division of the items, with `ITEMS`.
        value: The group's own name.
        items: The ids of its items.
    """

    slicing: str
    value: str
    items: frozenset[str]


def require_item_slicings(names: Sequence[str], items: Mapping[str, Item]) -> None:
    """Check the slicings of items that a run is given against the catalogue."""
    for name in names:
        attribute = name.removeprefix(ITEMS)
        if attribute != POPULARITY:
            _of_attribute(attribute, name, SWITCH, items)


def divided(name: str, where: str, context: Context) -> dict[str, set[str]]:
    """The ids of the items of each group."""
    attribute = name.removeprefix(ITEMS)
    if attribute != POPULARITY:
        return _of_attribute(attribute, name, where, context.items)
    if not any(context.popularity.values()):
        raise OracleError(
            f"{where}: {name!r} cannot divide the items, because no training interactions are known; divide them by "
            f"an attribute, such as {ITEMS}genres",
        )
    counts = {item: context.popularity.get(item, 0) for item in context.items}
    counts |= context.popularity
    return popularity_groups(counts)


def _of_attribute(
    attribute: str,
    name: str,
    where: str,
    items: Mapping[str, Item],
) -> dict[str, set[str]]:
    """The items of each value of an attribute, of the `MOST` values with the most
    items; the others are one group. An item of several values is in each.
    """
    by_value: dict[str, set[str]] = defaultdict(set)
    for item in items.values():
        for value in _values(item.attributes.get(attribute)):
            by_value[value].add(item.id)
    if not by_value:
        known = {name for item in items.values() for name in item.attributes}
        names = [POPULARITY, *sorted(known - {POPULARITY})]
        raise OracleError(
            f"{where}: {name!r} cannot divide the items, because no item of the catalogue has the attribute "
            f"{attribute!r}; {choices(attribute, names)}, each after {ITEMS!r}",
        )
    order = sorted(by_value, key=lambda value: (-len(by_value[value]), value))
    groups = {value: by_value[value] for value in sorted(order[:MOST])}
    rest: set[str] = set()
    for value in order[MOST:]:
        rest |= by_value[value]
    if rest:
        groups[OTHERS] = groups.get(OTHERS, set()) | rest
    return groups


def _values(value: object) -> list[str]:
    """The values of an attribute of an item, each as a text."""
    if value is None:
        return []
    several = value if isinstance(value, list | tuple | set | frozenset) else [value]
    return [text for text in map(str, several) if text.strip()]


def popularity_groups(counts: Mapping[str, int]) -> dict[str, set[str]]:
    """Items by their number of training interactions.

    ``cold`` items have none. The ``tail`` are the items with the fewest that together
    hold at most 20 % of all interactions, the ``head`` those with the most that hold at
    most 20 %, and the ``middle`` are the others. Items with the same number are in the
    same group; the tail has at least those with the lowest number, and the head those
    with the highest of the others.
    """
    most = SHARE * sum(counts.values())
    items_with = Counter(count for count in counts.values() if count)
    ascending = sorted(items_with)
    tail = _least(ascending, items_with, most)
    head = _least(
        [each for each in ascending[::-1] if each not in tail], items_with, most
    )
    groups: dict[str, set[str]] = defaultdict(set)
    for item, count in counts.items():
        name = "middle"
        if not count:
            name = "cold"
        elif count in tail:
            name = "tail"
        elif count in head:
            name = "head"
        groups[name].add(item)
    order = ("cold", "tail", "middle", "head")
    return {name: groups[name] for name in order if name in groups}


def _least(
    counts: Sequence[int],
    items_with: Mapping[int, int],
    most: float,
) -> set[int]:
    """The first of some numbers of interactions whose items together hold at most
    `most`; at least the first.
    """
    taken: set[int] = set()
    held = 0
    for count in counts:
        held += count * items_with[count]
        if taken and held > most:
            break
        taken.add(count)
    return taken
