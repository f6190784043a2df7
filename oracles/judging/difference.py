"""Promises about a mean of one number per user of both sides, from the arguments of
their oracles to a verdict.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from functools import partial
from itertools import permutations, product
from statistics import fmean
from typing import Any

import numpy as np

from pytest_recsys_mt.oracles.arguments import share
from pytest_recsys_mt.oracles.arrays import Floats
from pytest_recsys_mt.oracles.judging.account import NO_ANSWER, NO_REASON
from pytest_recsys_mt.oracles.judging.claim import Claim, Promise
from pytest_recsys_mt.oracles.judging.effect import Effects, Noise, similarity_effects
from pytest_recsys_mt.oracles.judging.encoding import is_answered, replicates_of
from pytest_recsys_mt.oracles.judging.item_slices import ByItems, listed
from pytest_recsys_mt.oracles.judging.judge import OfPairs, judge_pair
from pytest_recsys_mt.oracles.judging.slices import Slices
from pytest_recsys_mt.oracles.similarities.similarity import (
    SIMILARITIES,
    similarity_named,
)
from pytest_recsys_mt.safety.errors import NotApplicable, OracleError
from pytest_recsys_mt.verdict.answers import Answers, Asked, Context, Pairs
from pytest_recsys_mt.verdict.verdict import Verdict


class Unscored(Exception):  # noqa: N818 - not a program error: such users are counted
    """Raised with the reason if a user's answers have no number: the user counts at
    both ends of the possible range.
    """


class Unanswered(Unscored):
    """Raised with the reason if a user has no answer to
    measure, which counts as a failed call.
    """


def require_answer(*sides: Asked) -> None:
    """Raise `Unanswered` for a user to whom no answer recommends anything."""
    if not is_answered(*sides):
        raise Unanswered(NO_ANSWER)


def judge_mean(
    oracle: str,
    promise: Promise,
    source: Answers,
    followup: Answers,
    margin: float,
    *,
    measures: str,
    measure: OfPairs,
    slices: Slices | None = None,
    by_items: ByItems | None = None,
) -> Verdict:
    """Judge a mean over users against a margin, and report the verdict.

    Args:
        oracle: The name of the oracle.
        promise: The promise about the mean.
        source: The answers to the original requests.
        followup: Those to the transformed ones.
        margin: The limit of the mean, in (0, 1).
        measures: The meaning of the mean, in words.
        measure: Measures the effect of each user.
        slices: Groups of users that are judged too; None takes those of the run.
        by_items: How groups of items are judged too; None if they cannot be.
    """
    most = share(oracle, "margin", margin)
    claim = Claim(
        oracle,
        promise,
        most,
        measures=measures,
        slices=slices,
        by_items=by_items,
    )
    return judge_pair(source, followup, claim, measure)


def paired_differences(
    pairs: Pairs,
    context: Context,
    number: Callable[[Asked, Asked, Context], float],
    reach: float = 1.0,
) -> Effects:
    """One difference per user, as in `scored`, of an absolute value of at most `reach`.

    No noise floor is needed: noise does not bias the mean of a difference, which
    changes its sign if the sides change places.

    Raises:
        OracleError: If the recommender is not deterministic and `number` does not
            change its sign, such as a distance.
    """

    def difference(source: Asked, followup: Asked) -> float:
        require_answer(source, followup)
        forwards = number(source, followup, context)
        if forwards and not context.deterministic:
            _require_sign(source.user, forwards, number(followup, source, context))
        return forwards

    effects, _ = scored(
        difference,
        pairs.source,
        pairs.followup,
        reach=(-reach, reach),
        noise="no bias",
    )
    return effects


def _require_sign(user: str, forwards: float, backwards: float) -> None:
    """Check that a number between two sides changes its sign if they change places."""
    if abs(forwards + backwards) > 1e-6 * max(1.0, abs(forwards)):
        raise OracleError(
            f"paired_differences: the number of user {user!r} is {forwards:g} from source to follow-up and {backwards:g} "
            f"from follow-up to source, so two answers of a noisy recommender to one request have a mean other than 0; "
            f"give a difference, which changes its sign, or use scored, which takes the noise off",
        )


def scored(
    number: Callable[..., float | tuple[float, ...]],
    *sides: Sequence[Asked],
    width: int = 1,
    reach: tuple[float, float] = (0.0, 1.0),
    noise: Noise = "taken off",
) -> tuple[Effects, Floats]:
    """The effects of the users who have a number, and all their numbers.

    `number` raises `NotApplicable` if it is not defined for a user, who is then left
    out with any answers. It raises `Unscored` if a user's answers have no
    number, or differ in whether they have one.

    A number between two sides is also above 0 for two answers of a noisy recommender to
    one request. So, unless `noise` says ``no bias``, the same number between replicates
    is taken off: the effect is the mean over pairs of one answer of each side, minus
    the mean over pairs of answers of one side. Its mean is 0 where nothing changed.

    Args:
        number: Takes the answers of a user, of each side; returns one number, or a
            tuple of `width`.
        sides: The answers of one side or two.
        width: The count of numbers of a user, of which the first is the effect.
        reach: The smallest and the largest possible effect.
        noise: The effect of a recommender's noise on a number between two sides.

    Returns:
        The effects, and the numbers, ``(width, n)``.
    """
    of_two = len(sides) == 2
    if of_two and noise == "taken off" and replicates_of(sides[0]) > 1:
        _require_one_number(width)
        number = partial(_beyond_noise, number)
        reach = (reach[0] - reach[1], reach[1] - reach[0])
    rows: list[int] = []
    numbers: list[float | tuple[float, ...]] = []
    left_out: dict[str, list[int]] = defaultdict(list)
    failed: dict[str, list[int]] = defaultdict(list)
    undefined: dict[str, list[int]] = defaultdict(list)
    for row, answers_of_user in enumerate(zip(*sides, strict=True)):
        try:
            numbers.append(number(*answers_of_user))
            rows.append(row)
        except NotApplicable as reason:
            left_out[str(reason) or NO_REASON].append(row)
        except Unanswered as reason:
            failed[str(reason)].append(row)
        except Unscored as reason:
            undefined[str(reason) or NO_REASON].append(row)
    columns = np.ascontiguousarray(np.array(numbers, np.float64).reshape(-1, width).T)
    effects = Effects(
        np.array(rows, np.intp),
        columns[0],
        reach,
        left_out=left_out,
        failed=failed,
        undefined=undefined,
        noise=noise if of_two else "unknown",
    )
    return effects, columns


def _require_one_number(width: int) -> None:
    if width > 1:
        raise OracleError(
            f"scored: the noise of {width} numbers at once cannot be taken off; measure one number, or declare "
            f"noise='no bias'",
        )


def _beyond_noise(number: Callable[..., Any], source: Asked, followup: Asked) -> float:
    """The mean number between one answer of each side, minus
    that between two answers of one side.
    """
    of_source = _one_by_one(source)
    of_followup = _one_by_one(followup)
    source_floor = fmean(number(*both) for both in permutations(of_source, 2))
    followup_floor = fmean(number(*both) for both in permutations(of_followup, 2))
    between = fmean(number(*both) for both in product(of_source, of_followup))
    return between - (source_floor + followup_floor) / 2


def _one_by_one(asked: Asked) -> list[Asked]:
    """Each answer of a user as if it were the only one."""
    return [replace(asked, answers=(answer,)) for answer in asked.answers]


def judge_agreement(
    name: str,
    source: Answers,
    followup: Answers,
    similarity: str,
    margin: float,
    *,
    promise: Promise = "at most",
    measures: str = "loss of agreement beyond noise",
    among: Collection[str] = tuple(SIMILARITIES),
    effects: Callable[..., Effects] = similarity_effects,
    slices: Slices | None = None,
    cap: float | None = None,
    by_items: ByItems | None = listed,
) -> Verdict:
    """Judge the mean loss of agreement, and report the verdict.

    Args:
        name: The name of the oracle, without the similarity.
        source: The answers to the original requests.
        followup: Those to the transformed ones.
        similarity: The name of the similarity.
        margin: The limit of the mean, in (0, 1).
        promise: The promise about the mean.
        measures: The meaning of the mean, in words.
        among: The similarities that the oracle takes.
        effects: Measures the effects; called like `similarity_effects`.
        slices: Groups of users that are judged too; None takes those of the run.
        cap: Up to which a loss counts for ``holds``, above the margin and below 1; None
            counts all of each.
        by_items: How groups of items are judged too; None if they cannot be.

    Raises:
        OracleError: If an argument is out of its range.
    """
    oracle = f"{name}:{similarity}"
    function = similarity_named(similarity, among)
    most = share(oracle, "margin", margin)
    if cap is not None:
        cap = share(oracle, "cap", cap)
        if cap <= most:
            raise OracleError(
                f"{oracle}: cap must be above the margin {most:g}, or no loss could break the promise; got {cap!r}",
            )
    claim = Claim(
        oracle,
        promise,
        most,
        measures=measures,
        slices=slices,
        cap=cap,
        by_items=by_items,
    )
    return judge_pair(source, followup, claim, partial(effects, similarity=function))
