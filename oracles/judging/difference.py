"""Effects that are paired differences of a number per user."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import numpy as np

from pytest_recsys_mt.answers import Asked, Pairs
from pytest_recsys_mt.errors import NotApplicable
from pytest_recsys_mt.oracles.judging.effect import NO_ANSWER, Effects


class Unscored(Exception):  # noqa: N818 - not an error of the program: such users are counted
    """Raised for a user whose answers have no number, with the reason."""


def paired_differences(
    pairs: Pairs,
    number: Callable[[Asked, Asked], float],
    reach: float,
) -> Effects:
    """One difference a user.

    Noise needs no floor here: it moves the mean of a difference neither up nor down.

    Args:
        pairs: The answers of both sides.
        number: The difference of one user, from source and follow-up. It raises `NotApplicable`
            for users it is not about, and `Unscored` for users whose answers have no number.
        reach: The largest possible difference, either way.

    Returns:
        The differences; users without any recommendation are counted as errors.
    """
    rows: list[int] = []
    differences: list[float] = []
    not_applicable, errors = Counter[str](), Counter[str]()
    for row, (source, followup) in enumerate(zip(pairs.source, pairs.followup, strict=True)):
        try:
            if not any(answer.items for answer in (*source.answers, *followup.answers)):
                raise Unscored(NO_ANSWER)
            differences.append(number(source, followup))
            rows.append(row)
        except NotApplicable as reason:
            not_applicable[str(reason)] += 1
        except Unscored as reason:
            errors[str(reason)] += 1
    effect = np.array(differences, np.float64)
    return Effects(
        rows=np.array(rows, np.intp),
        effect=effect,
        reach=(-reach, reach),
        not_applicable=not_applicable,
        errors=errors,
    )
