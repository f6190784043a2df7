"""Claims about training: the fits are drawn too, and all users share them.

Users who are asked of the same few fits say nothing of what other seeds of the fits
would do. So a claim is made only if further fits with other seeds prove it together
with the first, and if it is beyond the spread of the fits: the mean effect is computed
once more without each fit (the delete-one jackknife of two samples), and the bound is
Student's with the number of fits minus two degrees of freedom. Unlike bets, this bound
is approximate.
"""

import dataclasses
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from scipy.special import stdtrit

from pytest_recsys_mt.oracles.judging.claim import Claim
from pytest_recsys_mt.oracles.judging.conclusion import verdict_of
from pytest_recsys_mt.oracles.judging.seen import Seen
from pytest_recsys_mt.oracles.judging.together import twice, withdrawn
from pytest_recsys_mt.safety.errors import MissingAnswerError
from pytest_recsys_mt.verdict.answers import Asked, Context, Pairs
from pytest_recsys_mt.verdict.verdict import FITS_NEEDED, Status, Verdict

_POWER_ERRORS = 0.84
"""Standard errors that give a probability of .8."""

STEP = 2
"""The factor by which the number of users grows if their answers do
not settle a claim about all fits.
"""

_SURE_ERRORS = 3.0
"""Standard errors within which nearly every estimate lies."""


class _Estimate(NamedTuple):
    """The mean effect of all users or of a group.

    Attributes:
        mean: The mean over the fits of both sides.
        error: Its standard error.
        fits: How many fits there are, of both sides together.
        quantile: The distance of its bounds from the mean, in standard errors.
    """

    mean: float
    error: float
    fits: int
    quantile: float

    @property
    def low(self) -> float:
        """The lower bound."""
        return self.mean - self.quantile * self.error

    @property
    def high(self) -> float:
        """The upper bound."""
        return self.mean + self.quantile * self.error


@dataclass(frozen=True)
class Fits:
    """Requests the answers of the fits of both sides.

    Attributes:
        first: Returns the answers of the first fits to so many users.
        others: Returns those of fits with other seeds, None if impossible.
        everybody: How many users can be asked.
    """

    first: Callable[[int], Pairs]
    others: Callable[[int], Pairs | None]
    everybody: int


def over_fits(
    verdict: Verdict,
    claim: Claim,
    users: int,
    fits: Fits,
    see: Callable[[Pairs, Context], Seen],
    context: Context,
) -> Verdict:
    """The verdict on the first fits and on further ones, withdrawn if their spread is
    too large for it.

    The first fits were asked until the verdict was just clear, so all fits together are
    often short of it with the same users, above all where answers are noisy. More users
    are asked then.

    Args:
        verdict: The verdict on the first fits.
        claim: The claim to judge.
        users: How many were asked for that verdict.
        fits: Requests the answers of the fits.
        see: Measures the effects of answers.
        context: The facts of the run.
    """
    if verdict.status not in ("holds", "violated") or verdict.estimate is None:
        return verdict
    # Answers differ with the fit. A correction for the run's other promises only
    # decides how many users are asked.
    context = dataclasses.replace(context, deterministic=False, family=1)
    looks = verdict.looks
    while True:
        try:
            more = fits.others(users)
        except MissingAnswerError:
            return withdrawn(
                verdict,
                "no answers of fits with other seeds are recorded, and --recsys-mode=replay fits nothing",
            )
        if more is None:
            return verdict
        pairs, _ = twice(fits.first(users), more)
        seen = see(pairs, context)
        judged = dataclasses.replace(
            verdict_of(claim, verdict.relation, seen, context),
            looks=looks,
            approximate=True,
        )
        if judged.estimate is None or judged.interval is None:
            return withdrawn(judged, f"with other fits: {judged.reason}")
        spread = _spread(judged, pairs, see, context)
        if judged.status == verdict.status == _status(claim, spread.low, spread.high):
            return _with_widest(judged, spread)
        if users >= fits.everybody or pairs.unasked:
            return _withdrawn_for_spread(verdict, judged, claim, spread)
        users = min(fits.everybody, STEP * users)
        looks += 1


def _spread(
    judged: Verdict,
    pairs: Pairs,
    see: Callable[[Pairs, Context], Seen],
    context: Context,
) -> _Estimate:
    """The mean effect over all fits, of the users for
    whom the verdict claims something.
    """
    group = judged.broken
    name = (group.slicing, group.value) if group else None
    return _jackknife(
        pairs,
        lambda fewer: _mean(see(fewer, context), name),
        context.alpha,
    )


def _with_widest(judged: Verdict, spread: _Estimate) -> Verdict:
    """The verdict, with the wider of its own bounds and those of the spread of fits."""
    if judged.broken or judged.interval is None:
        return judged
    low, high = judged.interval
    widest = (min(low, spread.low), max(high, spread.high))
    return dataclasses.replace(judged, interval=widest)


def _withdrawn_for_spread(
    verdict: Verdict,
    judged: Verdict,
    claim: Claim,
    spread: _Estimate,
) -> Verdict:
    """The withdrawn verdict on all fits, with its reason and the fits a side that are
    likely to be enough.

    Args:
        verdict: The verdict on the first fits.
        judged: The verdict on all of them.
        claim: The claim to judge.
        spread: The mean effect over all fits.
    """
    fits_a_side = spread.fits // 2
    reason = (
        f"{verdict.status} with the first {fits_a_side // 2} fits a side; of {fits_a_side} with other seeds the mean "
        f"lies between {spread.low:.3f} and {spread.high:.3f}, and {claim.promise} {claim.margin:g} is asked; "
        f"more fits narrow this (--recsys-replicates)"
    )
    without_claim = withdrawn(judged, reason)
    margin = abs(claim.margin)
    if (spread.quantile + _SURE_ERRORS) * spread.error <= margin:
        # There were fits enough for a mean of 0, so more of them are unlikely to help.
        return without_claim
    error_in_margins = (spread.quantile + _POWER_ERRORS) * spread.error / margin
    needed = math.ceil(fits_a_side * error_in_margins**2)
    details = {**without_claim.details, FITS_NEEDED: max(needed, fits_a_side + 1)}
    return dataclasses.replace(without_claim, details=details)


def _status(claim: Claim, low: float, high: float) -> Status:
    """The status of the claim by the bounds of a mean."""
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
        effects_by_name = {
            (group.slicing, group.value): own for group, own in seen.members
        }
        effects = effects_by_name[name]
    if not len(effects.rows):
        return math.nan  # without some fits, no answer may have an item of a group
    return float(effects.effect.mean())


def _jackknife(pairs: Pairs, mean: Callable[[Pairs], float], alpha: float) -> _Estimate:
    """The mean, with the standard error of the jackknife
    that leaves out each fit of either side.
    """
    of_source = [
        mean(dataclasses.replace(pairs, source=fewer))
        for fewer in _without_each(pairs.source)
    ]
    of_followup = [
        mean(dataclasses.replace(pairs, followup=fewer))
        for fewer in _without_each(pairs.followup)
    ]
    variance = _jackknife_variance(of_source) + _jackknife_variance(of_followup)
    fits = len(of_source) + len(of_followup)
    quantile = float(stdtrit(fits - 2, 1 - alpha))
    return _Estimate(mean(pairs), math.sqrt(variance), fits, quantile)


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
