"""Shares of slots: repeats, items already seen, items that were not offered, titles of
no item.

Source:
    Hallucination: equations 10 and 24 of https://arxiv.org/abs/2411.00331. They print
    the indicator of the opposite, but the text and the optimum of 0 mean "not in the
    catalogue". The paper's tables fit K = 5, but its code averages the whole list of
    10, so the depth is always explicit here.

A model that ranks the user's history instead of the candidates invents nothing, but is
still useless: `hallucination` counts only items outside the catalogue,
`out_of_candidate` all that was not offered.
"""

from collections.abc import Sequence

from pytest_recsys_mt.oracles.scores.makers import slot_share
from pytest_recsys_mt.oracles.scores.slots import Slot, share_of

__all__ = ["duplicates", "hallucination", "history_repeats", "out_of_candidate"]


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


def history_repeats(slots: Sequence[Slot], depth: int) -> float:
    """The share of the first `depth` slots that name an item that the user is known to
    have.

    Arguments are those of `duplicates`.

    Example:
        >>> slots = [Slot("candidate", repeated=False), Slot("history", repeated=False)]
        >>> history_repeats(slots, depth=2)
        0.5
    """
    return share_of(slots, lambda slot: slot.kind == "history", depth)


def hallucination(slots: Sequence[Slot], depth: int) -> float:
    """The share of the first `depth` slots whose title belongs to no item of the
    catalogue.

    Arguments are those of `duplicates`. A title invented twice counts twice; missing
    slots are not hallucinations.

    Example:
        >>> slots = [Slot("candidate", repeated=False), Slot("unknown", repeated=False)]
        >>> hallucination(slots, depth=2)
        0.5
    """
    return share_of(slots, lambda slot: slot.kind in ("unknown", "outside"), depth)


def out_of_candidate(slots: Sequence[Slot], depth: int) -> float:
    """The share of the first `depth` slots whose kind is not ``candidate``.

    Such a slot names an item of the history, an item that was not offered, or no item
    of the catalogue. Arguments are those of `duplicates`; missing slots do not count as
    out of candidate.

    Example:
        >>> slots = [Slot("candidate", repeated=False), Slot("unknown", repeated=False)]
        >>> out_of_candidate(slots, depth=2)
        0.5

    Returns:
        In [0, 1]; at least the sum of `hallucination` and `history_repeats`.
    """
    return share_of(slots, lambda slot: slot.kind != "candidate", depth)


SCORES_AT = {
    measure.__name__: slot_share(measure)
    for measure in (duplicates, history_repeats, hallucination, out_of_candidate)
}
