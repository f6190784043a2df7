"""Out of candidate: the share of slots that name what was not offered.

`hallucination` counts only what is in no catalogue. A model that ranks the user's history instead of
the candidates invents nothing, and is useless all the same.
"""

from __future__ import annotations

from collections.abc import Sequence

from pytest_recsys_mt.oracles.scores.slots import Slot, share_of


def out_of_candidate(slots: Sequence[Slot], depth: int) -> float:
    """The share of the first `depth` slots that name an item of the history, one that was not
    offered, or none of the catalogue.

    Args:
        slots: Slots of one answer; see `slots.slots_of`.
        depth: K, at least 1; missing slots are not out of the candidates.

    Returns:
        In [0, 1]; at least `hallucination` and `history_repeats` together.
    """
    return share_of(slots, lambda slot: slot.kind != "candidate", depth)
