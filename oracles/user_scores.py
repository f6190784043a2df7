"""One score per user, for tests of two recommenders on the same users."""

from collections import Counter
from collections.abc import Sequence

import numpy as np

from pytest_recsys_mt.answers import Answers
from pytest_recsys_mt.oracles.arrays import Floats
from pytest_recsys_mt.oracles.benchmark import scores_of
from pytest_recsys_mt.oracles.judging.ladder import (
    too_many_unread,
    unread_counts,
    unreadable,
    without_verdict,
)
from pytest_recsys_mt.oracles.scores.score import Score, score_named
from pytest_recsys_mt.verdict import Verdict

__all__: list[str] = []  # what oracles share, and none itself


def user_scores(
    sides: Sequence[Answers], score: str | Score = "ndcg@10", *, ends: Sequence[int] = ()
) -> dict[str, Floats]:
    """The scores, ``(sides,)``, of each user who has a score on all sides, in the order of the first side.

    `ends` says for each side which end of the span (0 or 1) users get whose answers could not be read, if any.
    """
    named = score_named(score)
    columns = []
    for place, answers in enumerate(sides):
        sample, effects = scores_of(answers, named)
        users = [sample.asked[row].user for row in effects.rows]
        column = dict(zip(users, effects.effect, strict=True))
        for asked in sample.unread if ends else ():
            column[asked.user] = named.span_for(asked, answers.context)[ends[place]]
        columns.append(column)
    shared = [user for user in columns[0] if all(user in column for column in columns)]
    return {user: np.array([column[user] for column in columns]) for user in shared}


def incomplete(
    oracle: str, sides: Sequence[Answers], score: str | Score, *, bounded: bool = False
) -> Verdict | None:
    """The verdict, not reported yet, if a side lacks too many users for any claim.

    It is ``inconclusive`` for the first side with users that were not asked or (unless `bounded` allows for them) whose
    answers could not be read, and ``error`` for the first side with too many failed users.
    """
    named = score_named(score)
    for answers in sides:
        (sample, effects), context = scores_of(answers, named), answers.context
        errors = Counter(sample.errors) + Counter(effects.errors)
        scored, unread = len(effects.rows), len(sample.unread)
        told = too_many_unread(sample, context)
        if unread and not bounded:
            told = told or unread_counts(unread, unread + scored)
        found = without_verdict(
            scored, errors, sample.unasked, {}, context, unread=told, everybody=True
        )
        if found is not None and found[0] != "not-applicable":
            status, reason = found
            details = unreadable(sample, {})
            return Verdict(
                status, oracle, users=scored, errors=errors.total(), reason=reason, details=details
            )
    return None
