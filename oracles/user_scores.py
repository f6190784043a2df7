"""One score per user, for tests of two recommenders on the same users."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from pytest_recsys_mt.answers import Answers
from pytest_recsys_mt.oracles.arrays import Floats
from pytest_recsys_mt.oracles.benchmark import score_values
from pytest_recsys_mt.oracles.judging.ladder import without_verdict
from pytest_recsys_mt.oracles.scores.score import Score, score_named
from pytest_recsys_mt.verdict import Verdict

__all__: list[str] = []  # what oracles share, and none itself


def user_scores(sides: Sequence[Answers], score: str | Score = "ndcg@10") -> dict[str, Floats]:
    """The scores on each side of the users that have a score on all sides.

    Returns:
        Arrays of shape ``(sides,)`` by user, in the order of the first side.
    """
    named = score_named(score)
    columns = []
    for answers in sides:
        sample = answers.sample()
        effects = score_values(sample, answers.context, named)
        users = [sample.asked[row].user for row in effects.rows]
        columns.append(dict(zip(users, effects.effect, strict=True)))
    shared = [user for user in columns[0] if all(user in column for column in columns)]
    return {user: np.array([column[user] for column in columns]) for user in shared}


def incomplete(oracle: str, sides: Sequence[Answers], score: str | Score) -> Verdict | None:
    """The verdict if a side lacks too many users for any claim; it is not reported yet.

    Returns:
        ``inconclusive`` for the first side with users that were not asked, ``error`` for the first
        side with too many failed users, None if there is no such side.
    """
    named = score_named(score)
    for answers in sides:
        sample, context = answers.sample(), answers.context
        effects = score_values(sample, context, named)
        errors = Counter(sample.errors) + Counter(effects.errors)
        found = without_verdict(
            len(effects.rows), errors, sample.unasked, {}, context, everybody=True
        )
        if found is not None and found[0] != "not-applicable":
            status, reason = found
            return Verdict(
                status, oracle, users=len(effects.rows), errors=errors.total(), reason=reason
            )
    return None
