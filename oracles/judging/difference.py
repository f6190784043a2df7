"""Effects that are paired differences of one number per user."""

from collections import Counter
from collections.abc import Callable

import numpy as np

from pytest_recsys_mt.answers import Asked, Pairs
from pytest_recsys_mt.errors import NotApplicable
from pytest_recsys_mt.oracles.judging.effect import NO_ANSWER, Effects


class Unscored(Exception):  # noqa: N818 - not a program error: such users are counted
    """Raised with the reason if a user's answers have no number."""


def paired_differences(
    pairs: Pairs,
    number: Callable[[Asked, Asked], float],
    reach: float,
) -> Effects:
    """One difference per user.

    No noise floor is needed: noise does not bias a mean difference.

    Args:
        pairs: The answers of both sides.
        number: The difference of one user, from source and follow-up. It raises `NotApplicable` if
            it is not defined for a user, and `Unscored` if a user's answers have no number.
        reach: The largest possible absolute difference.

    Returns:
        The differences. Users without any recommendation are errors.
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
