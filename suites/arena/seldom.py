"""Answers that a judge may give seldom only: ties, refusals, and
unreadable ones, which are no preferences.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from pytest_recsys_mt.oracles.arguments import share
from pytest_recsys_mt.oracles.judging.claim import Claim
from pytest_recsys_mt.oracles.judging.effect import Effects
from pytest_recsys_mt.oracles.similarities.similarity import choices
from pytest_recsys_mt.safety.errors import OracleError
from pytest_recsys_mt.suites.arena.arena import Arena
from pytest_recsys_mt.suites.arena.controls import CONTROLS, against
from pytest_recsys_mt.suites.arena.judge_promises import both_orders
from pytest_recsys_mt.suites.arena.judging import Judgement
from pytest_recsys_mt.suites.arena.questioning import (
    JudgeAnswers,
    Maker,
    explained,
    verdict_on_judge,
)
from pytest_recsys_mt.verdict.verdict import Verdict


@dataclass(frozen=True)
class Seldom:
    """An answer that a judge may give seldom only; the fault of one
    that gives it often has a place for the share.
    """

    fault: str
    measures: str
    asked_as: str  # the test whose questions these are
    comparisons: Maker
    happened: Callable[[Judgement], bool]


_RANDOM = "random_items"

SELDOM: Mapping[str, Seldom] = MappingProxyType({
    "ties": Seldom(
        "it finds no winner in {:.0%} of comparisons of users' own choices with random items",
        "share of ties between users' own choices and random items",
        _RANDOM, against(CONTROLS[_RANDOM].planted), lambda said: said.overall == "tie"),
    "refusals": Seldom(
        "it refuses {:.0%} of comparisons", "share of comparisons that the judge refuses",
        "first_place", both_orders, lambda said: said.refused),
    "unread": Seldom(
        "{:.0%} of its verdicts cannot be read", "share of verdicts that cannot be read",
        "first_place", both_orders, lambda said: said.overall is None and not said.refused),
})  # fmt: skip


def judge_seldom(arena: Arena, what: str, *, most: float) -> Verdict:
    """The judge does one of `SELDOM` in few of its comparisons.

    Args:
        arena: The arena with the judge, and the lists that test it.
        what: Name of one of `SELDOM`.
        most: Largest share of comparisons, in (0, 1).

    Returns:
        A verdict, reported.
    """
    return arena.context.report(seldom(arena, what, most))


def seldom(arena: Arena, what: str, most: float) -> Verdict:
    """As `judge_seldom`, without a report."""
    if what not in SELDOM:
        raise OracleError(f"judges have no limit for {what!r}; {choices(what, SELDOM)}")
    given = SELDOM[what]
    most = share("judge_seldom", "most", most)
    claim = Claim(f"judge_seldom:{what}", "at most", most, measures=given.measures)

    def effects(answered: JudgeAnswers) -> Effects:
        shares = [
            np.mean([given.happened(each) for each in said])
            for said in answered.judgements
        ]
        return Effects(
            rows=np.array(answered.rows, np.intp),
            effect=np.array(shares, np.float64),
            reach=(0.0, 1.0),
            left_out=answered.left_out,
            failed=answered.failed,
        )

    verdict = verdict_on_judge(
        arena,
        claim,
        what,
        given.comparisons,
        effects,
        asked_as=given.asked_as,
    )
    return explained(verdict, given.fault.format(verdict.estimate or 0.0))
