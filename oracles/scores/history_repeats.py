"""History repeats: the share of slots that name an item that the user already has."""

from collections.abc import Sequence

from pytest_recsys_mt.oracles.scores.makers import slot_share
from pytest_recsys_mt.oracles.scores.slots import Slot, share_of


def history_repeats(slots: Sequence[Slot], depth: int) -> float:
    """The share of the first `depth` slots that name an item that the user is known to have.

    Arguments are those of `duplicates`.

    Example:
        >>> slots = [Slot("candidate", repeated=False), Slot("history", repeated=False)]
        >>> history_repeats(slots, depth=2)
        0.5
    """
    return share_of(slots, lambda slot: slot.kind == "history", depth)


SCORES_AT = {"history_repeats": slot_share(history_repeats)}
