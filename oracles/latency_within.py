"""Calls must be answered within a time."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite

from pytest_recsys_mt.oracles.arguments import LONGEST, finite
from pytest_recsys_mt.oracles.judging.account import (
    BOTH_ENDS,
    Account,
    counted,
    joined,
    too_many_failed,
)
from pytest_recsys_mt.oracles.statistics.order_statistics import Quantile, fewest
from pytest_recsys_mt.safety.errors import NotApplicable, OracleError
from pytest_recsys_mt.verdict.answers import Answers, Context
from pytest_recsys_mt.verdict.answers.times import Times
from pytest_recsys_mt.verdict.verdict import Status, Verdict

ORACLE = "latency_within"
RETRIED = "answered after an attempt that failed"
MADE_UP = "the answers of a plan are made up, and have no latency"


def latency_within(
    answers: Answers,
    *,
    p95: float | None = None,
    p50: float | None = None,
) -> Verdict:
    """Calls must be answered within a time: 95 % of them in `p95` seconds, half of them
    in `p50`.

    The time of a call is from sending the attempt that was answered to the end of its
    answer, without waits in a queue, for a rate limit, or between attempts. The first
    call of each user counts, and only if this run sent it. Calls of a recommender that
    takes batches are sent one by one; those of an API are in flight with others.

    Example:
        assert latency_within(recsys.run(), p95=0.5, p50=0.1)

    Args:
        answers: Answers of one side.
        p95: Seconds within which 95 % of all calls must be answered.
        p50: Seconds within which half of them must be answered.

    Returns:
        A verdict with the bounds of the quantile by order statistics, which are exact
        for independent calls of any law: ``violated`` if a quantile is above its limit,
        shown at the error rate alpha over the number of limits; ``holds`` if all are
        within, each shown at alpha; else ``inconclusive``. A call that failed, or was
        answered after an attempt that failed, counts as late against ``holds`` and as
        in time against ``violated``. `metric`, `value`, `interval` and `threshold` are
        those of the limit that decides. With 95 % and alpha 0.05, ``holds`` needs 59
        calls or more.

    Raises:
        OracleError: If neither limit is given, or one is not above 0.
        NotApplicable: If the run can time no call: in a replay, with recorded answers,
            or for a recommender that waits for another one.
    """
    limits = _limits({"p95": (0.95, p95), "p50": (0.5, p50)})
    context = answers.context
    times = _times(answers)
    if times.obstacle:
        raise NotApplicable(times.obstacle)
    without = _without_verdict(times, context)
    if without is not None:
        return context.report(_verdict(times, *without))
    found = [_Found.of(limit, times, context.alpha, len(limits)) for limit in limits]
    return context.report(_of_all(found, times))


def _times(answers: Answers) -> Times:
    times = getattr(answers, "times", None)
    if times is None:
        shown = f"{answers!r:.{LONGEST}}"
        raise OracleError(
            f"{ORACLE}: answers must be of a run, as recsys.run() returns them, got {shown}",
        )
    found: Times = times()
    return found


@dataclass(frozen=True)
class _Limit:
    name: str
    share: float
    seconds: float


@dataclass(frozen=True)
class _Found:
    """What the calls show of one limit."""

    limit: _Limit
    status: Status
    value: float
    interval: tuple[float, float]
    p_value: float
    reason: str = ""

    @classmethod
    def of(
        cls,
        limit: _Limit,
        times: Times,
        alpha: float,
        limits: int,
    ) -> "_Found":
        """Judge one of so many limits."""
        quantile = Quantile(limit.share, times.seconds, times.unknown)
        low, high = quantile.lower(alpha / limits), quantile.upper(alpha)
        p_value = min(1.0, limits * quantile.p_at_most(limit.seconds))
        status: Status = "inconclusive"
        reason = f"the bounds of {limit.name} contain the limit; time more calls (--recsys-users)"
        if p_value <= alpha:
            status, reason = "violated", ""
        elif quantile.p_at_least(limit.seconds) <= alpha:
            status, reason = "holds", ""
        elif not isfinite(high):
            reason = _without_bound(limit, times, alpha)
        return cls(limit, status, quantile.estimate, (low, high), p_value, reason)


def _without_bound(limit: _Limit, times: Times, alpha: float) -> str:
    """Why nothing bounds the quantile from above."""
    sent = len(times.seconds) + times.unknown
    needed = fewest(limit.share, alpha)
    if sent < needed:
        return (
            f"{sent} calls are too few to bound {limit.name} from above: it takes {needed} or "
            f"more (--recsys-users)"
        )
    failed = sum(times.failed.values())
    late = []
    if times.retried:
        was = "was" if times.retried == 1 else "were"
        late.append(
            f"{times.retried} of {sent} calls {was} answered only after a failed attempt"
        )
    if failed:
        late.append(f"{failed} of {sent} calls failed")
    count = "counts" if times.unknown == 1 else "count"
    reason = f"{' and '.join(late)} and {count} as late"
    if times.refused:
        reason += f"; the endpoint refused {times.refused} of them first: lower concurrency= in the spec"
    return reason


def _limits(given: Mapping[str, tuple[float, float | None]]) -> list[_Limit]:
    """The limits that are given, after a check."""
    limits = []
    for name, (share, value) in given.items():
        if value is None:
            continue
        seconds = finite(ORACLE, name, value)
        if seconds <= 0:
            raise OracleError(
                f"{ORACLE}: {name} must be a number of seconds above 0, got {value!r}",
            )
        limits.append(_Limit(name, share, seconds))
    if not limits:
        raise OracleError(
            f"{ORACLE}: no limit is given; say p95= or p50=, in seconds: p95=0.5",
        )
    return limits


def _without_verdict(times: Times, context: Context) -> tuple[Status, str] | None:
    """The status and the reason if the calls allow no verdict."""
    if context.made_up:
        return "inconclusive", MADE_UP
    account = _account(times)
    if failures := too_many_failed(account, context, "call"):
        return "error", failures
    if not times.seconds:
        why = counted(times.uncounted) or "no call was sent"
        return "inconclusive", f"no call has a latency of this run: {why}"
    return None


def _account(times: Times) -> Account:
    sent = len(times.seconds) + times.unknown
    uncounted = sum(times.uncounted.values())
    return Account(
        drawn=sent + uncounted,
        not_asked=uncounted,
        answered=len(times.seconds),
        failed=times.failed,
        undefined=Counter({RETRIED: times.retried} if times.retried else {}),
    )


def _verdict(times: Times, status: Status, reason: str) -> Verdict:
    """A verdict without numbers."""
    account = _account(times)
    return Verdict(
        status,
        ORACLE,
        users=len(times.seconds),
        errors=account.errors.total(),
        account=account.plain,
        reason=reason,
        details={"unit": "calls"},
    )


_ORDER: Mapping[str, int] = {"violated": 0, "inconclusive": 1, "holds": 2}


def _of_all(found: list[_Found], times: Times) -> Verdict:
    """The verdict on all limits, with the numbers of the one that decides."""
    decides = min(found, key=lambda each: (_ORDER[each.status], each.p_value))
    missing = ""
    if times.unknown:
        reasons = _account(times)
        missing = f"{counted(reasons.errors + Counter(reasons.undefined))}: such a call {BOTH_ENDS}"
    left_out = ""
    if times.uncounted:
        left_out = f"not counted: {counted(times.uncounted)}"
    begun = _verdict(times, decides.status, joined(decides.reason, missing, left_out))
    low, high = decides.interval
    figures: dict[str, float | str] = {}
    for each in found:
        figures[each.limit.name] = each.value
        figures[f"limit of {each.limit.name}"] = each.limit.seconds
        figures[f"upper bound of {each.limit.name}"] = (
            each.interval[1] if isfinite(each.interval[1]) else "none"
        )
    return Verdict(
        begun.status,
        ORACLE,
        users=begun.users,
        errors=begun.errors,
        account=begun.account,
        reason=begun.reason,
        metric=f"latency {decides.limit.name}",
        measures=f"{decides.limit.name} of the seconds of a call",
        value=decides.value,
        threshold=decides.limit.seconds,
        interval=(low, high) if isfinite(high) else None,
        p_value=min(each.p_value for each in found),
        allowed="at most",
        details={**begun.details, "figures": figures},
    )
