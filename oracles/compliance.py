"""Compliance: whether an answer has the format that was demanded.

Source:
    The compliance rate of https://arxiv.org/abs/2411.00331, one less the share of replies with an
    invalid format or a wrong length. There a reply that does not comply is asked for anew until one
    does; here each answer counts once.
"""

from __future__ import annotations

from collections.abc import Sequence

from pytest_recsys_mt.oracles.slots import Slot


def complies(slots: Sequence[Slot], demanded: int) -> bool:
    """Whether an answer has exactly the demanded number of slots, each of which names something.

    What they name, and whether they repeat, is another matter.

    Args:
        slots: Of one answer; see `slots.slots_of`.
        demanded: How many were asked for, or all that were offered where they are fewer.
    """
    return len(slots) == demanded and all(slot.kind != "unparsed" for slot in slots)
