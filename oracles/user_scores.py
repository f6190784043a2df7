"""One score per user, for tests of two recommenders on the same users."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from pytest_recsys_mt.oracles.arrays import Floats
from pytest_recsys_mt.oracles.benchmark import scores_of
from pytest_recsys_mt.oracles.judging.account import (
    Account,
    missing_in_words,
    too_many_unread,
    unreadable,
    without_verdict,
)
from pytest_recsys_mt.oracles.judging.seen import Seen
from pytest_recsys_mt.oracles.scores.score import Score, score_named
from pytest_recsys_mt.verdict.answers import Answers
from pytest_recsys_mt.verdict.verdict import Verdict

__all__: list[str] = []  # what oracles share, and none itself

ELSEWHERE = "without a score on another side"
"""Why users of one side are left out of a comparison of several."""


def user_scores(
    sides: Sequence[Answers],
    score: str | Score = "ndcg@10",
    *,
    ends: Sequence[int] = (),
) -> dict[str, Floats]:
    """The scores, ``(sides,)``, of each user who has a score on all sides, in the order
    of the first side.

    `ends` says for each side which end of the span (0 or 1) users get of whom nobody
    knows the score, if any.
    """
    named = score_named(score)
    columns = []
    for place, answers in enumerate(sides):
        sample, effects = scores_of(answers, named)
        users = [sample.asked[row].user for row in effects.rows]
        column = dict(zip(users, effects.effect, strict=True))
        if ends:
            unknown = Seen.of(effects, sample, sample.asked, ()).effects.unknown_users
            column |= dict.fromkeys(unknown, effects.reach[ends[place]])
        columns.append(column)
    shared = [user for user in columns[0] if all(user in column for column in columns)]
    return {user: np.array([column[user] for column in columns]) for user in shared}


def incomplete(
    oracle: str,
    sides: Sequence[Answers],
    score: str | Score,
    *,
    bounded: bool = False,
) -> Verdict | None:
    """The verdict, not reported yet, if a side lacks too many users for any claim.

    It is ``inconclusive`` for the first side with users that were not asked or (unless
    `bounded` allows for them) who have no score that anybody knows, and ``error`` for
    the first side with too many failed users.
    """
    named = score_named(score)
    for answers in sides:
        (sample, effects), context = scores_of(answers, named), answers.context
        account = Seen.of(effects, sample, sample.asked, ()).account
        unread = too_many_unread(sample, context)
        if account.missing and not bounded:
            unread = unread or "; ".join(missing_in_words(account))
        found = without_verdict(
            account,
            sample.unasked,
            context,
            unread=unread,
            everybody=True,
        )
        if found is not None and found[0] != "not-applicable":
            status, reason = found
            return Verdict(
                status,
                oracle,
                users=account.answered,
                errors=account.errors.total(),
                account=account.plain,
                reason=reason,
                details=unreadable(sample, {}),
            )
    return None


def account_of(sides: Sequence[Answers], score: str | Score, users: int) -> Account:
    """The states of the drawn users of the first side, if so
    many `users` have a score on all sides.
    """
    sample, effects = scores_of(sides[0], score_named(score))
    account = Seen.of(effects, sample, sample.asked, ()).account
    lacking = {ELSEWHERE: account.answered - users} if account.answered > users else {}
    return replace(account, answered=users, left_out={**account.left_out, **lacking})
