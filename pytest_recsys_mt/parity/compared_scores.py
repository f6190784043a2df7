"""How the scores of two logs differ, of the items that both lists have."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pytest_recsys_mt.oracles.arrays import Floats, Integers
from pytest_recsys_mt.parity.compared_lists import Lists
from pytest_recsys_mt.parity.request_logs import Log, Numbered

TYPES = (("float32", 2.0**-24, 2.0**-150), ("float16", 2.0**-11, 2.0**-25))
"""Types of numbers, the largest relative error of a number that is rounded to one, and
the largest error of numbers too small for that.
"""

_SLACK = 1.01  # scores that were rounded before they were rounded again


@dataclass(frozen=True)
class Scores:
    """The scores of the items that both lists of a request have, in any place.

    Attributes:
        compared: How many there are.
        lists: In how many lists.
        changed: How many of them differ.
        changed_lists: In how many lists.
        same_lists: How many of those hold the same items in the same order.
        largest: The largest difference.
        median: The median of the differences that are not 0.
        rounding: The type of number whose rounding explains all differences; empty if
            none does.
        example: The request and the item of the largest one.
    """

    compared: int
    lists: int
    changed: int
    changed_lists: int
    same_lists: int
    largest: float
    median: float
    rounding: str
    example: tuple[str, str]


def compared_scores(
    first: Log,
    second: Log,
    chosen: Integers,
    lists: Lists,
    numbered: Numbered,
) -> Scores | None:
    """Compare the scores of the first answers to the chosen requests.

    Returns:
        None if a log has no scores.
    """
    places = lists.before.shape[1]
    before = first.scores(0, chosen, places)
    after = second.scores(0, chosen, places)
    if before is None or after is None:
        return None
    found = _of_same_items(lists.before, lists.after, before, after)
    rows, items, ours, theirs = found
    difference = np.abs(ours - theirs)
    changed = difference > 0
    changed_rows = np.unique(rows[changed])
    same_order = ~lists.differs[changed_rows]
    largest, example, rounding = 0.0, ("", ""), ""
    if changed.any():
        at = int(np.argmax(difference))
        largest = float(difference[at])
        requests = list(numbered.requests.by_text)
        names = list(numbered.items.by_text)
        example = (requests[int(chosen[rows[at]])], names[int(items[at])])
        size = np.maximum(np.abs(ours), np.abs(theirs))[changed]
        rounding = _rounding(difference[changed], size)
    return Scores(
        compared=len(rows),
        lists=len(np.unique(rows)),
        changed=int(changed.sum()),
        changed_lists=len(changed_rows),
        same_lists=int(same_order.sum()),
        largest=largest,
        median=float(np.median(difference[changed])) if changed.any() else 0.0,
        rounding=rounding,
        example=example,
    )


def _rounding(difference: Floats, size: Floats) -> str:
    """The type of number whose rounding explains all differences; empty if none does.

    Args:
        difference: The differences, above 0.
        size: The larger of both scores of each.
    """
    for name, relative, least in TYPES:
        if (difference <= np.maximum(relative * size, least) * _SLACK).all():
            return name
    return ""


def _of_same_items(
    before: Integers,
    after: Integers,
    ours: Floats,
    theirs: Floats,
) -> tuple[Integers, Integers, Floats, Floats]:
    """The places of a list whose item the other list has too, and both scores of it.

    Returns:
        The rows, the items, and the scores in both lists, each ``(m,)``.
    """
    size = int(max(before.max(initial=0), after.max(initial=0))) + 1
    keys, scores = [], []
    for items, given in ((before, ours), (after, theirs)):
        rows, places = np.nonzero((items >= 0) & ~np.isnan(given))
        keys.append(rows.astype(np.int64) * size + items[rows, places])
        scores.append(given[rows, places])
    common, at_ours, at_theirs = np.intersect1d(
        keys[0],
        keys[1],
        assume_unique=True,
        return_indices=True,
    )
    return common // size, common % size, scores[0][at_ours], scores[1][at_theirs]
