"""Wrong options, drawn uniformly among those that are less right, and the place of the right one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from pytest_recsys_mt.lrworld.histories import Ints

Draft = dict[str, Any]
"""The fields of a question that its kind does not settle."""

LOOKED_AT = 1000
"""Candidates for wrong options that are drawn before a question is given up."""


class LackingError(Exception):
    """What the data lack for a kind of question; `generate` reports it and goes on."""


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
        count: Options.
        right: What the right one says.
        pool: What a wrong one may be, numbers that `text` understands.
        text: What a wrong one says; empty for what cannot be one.
        taken: What no option may say: the target.

    Returns:
        Fields of a question; None if there are not enough wrong options, or the right one says
        nothing, or what the target says.
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
