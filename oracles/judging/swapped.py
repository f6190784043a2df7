"""Lists that differ in the order of neighbours alone: the mark of rounded scores, and
of another order of equal ones.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pytest_recsys_mt.oracles.judging.list_changes import first_list
from pytest_recsys_mt.oracles.judging.trait_table import MOST
from pytest_recsys_mt.verdict.answers import Asked

FEWEST_LISTS = 3
FEWEST_PAIRS = 10
"""So few pairs of neighbours that changed places do not show an order of ids: the
probability that all of 10 have one order by chance is 0.002.
"""


def swapped_neighbours(
    source: Sequence[Asked],
    followup: Sequence[Asked],
) -> str:
    """A sentence on lists in which items only change places with a neighbour; empty if
    most changed lists differ in another way.

    An item may also leave the last place for the one that would have been next.

    Args:
        source: The answers of users whose lists changed, to the original request.
        followup: Those to the transformed one.
    """
    pairs: list[tuple[str, str]] = []
    lists = swapped = changed = 0
    for before, after in zip(source, followup, strict=True):
        ours, theirs = first_list(before), first_list(after)
        if ours == theirs:
            continue
        changed += 1
        if _only_neighbours(ours, theirs):
            own_pairs = list(_swapped(ours, theirs))
            lists += 1
            swapped += bool(own_pairs)
            pairs += own_pairs
    # Where only the last item is another one, nothing shows that it was the neighbour.
    if swapped < FEWEST_LISTS or 2 * swapped < lists or lists < MOST * changed:
        return ""
    quantity = "all" if lists == changed else f"{lists} of the"
    text = f"in {quantity} {changed} changed lists, items only change places with a neighbour"
    return text + _order_of_ids(pairs)


def _only_neighbours(ours: Sequence[str], theirs: Sequence[str]) -> bool:
    """Whether no item is farther than one place from where it was."""
    if len(ours) != len(theirs):
        return False
    place_in_theirs = {item: at for at, item in enumerate(theirs)}
    last = len(ours) - 1
    for at, item in enumerate(ours):
        # An item that left counts as one behind the last place.
        moved_to = place_in_theirs.get(item, last + 1)
        if abs(moved_to - at) > 1:
            return False
    return all(item in ours for item in theirs[:last])


def _swapped(ours: Sequence[str], theirs: Sequence[str]) -> Iterator[tuple[str, str]]:
    """The pairs that changed places, in the order of the second list."""
    for at in range(len(ours) - 1):
        first = theirs[at]
        second = theirs[at + 1]
        have_swapped = ours[at] == second and ours[at + 1] == first
        if have_swapped:
            yield first, second


def _order_of_ids(pairs: Sequence[tuple[str, str]]) -> str:
    """The order of ids that all pairs have, as the end of a
    sentence; empty where they have none.
    """
    if len(pairs) < FEWEST_PAIRS:
        return ""
    ascending = sum(first < second for first, second in pairs)
    if ascending == len(pairs):
        size = "smaller"
    elif ascending == 0:
        size = "larger"
    else:
        return ""
    return (
        f", and the one with the {size} id comes first in the second list in all "
        f"{len(pairs)} pairs, as where one of both orders equal scores by id"
    )
