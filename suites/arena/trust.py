"""Whether a judge's word counts: its promises, its
limits, and the lists that it was seen to distinguish.
"""

import dataclasses
from dataclasses import dataclass

from pytest_recsys_mt.suites.arena.arena import Arena
from pytest_recsys_mt.suites.arena.controls import CONTROLS, sees
from pytest_recsys_mt.suites.arena.judge_promises import PROMISES, keeps
from pytest_recsys_mt.suites.arena.judging import OVERALL
from pytest_recsys_mt.suites.arena.seldom import SELDOM, seldom
from pytest_recsys_mt.verdict.verdict import Verdict

CONTROL = "random_items"
"""The control that bounds what "not worse" may mean."""


@dataclass(frozen=True)
class Trust:
    """The limits of a judge whose word counts.

    Attributes:
        margin: Largest mean effect of `judge_keeps`.
        sees: Smallest preference of `judge_sees`.
        ties: Largest share of ties, `judge_seldom`.
        refusals: Largest share of refusals.
        unread: Largest share of verdicts that cannot be read.
    """

    margin: float
    sees: float
    ties: float
    refusals: float
    unread: float


def _faults(arena: Arena, trust: Trust) -> str:
    verdicts = {
        **{name: keeps(arena, name, trust.margin) for name in PROMISES},
        **{name: sees(arena, name, OVERALL, trust.sees) for name in CONTROLS},
        **{name: seldom(arena, name, getattr(trust, name)) for name in SELDOM},
    }
    return ", ".join(
        f"{name} ({verdict.reason})"
        for name, verdict in verdicts.items()
        if verdict.status in ("violated", "error")
    )


def untrusted(
    verdict: Verdict,
    arena: Arena,
    trust: Trust | None,
    *,
    aspect: str = OVERALL,
    allowed: float | None = None,
) -> Verdict:
    """The verdict, made inconclusive if the judge's word does not count."""
    if trust is None or verdict.status not in ("holds", "violated", "inconclusive"):
        return verdict
    if found := _faults(arena, trust):
        return _none(
            verdict,
            f"the judge fails its own tests, so this is no result: {found}",
        )
    if allowed is None:
        return verdict
    power = sees(arena, CONTROL, aspect, trust.sees)
    within = "" if aspect == OVERALL else f" in {aspect}"
    if power.status != "holds" or power.interval is None or power.estimate is None:
        if verdict.status != "holds":
            return verdict
        return _none(
            verdict,
            f"the judge was not seen to tell users' own choices from random items{within} "
            f"({_in_words(power)}), so that it finds no difference says nothing",
        )
    low = power.interval[0]
    preference = (
        f"this judge prefers users' own choices to random items{within} by {power.estimate:.2f} "
        f"(at least {low:.2f}); the {allowed:g} allowed here is up to {allowed / low:.0%} of that"
    )
    return dataclasses.replace(
        verdict,
        reason="; ".join(filter(None, (verdict.reason, preference))),
    )


def _none(verdict: Verdict, reason: str) -> Verdict:
    reasons = "; ".join(filter(None, (reason, verdict.reason)))
    return dataclasses.replace(
        verdict,
        status="inconclusive",
        p_value=None,
        reason=reasons,
    )


def _in_words(power: Verdict) -> str:
    if power.estimate is None or power.interval is None:
        return power.reason or power.status
    low, high = power.interval
    return f"{power.status}: {power.estimate:.2f} [{low:.2f}, {high:.2f}], needed {power.margin:g}"
