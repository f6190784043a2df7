"""Duplicates: the share of slots that name an item again."""

from collections.abc import Sequence

from pytest_recsys_mt.oracles.scores.makers import slot_share
from pytest_recsys_mt.oracles.scores.slots import Slot, share_of


def duplicates(slots: Sequence[Slot], depth: int) -> float:
    """The share of the first `depth` slots that repeat an earlier slot of the answer.

    Example:
        >>> slots = [Slot("candidate", repeated=False), Slot("candidate", repeated=True)]
        >>> duplicates(slots, depth=2)
        0.5

    Args:
        slots: Slots of one answer; see `slots.slots_of`.
        depth: K, at least 1.

    Returns:
        In [0, 1), because the first slot repeats nothing.
    """
    return share_of(slots, lambda slot: slot.repeated, depth)


SCORES_AT = {"duplicates": slot_share(duplicates)}
