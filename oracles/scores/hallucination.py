"""Hallucination: the share of slots that name no item of the catalogue.

Source:
    Equations 10 and 24 of https://arxiv.org/abs/2411.00331. They print the indicator of the opposite,
    but the text and the optimum of 0 mean "not in the catalogue". The paper's tables fit K = 5, but its
    code averages the whole list of 10, so the depth is always explicit here.

An item of the history, or a catalogue item that was not offered, is not a hallucination: see `out_of_candidate`.
"""

from collections.abc import Sequence

from pytest_recsys_mt.oracles.scores.makers import slot_share
from pytest_recsys_mt.oracles.scores.slots import Slot, share_of


def hallucination(slots: Sequence[Slot], depth: int) -> float:
    """The share of the first `depth` slots whose title belongs to no item of the catalogue.

    Arguments are those of `duplicates`. A title invented twice counts twice; missing slots are not hallucinations.

    Example:
        >>> slots = [Slot("candidate", repeated=False), Slot("unknown", repeated=False)]
        >>> hallucination(slots, depth=2)
        0.5
    """
    return share_of(slots, lambda slot: slot.kind in ("unknown", "outside"), depth)


SCORES_AT = {"hallucination": slot_share(hallucination)}
