"""Claims about training: the fits are drawn too, and all users share them.

Users who are asked of the same few fits say nothing of what other seeds of the fits would do. So a claim is made
only if further fits with other seeds prove it together with the first, and if it is beyond the spread of the fits:
the mean effect is computed once more without each fit (the delete-one jackknife of two samples), and the bound is
Student's with the number of fits minus two degrees of freedom. Unlike bets, this bound is approximate.
"""

import dataclasses
import math
from collections.abc import Callable, Iterator, Sequence

from scipy.special import stdtrit

from pytest_recsys_mt.answers import Asked, Context, Pairs
from pytest_recsys_mt.errors import MissingAnswerError
from pytest_recsys_mt.oracles.judging.claim import Claim
from pytest_recsys_mt.oracles.judging.conclusion import verdict_of
from pytest_recsys_mt.oracles.judging.seen import Seen
from pytest_recsys_mt.oracles.judging.together import twice, withdrawn
from pytest_recsys_mt.verdict import FITS_NEEDED, Verdict

_POWER = 0.84  # standard errors that give a probability of .8
_SURE = 3.0  # standard errors within which nearly every estimate lies


def over_fits(
    verdict: Verdict,
    claim: Claim,
    first: Pairs,
    others: Callable[[], Pairs | None],
    see: Callable[[Pairs, Context], Seen],
    context: Context,
) -> Verdict:
    """The verdict on the first fits and on `others`, None if impossible, withdrawn if their spread is too large for it."""
    if verdict.status not in ("holds", "violated") or verdict.estimate is None:
        return verdict
    try:
        more = others()
    except MissingAnswerError:
        return withdrawn(
            verdict,
            "no answers of fits with other seeds are recorded, and --recsys-mode=replay fits nothing",
        )
    if more is None:
        return verdict
    pairs, _ = twice(first, more)
    context = dataclasses.replace(context, deterministic=False, family=1)
    judged = dataclasses.replace(
        verdict_of(claim, verdict.relation, see(pairs, context), context),
        looks=verdict.looks,
        approximate=True,
    )
    if judged.estimate is None or judged.interval is None:
        return withdrawn(judged, f"with other fits: {judged.reason}")
    group = judged.broken
    of = (group.slicing, group.value) if group else None
    estimate, error, fits = _jackknife(pairs, lambda less: _mean(see(less, context), of))
    quantile = float(stdtrit(fits - 2, 1 - context.alpha))
    low, high = estimate - quantile * error, estimate + quantile * error
    if judged.status == verdict.status == _beyond(claim, low, high):
        ends = (min(low, judged.interval[0]), max(high, judged.interval[1]))
        return judged if group else dataclasses.replace(judged, interval=ends)
    a_side = fits // 2
    told = withdrawn(
        judged,
        f"{verdict.status} with the first {a_side // 2} fits a side; of {a_side} with other seeds the mean lies between "
        f"{low:.3f} and {high:.3f}, and {claim.promise} {claim.margin:g} is asked; "
        f"more fits narrow this (--recsys-replicates)",
    )
    if (quantile + _SURE) * error <= abs(claim.margin):
        return told
    needed = math.ceil(a_side * ((quantile + _POWER) * error / abs(claim.margin)) ** 2)
    return dataclasses.replace(told, details={**told.details, FITS_NEEDED: max(needed, a_side + 1)})


def _beyond(claim: Claim, low: float, high: float) -> str:
    least, most = claim.allowed
    if least <= low and high <= most:
        return "holds"
    return "violated" if low > most or high < least else "inconclusive"


def _mean(seen: Seen, of: tuple[str, str] | None) -> float:
    groups = {(group.slicing, group.value): each for group, each in seen.members}
    return float((seen.effects if of is None else groups[of]).effect.mean())


def _jackknife(pairs: Pairs, mean: Callable[[Pairs], float]) -> tuple[float, float, int]:
    variance, fits = 0.0, 0
    for without in (
        [dataclasses.replace(pairs, source=less) for less in _without_each(pairs.source)],
        [dataclasses.replace(pairs, followup=less) for less in _without_each(pairs.followup)],
    ):
        means = [mean(less) for less in without]
        number, centre = len(means), sum(means) / len(means)
        variance += (number - 1) / number * sum((each - centre) ** 2 for each in means)
        fits += number
    return mean(pairs), math.sqrt(variance), fits


def _without_each(asked: Sequence[Asked]) -> Iterator[tuple[Asked, ...]]:
    for fit in range(min(len(each.answers) for each in asked)):
        yield tuple(
            dataclasses.replace(each, answers=(*each.answers[:fit], *each.answers[fit + 1 :]))
            for each in asked
        )
