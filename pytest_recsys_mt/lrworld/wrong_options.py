"""Draws wrong options uniformly among those that are less right, and the right one's place."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from pytest_recsys_mt.lrworld.histories import Ints

Draft = dict[str, Any]
"""The fields of a question that its kind does not determine."""

LOOKED_AT = 1000
"""Most candidates for wrong options to draw before a question is given up."""


class LackingError(Exception):
    """The data are insufficient for a kind of question; `generate` reports it and continues."""


def choose(
    rng: np.random.Generator,
    count: int,
    right: str,
    pool: Ints,
    text: Callable[[int], str],
    taken: str = "",
) -> Mapping[str, Any] | None:
    """The options of a question, and the place of the right one, uniform over all places.

    Args:
        rng: Draws.
        count: Number of options.
        right: Text of the right option.
        pool: The possible wrong options, as numbers for `text`.
        text: Returns the text of a wrong option; empty for an impossible one.
        taken: Text that no option may have: that of the target.

    Returns:
        Fields of a question; None if there are not enough wrong options, or if the right one is
        empty or equals the target.
    """
    if len(pool) < count - 1 or not right or right == taken:
        return None
    used, wrong = {right, taken}, []
    for place in rng.choice(len(pool), min(len(pool), LOOKED_AT), replace=False):
        one = text(int(pool[place]))
        if one and one not in used:
            used.add(one)
            wrong.append(one)
            if len(wrong) == count - 1:
                answer = int(rng.integers(count))
                return {"options": (*wrong[:answer], right, *wrong[answer:]), "answer": answer}
    return None
