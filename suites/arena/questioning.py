"""The questions of a test of the judge: asked for each user, and read as points."""

import dataclasses
from collections import defaultdict
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.random import Generator

from pytest_recsys_mt.oracles.judging.claim import Claim
from pytest_recsys_mt.oracles.judging.effect import Effects, under
from pytest_recsys_mt.oracles.judging.seen import Seen
from pytest_recsys_mt.oracles.judging.steps import step_by_step
from pytest_recsys_mt.requests.design import generator
from pytest_recsys_mt.safety.errors import NotApplicable
from pytest_recsys_mt.suites.arena.arena import Arena
from pytest_recsys_mt.suites.arena.judging import OVERALL, Comparison, Judgement, Winner
from pytest_recsys_mt.suites.arena.outcomes import POINTS
from pytest_recsys_mt.verdict.answers import Asked
from pytest_recsys_mt.verdict.verdict import Verdict, annotate

UNREAD = "the judge's verdict cannot be read"

Points = Sequence[float]
"""How far each judgement prefers the list shown first: 1, 0 or -1."""

Maker = Callable[[Arena, Asked, Asked, Generator], Sequence[Comparison]]
"""Makes the comparisons of one user, at least one; raises
`NotApplicable` for users who have none.
"""


@dataclass(frozen=True)
class JudgeAnswers:
    """A judge's answers to the questions of one test, about the users in `rows`, and
    why there are none about others.

    `left_out` has the users of whom there is no question, `failed` those of whom the
    judge's calls failed, by reason.
    """

    rows: list[int] = field(default_factory=list)
    judgements: list[Sequence[Judgement]] = field(default_factory=list)
    left_out: defaultdict[str, list[int]] = field(
        default_factory=lambda: defaultdict(list),
    )
    failed: defaultdict[str, list[int]] = field(
        default_factory=lambda: defaultdict(list),
    )

    def effects(
        self,
        reach: tuple[float, float],
        aspect: str = OVERALL,
        **shown: Callable[[Points], float],
    ) -> Effects:
        """The ``effect``, and what else is `shown`, of the users of whom every
        judgement can be read.

        Of others the effect is unknown, and counts at both ends.
        """
        rows: list[int] = []
        points: list[Points] = []
        unread: list[int] = []
        for row, said in zip(self.rows, self.judgements, strict=True):
            winners: list[Winner | None] = [each.winner(aspect) for each in said]
            if None in winners:
                unread.append(row)
                continue
            rows.append(row)
            points.append([POINTS[winner] for winner in winners])
        values: dict[str, Any] = {
            name: np.array([of(each) for each in points], np.float64)
            for name, of in shown.items()
        }
        return Effects(
            rows=np.array(rows, np.intp),
            reach=reach,
            left_out=self.left_out,
            failed=self.failed,
            undefined=under(UNREAD, unread),
            **values,
        )


def verdict_on_judge(
    arena: Arena,
    claim: Claim,
    relation: str,
    make: Maker,
    effects: Callable[[JudgeAnswers], Effects],
    *,
    asked_as: str = "",
    aspect: str = OVERALL,
) -> Verdict:
    """The verdict on a judge, made once for all tests that need it, and kept out of
    leaderboards by ``column``.

    The name of the test, or the one that it is `asked_as`, seeds the draws. A judge
    of each aspect by itself is asked for the whole alone if no other `aspect` will be
    read.
    """
    key: Hashable = (arena.names, arena.design, arena.seed, claim)
    if key in arena.judge_runner.verdicts:
        return arena.judge_runner.verdicts[key]
    made: dict[str, Sequence[Comparison] | NotApplicable] = {}

    def comparisons(ours: Asked, theirs: Asked) -> Sequence[Comparison] | NotApplicable:
        rng = generator(arena.seed, ours.user, asked_as or relation)
        try:
            own = make(arena, ours, theirs, rng)
        except NotApplicable as reason:
            return reason
        alone = arena.judge_runner.apart and aspect == OVERALL
        return [dataclasses.replace(each, aspects=()) for each in own] if alone else own

    def see(size: int) -> Seen:
        pairs = arena.pairs(size)
        for ours, theirs in zip(pairs.source, pairs.followup, strict=True):
            if ours.user not in made:
                made[ours.user] = comparisons(ours, theirs)
        answered = JudgeAnswers()
        asked: list[tuple[int, Sequence[Comparison]]] = []
        for row, ours in enumerate(pairs.source):
            own = made[ours.user]
            if isinstance(own, NotApplicable):
                answered.left_out[str(own)].append(row)
            else:
                asked.append((row, own))
        judgements = iter(
            arena.judge_runner.judged([each for _, own in asked for each in own]),
        )
        for row, own in asked:
            said = [next(judgements) for _ in own]
            wrong = next((each.error for each in said if each.error), None)
            if wrong is None:
                answered.rows.append(row)
                answered.judgements.append(said)
            else:
                answered.failed[wrong].append(row)
        return Seen.of(effects(answered), pairs, pairs.source, pairs.followup)

    verdict = step_by_step(claim, relation, arena.context, arena.users, see)
    arena.judge_runner.verdicts[key] = annotate(verdict, column=False)
    return arena.judge_runner.verdicts[key]


def explained(verdict: Verdict, fault: str) -> Verdict:
    """A violation, with the judge's behaviour in words."""
    if verdict.status != "violated" or verdict.estimate is None:
        return verdict
    return dataclasses.replace(
        verdict,
        reason="; ".join(filter(None, (fault, verdict.reason))),
    )
