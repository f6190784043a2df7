"""Changed lists in which only a few items left, came or moved: these are named."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from pytest_recsys_mt.oracles.judging.list_changes import first_list, left_or_moved
from pytest_recsys_mt.verdict.answers import Asked, Context

MOST = 8
"""The most items that are named."""

LEAST_TIMES = 3
"""How often each of them changes at the least, on average."""

FEWEST_LISTS = 6
"""In fewer changed lists, few items change anyway."""


def few_changed_items(
    source: Sequence[Asked],
    followup: Sequence[Asked],
    context: Context,
    *,
    ordered: bool,
) -> str:
    """A sentence on the few items that changed in all changed lists; empty if they are
    many.

    Args:
        source: The answers of users whose lists changed, to the original request.
        followup: Those to the transformed one.
        context: Has the catalogue.
        ordered: Whether an item that moved counts as changed.
    """
    left: Counter[str] = Counter()
    new: Counter[str] = Counter()
    for before, after in zip(source, followup, strict=True):
        ours, theirs = first_list(before), first_list(after)
        of_ours, of_theirs = left_or_moved(ours, theirs, ordered=ordered)
        left.update(
            item for item, is_changed in zip(ours, of_ours, strict=True) if is_changed
        )
        new.update(
            item
            for item, is_changed in zip(theirs, of_theirs, strict=True)
            if is_changed
        )
    for counts, what in (
        (left, "left a changed list or moved in it"),
        (new, "are new in a changed list or moved in it"),
    ):
        if len(source) < FEWEST_LISTS or not 0 < len(counts) <= MOST:
            continue
        if counts.total() < LEAST_TIMES * len(counts):
            continue
        titles = [
            context.items[item].title if item in context.items else item
            for item, _ in counts.most_common()
        ]
        named = "; ".join(title or "untitled" for title in titles)
        which = "one item" if len(counts) == 1 else f"{len(counts)} items"
        return f"the {counts.total()} entries that {what} are of {which}: {named}"
    return ""
