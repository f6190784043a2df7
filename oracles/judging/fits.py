"""Claims about training: the fits are drawn too, and all users share them.

Users who are asked of the same few fits say nothing of what other seeds of the fits would do. So a claim is made
only if further fits with other seeds prove it together with the first, and if it is beyond the spread of the fits:
the mean effect is computed once more without each fit (the delete-one jackknife of two samples), and the bound is
Student's with the number of fits minus two degrees of freedom. Unlike bets, this bound is approximate.
"""

import dataclasses
import math
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from scipy.special import stdtrit

from pytest_recsys_mt.answers import Asked, Context, Pairs
from pytest_recsys_mt.errors import MissingAnswerError
from pytest_recsys_mt.oracles.judging.claim import Claim
from pytest_recsys_mt.oracles.judging.conclusion import verdict_of
from pytest_recsys_mt.oracles.judging.seen import Seen
from pytest_recsys_mt.oracles.judging.together import twice, withdrawn
from pytest_recsys_mt.verdict import FITS_NEEDED, Status, Verdict

_POWER_ERRORS = 0.84
"""Standard errors that give a probability of .8."""

_SURE_ERRORS = 3.0
"""Standard errors within which nearly every estimate lies."""


class _Estimate(NamedTuple):
    """The mean effect of all users or of a group, with its standard error and the number of fits of both sides."""

    mean: float
    error: float
    fits: int


def over_fits(
    verdict: Verdict,
    claim: Claim,
    first: Pairs,
    others: Callable[[], Pairs | None],
    see: Callable[[Pairs, Context], Seen],
    context: Context,
) -> Verdict:
    """The verdict on the first fits and on further ones, withdrawn if their spread is too large for it.

    Args:
        verdict: The verdict on the first fits.
        claim: What is judged.
        first: The answers of the first fits.
        others: Returns those of fits with other seeds, None if impossible.
        see: Measures the effects of answers.
        context: The facts of the run.
    """
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
    # Answers differ with the fit. A correction for the run's other promises only decides how many users are asked.
    context = dataclasses.replace(context, deterministic=False, family=1)
    judged = dataclasses.replace(
        verdict_of(claim, verdict.relation, see(pairs, context), context),
        looks=verdict.looks,
        approximate=True,
    )
    if judged.estimate is None or judged.interval is None:
        return withdrawn(judged, f"with other fits: {judged.reason}")

    group = judged.broken
    name = (group.slicing, group.value) if group else None
    estimate = _jackknife(pairs, lambda fewer: _mean(see(fewer, context), name))
    quantile = float(stdtrit(estimate.fits - 2, 1 - context.alpha))
    low = estimate.mean - quantile * estimate.error
    high = estimate.mean + quantile * estimate.error
    if judged.status == verdict.status == _status(claim, low, high):
        if group:
            return judged
        widest = (min(low, judged.interval[0]), max(high, judged.interval[1]))
        return dataclasses.replace(judged, interval=widest)

    return _withdrawn_for_spread(verdict, judged, claim, estimate, quantile)


def _withdrawn_for_spread(
    verdict: Verdict, judged: Verdict, claim: Claim, estimate: _Estimate, quantile: float
) -> Verdict:
    """The withdrawn verdict on all fits, with its reason and the fits a side that are likely to be enough.

    Args:
        verdict: The verdict on the first fits.
        judged: The verdict on all of them.
        claim: What is judged.
        estimate: The mean effect over all fits.
        quantile: The bounds of the mean, in standard errors.
    """
    low = estimate.mean - quantile * estimate.error
    high = estimate.mean + quantile * estimate.error
    fits_a_side = estimate.fits // 2
    reason = (
        f"{verdict.status} with the first {fits_a_side // 2} fits a side; of {fits_a_side} with other seeds the mean "
        f"lies between {low:.3f} and {high:.3f}, and {claim.promise} {claim.margin:g} is asked; "
        f"more fits narrow this (--recsys-replicates)"
    )
    without_claim = withdrawn(judged, reason)
    margin = abs(claim.margin)
    if (quantile + _SURE_ERRORS) * estimate.error <= margin:
        # There were fits enough for a mean of 0, so more of them are unlikely to help.
        return without_claim
    error_in_margins = (quantile + _POWER_ERRORS) * estimate.error / margin
    needed = math.ceil(fits_a_side * error_in_margins**2)
    details = {**without_claim.details, FITS_NEEDED: max(needed, fits_a_side + 1)}
    return dataclasses.replace(without_claim, details=details)


def _status(claim: Claim, low: float, high: float) -> Status:
    """What the bounds of a mean show of the claim."""
    least, most = claim.allowed
    if least <= low and high <= most:
        return "holds"
    if low > most or high < least:
        return "violated"
    return "inconclusive"


def _mean(seen: Seen, name: tuple[str, str] | None) -> float:
    """The mean effect of the group of that slicing and value; None takes all users."""
    effects = seen.effects
    if name is not None:
        effects_by_name = {(group.slicing, group.value): own for group, own in seen.members}
        effects = effects_by_name[name]
    return float(effects.effect.mean())


def _jackknife(pairs: Pairs, mean: Callable[[Pairs], float]) -> _Estimate:
    """The mean, with the standard error of the jackknife that leaves out each fit of either side."""
    of_source = [
        mean(dataclasses.replace(pairs, source=fewer)) for fewer in _without_each(pairs.source)
    ]
    of_followup = [
        mean(dataclasses.replace(pairs, followup=fewer)) for fewer in _without_each(pairs.followup)
    ]
    variance = _jackknife_variance(of_source) + _jackknife_variance(of_followup)
    return _Estimate(mean(pairs), math.sqrt(variance), len(of_source) + len(of_followup))


def _jackknife_variance(means: Sequence[float]) -> float:
    """The variance of a mean from its values without each of the parts."""
    count = len(means)
    centre = sum(means) / count
    return (count - 1) / count * sum((each - centre) ** 2 for each in means)


def _without_each(asked: Sequence[Asked]) -> Iterator[tuple[Asked, ...]]:
    """The answers without those of the first fit, of the second, and so on."""
    fits = min(len(each.answers) for each in asked)
    for fit in range(fits):
        yield tuple(_without(each, fit) for each in asked)


def _without(asked: Asked, fit: int) -> Asked:
    kept = (*asked.answers[:fit], *asked.answers[fit + 1 :])
    return dataclasses.replace(asked, answers=kept)
