"""Compliance: whether an answer has the format that was demanded.

Source:
    The compliance rate of https://arxiv.org/abs/2411.00331, one less the share of replies with an
    invalid format or a wrong length. There a reply that does not comply is asked for anew until one
    does; here each answer counts once.
"""

from __future__ import annotations


def complies(slots: int, prose: int, demanded: int) -> bool:
    """Whether an answer has exactly the demanded number of slots, and nothing else.

    What they name, and whether they repeat, is another matter. For the paper's rate, which finds a
    list within prose, leave `prose` out (0).

    Args:
        slots: Entries that name something; see `slots.slots_of`.
        prose: Entries that name nothing: an introduction, a comment, an empty line of a list.
        demanded: How many were asked for, or all that were offered where they are fewer.
    """
    return slots == demanded and not prose
