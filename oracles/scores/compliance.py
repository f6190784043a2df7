"""Compliance: whether an answer has the demanded format.

Source:
    The compliance rate of https://arxiv.org/abs/2411.00331: one minus the share of
    replies with an invalid format or a wrong length. The paper asks again until a reply
    complies; here, each answer counts once.
"""

from functools import partial

from pytest_recsys_mt.oracles import arguments
from pytest_recsys_mt.oracles.scores.makers import of_format
from pytest_recsys_mt.oracles.scores.slots import slots_of
from pytest_recsys_mt.requests import Recommendation
from pytest_recsys_mt.verdict.answers import Asked, Context

__all__ = ["complies"]


def complies(slots: int, prose: int, demanded: int) -> bool:
    """Whether an answer has exactly the demanded number of slots, and nothing else.

    The items of the slots and repeats do not matter. The paper's rate accepts a list
    within prose; for it, pass ``prose=0``.

    Example:
        >>> complies(slots=10, prose=1, demanded=10)
        False

    Args:
        slots: Number of entries that name something; see `slots.slots_of`.
        prose: Number of entries that name nothing: an introduction, a comment, an empty
            list line.
        demanded: How many were asked for, or the number of offered items if that is
            smaller.
    """
    for name, value in (("slots", slots), ("prose", prose), ("demanded", demanded)):
        arguments.whole("complies", name, value, 0)
    return slots == demanded and not prose


def _complies(
    answer: Recommendation,
    asked: Asked,
    context: Context,
    demanded: int,
    *,
    strict: bool,
) -> bool:
    prose = sum(entry.kind == "unparsed" for entry in answer.entries) if strict else 0
    return complies(len(slots_of(answer, asked, context)), prose, demanded)


SCORES_AT = {
    "compliance": of_format(partial(_complies, strict=True), unread=True),
    "compliance_paper": of_format(partial(_complies, strict=False), unread=True),
}
"""``compliance_paper`` allows prose around the list."""
