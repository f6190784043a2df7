"""One number per user from both sides of answers, and the judgement of its mean."""

from collections import Counter
from collections.abc import Callable

import numpy as np

from pytest_recsys_mt.answers import Answers, Asked, Context, Pairs
from pytest_recsys_mt.errors import NotApplicable
from pytest_recsys_mt.oracles.arguments import share
from pytest_recsys_mt.oracles.judging.claim import Claim, Promise
from pytest_recsys_mt.oracles.judging.effect import NO_ANSWER, Effects
from pytest_recsys_mt.oracles.judging.judge import judge_pair
from pytest_recsys_mt.oracles.judging.slices import Slices
from pytest_recsys_mt.verdict import Verdict


class Unscored(Exception):  # noqa: N818 - not a program error: such users are counted
    """Raised with the reason if a user's answers have no number."""


def judge_mean(
    oracle: str,
    promise: Promise,
    source: Answers,
    followup: Answers,
    margin: float,
    measures: str,
    measure: Callable[[Pairs, Context], Effects],
    slices: Slices | None = None,
) -> Verdict:
    """Judge a mean over users against a margin in (0, 1), for the oracle of that name."""
    most = share(oracle, "margin", margin)
    claim = Claim(oracle, promise, most, measures=measures, slices=slices)
    return judge_pair(source, followup, claim, measure)


def paired_differences(
    pairs: Pairs,
    context: Context,
    number: Callable[[Asked, Asked, Context], float],
    reach: float = 1.0,
) -> Effects:
    """One difference per user, of an absolute value of at most `reach`; users without any recommendation are errors.

    No noise floor is needed: noise does not bias a mean difference. `number` raises `NotApplicable` if it is
    not defined for a user, and `Unscored` if a user's answers have no number.
    """
    rows: list[int] = []
    differences: list[float] = []
    not_applicable, errors = Counter[str](), Counter[str]()
    for row, (source, followup) in enumerate(zip(pairs.source, pairs.followup, strict=True)):
        try:
            if not any(answer.items for answer in (*source.answers, *followup.answers)):
                raise Unscored(NO_ANSWER)
            differences.append(number(source, followup, context))
            rows.append(row)
        except NotApplicable as reason:
            not_applicable[str(reason)] += 1
        except Unscored as reason:
            errors[str(reason)] += 1
    return Effects(
        rows=np.array(rows, np.intp),
        effect=np.array(differences, np.float64),
        reach=(-reach, reach),
        not_applicable=not_applicable,
        errors=errors,
    )
