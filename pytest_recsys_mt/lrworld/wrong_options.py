"""Draws wrong options uniformly among those that are less right, and the right one's place."""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any

import numpy as np

from pytest_recsys_mt.lrworld.histories import Ints
from pytest_recsys_mt.lrworld.same import form

Draft = dict[str, Any]
"""The fields of a question that its kind does not determine."""

LOOKED_AT = 1000
"""Most candidates for wrong options to draw before a question is given up."""


class LackingError(Exception):
    """The data are insufficient for a kind of question; `generate` reports it and continues."""


@dataclass(frozen=True)
class Offer:
    """The options of a question.

    Attributes:
        options: Their texts.
        answer: Place of the right one.
        rows: Their numbers, as in the pool; that of the right one is -1.
    """

    options: tuple[str, ...]
    answer: int
    rows: tuple[int, ...]

    @property
    def wrong(self) -> list[int]:
        """The numbers of the wrong options."""
        return [row for place, row in enumerate(self.rows) if place != self.answer]

    @property
    def fields(self) -> Draft:
        """The fields of the question."""
        return {"options": self.options, "answer": self.answer}


def choose(
    rng: np.random.Generator,
    count: int,
    right: str,
    pool: Ints,
    text: Callable[[int], str],
    taken: Collection[str] = (),
) -> Offer | None:
    """The options of a question, and the place of the right one, uniform over all places.

    No two options say the same, see `same.form`.

    Args:
        rng: Draws.
        count: Number of options.
        right: Text of the right option.
        pool: The possible wrong options, as numbers for `text`.
        text: Returns the text of a wrong option; empty for an impossible one.
        taken: Texts that no option may have, as that of the target.

    Returns:
        None if there are not enough wrong options, or if the right one is empty or taken.
    """
    used = {form(one) for one in taken}
    if len(pool) < count - 1 or not right or form(right) in used:
        return None
    used.add(form(right))
    wrong: list[tuple[str, int]] = []
    for place in rng.choice(len(pool), min(len(pool), LOOKED_AT), replace=False):
        row = int(pool[place])
        one = text(row)
        if one and form(one) not in used:
            used.add(form(one))
            wrong.append((one, row))
            if len(wrong) == count - 1:
                answer = int(rng.integers(count))
                wrong.insert(answer, (right, -1))
                options, rows = zip(*wrong, strict=True)
                return Offer(options, answer, rows)
    return None
