"""The questions of a test of the judge: asked for each user, and read as points."""

import dataclasses
from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator

from pytest_recsys_mt.answers import Asked, Pairs
from pytest_recsys_mt.arena.arena import Arena
from pytest_recsys_mt.arena.judging import OVERALL, Comparison, Judgement, Winner
from pytest_recsys_mt.arena.outcomes import POINTS
from pytest_recsys_mt.errors import NotApplicable
from pytest_recsys_mt.oracles.judging.claim import Claim
from pytest_recsys_mt.oracles.judging.conclusion import Seen
from pytest_recsys_mt.oracles.judging.effect import Effects
from pytest_recsys_mt.oracles.judging.steps import step_by_step
from pytest_recsys_mt.seeds import generator
from pytest_recsys_mt.verdict import Verdict, annotate

UNREAD = "the judge's verdict cannot be read"

Points = Sequence[float]
"""How far each judgement prefers the list shown first: 1, 0 or -1."""

Maker = Callable[[Arena, Asked, Asked, Generator], Sequence[Comparison]]
"""Makes the comparisons of one user, at least one; raises `NotApplicable` for users who have none."""


@dataclass(frozen=True)
class Heard:
    """A judge's answers to the questions of one test, about the users in `rows`, and why there are none about others."""

    rows: Sequence[int]
    judgements: Sequence[Sequence[Judgement]]
    not_applicable: Counter[str]
    errors: Counter[str]

    def effects(
        self,
        reach: tuple[float, float],
        aspect: str = OVERALL,
        **shown: Callable[[Points], float],
    ) -> Effects:
        """The ``effect``, and what else is `shown`, of the users of whom every judgement can be read.

        What cannot be read has a limit of its own, and is not held against the judge elsewhere.
        """
        rows: list[int] = []
        points: list[Points] = []
        left_out = Counter(self.not_applicable)
        for row, said in zip(self.rows, self.judgements, strict=True):
            winners: list[Winner | None] = [each.winner(aspect) for each in said]
            if None in winners:
                left_out[UNREAD] += 1
                continue
            rows.append(row)
            points.append([POINTS[winner] for winner in winners])
        values: dict[str, Any] = {
            name: np.array([of(each) for each in points], np.float64) for name, of in shown.items()
        }
        return Effects(
            rows=np.array(rows, np.intp),
            reach=reach,
            not_applicable=left_out,
            errors=self.errors,
            **values,
        )


class Questioning:
    """The questions of one test, whose name seeds what is drawn. Each user is asked about once, however often it looks.

    A judge of each aspect by itself is asked for the whole alone if no other `aspect` will be read.
    """

    def __init__(self, arena: Arena, name: str, make: Maker, aspect: str = OVERALL) -> None:
        self.arena, self._name, self._make = arena, name, make
        self._alone = arena.bench.apart and aspect == OVERALL
        self._said: dict[str, Sequence[Judgement]] = {}
        self._not_applicable: dict[str, str] = {}

    def hear(self, pairs: Pairs) -> Heard:
        """The judgements of these users."""
        asked: list[tuple[str, Sequence[Comparison]]] = []
        for ours, theirs in zip(pairs.source, pairs.followup, strict=True):
            if ours.user in self._said or ours.user in self._not_applicable:
                continue
            rng = generator(self.arena.seed, ours.user, self._name)
            try:
                own = self._make(self.arena, ours, theirs, rng)
            except NotApplicable as reason:
                self._not_applicable[ours.user] = str(reason)
                continue
            if self._alone:
                own = [dataclasses.replace(each, aspects=()) for each in own]
            asked.append((ours.user, own))
        judgements = iter(self.arena.bench.judged([each for _, own in asked for each in own]))
        self._said |= {user: [next(judgements) for _ in own] for user, own in asked}
        rows: list[int] = []
        heard: list[Sequence[Judgement]] = []
        left, errors = Counter[str](), Counter[str]()
        for row, ours in enumerate(pairs.source):
            said = self._said.get(ours.user, ())
            wrong = next((each.error for each in said if each.error), None)
            if ours.user in self._not_applicable:
                left[self._not_applicable[ours.user]] += 1
            elif wrong is not None:
                errors[wrong] += 1
            elif said:
                rows.append(row)
                heard.append(said)
        return Heard(rows, heard, left, errors)


def tested(
    claim: Claim, relation: str, questions: Questioning, effects: Callable[[Heard], Effects]
) -> Verdict:
    """The verdict on a judge, made once for all tests that need it, and kept out of leaderboards by ``column``."""
    arena = questions.arena
    key: Hashable = (arena.names, arena.design, arena.seed, claim)
    if key not in arena.bench.verdicts:

        def see(size: int) -> Seen:
            pairs = arena.pairs(size)
            found = effects(questions.hear(pairs))
            return Seen.of(found, pairs, pairs.source, pairs.followup)

        verdict = step_by_step(claim, relation, arena.context, arena.users, see)
        arena.bench.verdicts[key] = annotate(verdict, column=False)
    return arena.bench.verdicts[key]


def explained(verdict: Verdict, fault: str) -> Verdict:
    """A violation, with the judge's behaviour in words."""
    if verdict.status != "violated" or verdict.estimate is None:
        return verdict
    return dataclasses.replace(verdict, reason="; ".join(filter(None, (fault, verdict.reason))))
