"""Out of candidate: the share of slots that name something that was not offered.

`hallucination` counts only items outside the catalogue. A model that ranks the user's history instead of
the candidates invents nothing, but is still useless.
"""

from collections.abc import Sequence

from pytest_recsys_mt.oracles.scores.makers import slot_share
from pytest_recsys_mt.oracles.scores.slots import Slot, share_of


def out_of_candidate(slots: Sequence[Slot], depth: int) -> float:
    """The share of the first `depth` slots whose kind is not ``candidate``.

    Such a slot names an item of the history, an item that was not offered, or no item of the catalogue. Arguments are
    those of `duplicates`; missing slots do not count as out of candidate.

    Example:
        >>> slots = [Slot("candidate", repeated=False), Slot("unknown", repeated=False)]
        >>> out_of_candidate(slots, depth=2)
        0.5

    Returns:
        In [0, 1]; at least the sum of `hallucination` and `history_repeats`.
    """
    return share_of(slots, lambda slot: slot.kind != "candidate", depth)


SCORES_AT = {"out_of_candidate": slot_share(out_of_candidate)}
